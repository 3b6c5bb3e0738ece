// Several tasks that refer to local variables: when the scope is joined, all of them have ended.
#include <cctype>
#include <cstdio>
#include <heist/agent_cluster.hpp>
#include <heist/heist.hpp>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

int count_words(const std::string& text) {
  if (text.empty()) throw std::invalid_argument("a text without words");
  int words = 0;
  bool within = false;
  for (const char c : text) {
    const bool is_space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!is_space && !within) ++words;
    within = !is_space;
  }
  return words;
}

/// Blocks, on a plain thread.
int count_all(const heist::Scheduler& scheduler, const std::vector<std::string>& texts) {
  std::vector<int> words(texts.size());
  heist::TaskScope scope(scheduler);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    scope.start([&, i] { words[i] = count_words(texts[i]); });
  }
  scope.join();  // throws what a task threw; in a coroutine: co_await scope.join();
  return std::accumulate(words.begin(), words.end(), 0);
}

/// The same for a coroutine, whose agent runs other tasks meanwhile.
heist::Promise<int> count_later(heist::Scheduler scheduler, std::vector<std::string> texts) {
  std::vector<int> words(texts.size());
  heist::TaskScope scope(scheduler);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    scope.start([&, i] { words[i] = count_words(texts[i]); });
  }
  co_await scope.join();
  co_return std::accumulate(words.begin(), words.end(), 0);
}

}  // namespace

int main() {
  heist::AgentCluster cluster;
  const heist::Scheduler anywhere = cluster.scheduler();

  const int words = count_all(anywhere, {"one two three", "four", "five six"});
  std::printf("%d words\n", words);

  const auto later =
      anywhere.post_task([&] { return count_later(anywhere, {"one two", "three four"}); });
  std::printf("%d words\n", later.get());

  // The first error aborts the rest, and comes out of the join.
  try {
    count_all(anywhere, {"one two three", "", "five six"});
    return 1;
  } catch (const std::invalid_argument& error) {
    std::printf("failed: %s\n", error.what());
  }
  return words == 6 && later.get() == 4 ? 0 : 1;
}
