// A job server with a kind of its own. `count_words --port 8080` serves it:
//   curl --data-binary @README.md 'localhost:8080/jobs/words?at_least=4&wait=1'
#include <heist/jobs.hpp>
#include <heist/yield.hpp>

namespace jobs = heist::jobs;

// Between two pieces of the upload more urgent jobs go first; an aborted job ends there.
heist::Promise<jobs::Result> count_words(jobs::Job job) {
  const auto at_least = job.integer("at_least").value_or(1);
  std::int64_t words = 0;
  std::int64_t letters = 0;
  std::size_t done = 0;
  const auto end_word = [&] { words += std::exchange(letters, 0) >= at_least ? 1 : 0; };
  while (const auto piece = job.read()) {
    for (const char letter : *piece) {
      letter == ' ' || letter == '\n' ? end_word() : void(++letters);
    }
    done += piece->size();
    job.report_progress(static_cast<double>(done) / static_cast<double>(job.bytes()));
    co_await heist::yield();
  }
  end_word();
  if (words == 0) throw jobs::Failure("no_words", "the upload has no such word");
  co_return std::to_string(words);
}

int main(int argc, char** argv) {
  jobs::Server server;
  server.kind(
      "words", count_words,
      {.parameters = {
           {.name = "at_least", .type = jobs::ParameterType::integer, .least = 1, .most = 100}}});
  return server.run(argc, argv);
}
