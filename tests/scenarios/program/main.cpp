// heist_conformance: replays scenarios of tests/conformance/*/FORMAT.md and compares their traces.
#include "scenarios/program/command_line.hpp"

int main(int argc, char** argv) { return heist::test::conformance(argc, argv); }
