// So that a crash in the middle of random work names the seed.
#pragma once

#include <string_view>

namespace heist::test {

/// What a crash from now on prints to stderr: a failed assertion, an unhandled exception, a bad
/// access, an error that a sanitizer ends the program for. Cut after 100 characters.
///
/// Thread: one.
void note_for_crashes(std::string_view note);

}  // namespace heist::test
