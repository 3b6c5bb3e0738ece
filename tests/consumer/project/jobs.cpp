// A program with a kind of job of its own, on an installed heist: it says which options it takes.
#include <heist/jobs.hpp>

int main() {
  heist::jobs::Server server;
  server.kind("echo", [](heist::jobs::Job job) { return job.read().value_or(""); });
  const char* const words[] = {"jobs", "--help"};
  return server.run(2, words);
}
