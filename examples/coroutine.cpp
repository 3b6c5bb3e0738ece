// A coroutine that hops to another agent and comes back: it starts at once, and resumes where it
// began.
#include <cstdio>
#include <heist/heist.hpp>
#include <stdexcept>
#include <string>

namespace {

/// Reads on the agent for files, works on its own. Tasks are named before they are awaited: g++ 12
/// destroys temporaries of a co_await expression twice.
heist::Promise<std::size_t> count_words(heist::Scheduler files, std::string name) {
  const auto reading = files.post_task([name] {
    if (name.empty()) throw std::invalid_argument("a file without a name");
    return std::string("one two three");
  });
  const std::string text = co_await reading;
  std::size_t words = text.empty() ? 0 : 1;
  for (const char c : text) words += c == ' ' ? 1 : 0;
  co_return words;
}

}  // namespace

int main() {
  const heist::Agent worker;
  const heist::Agent files;

  // The promise a callback returns becomes the task's own.
  const auto words = worker.scheduler().post_task(
      [&files] { return count_words(files.scheduler(), "notes.txt"); });
  std::printf("%zu words\n", words.get());

  // Exceptions travel the same way.
  const auto failing =
      worker.scheduler().post_task([&files] { return count_words(files.scheduler(), ""); });
  try {
    failing.get();
    return 1;
  } catch (const std::invalid_argument& error) {
    std::printf("failed: %s\n", error.what());
  }
  return words.get() == 3 ? 0 : 1;
}
