// What the library has from the system, in model-checking builds: node memory and sleeping on words.
// (The library is compiled without node_pool.cpp and word_wait.cpp.)
#include <heist/node_memory.hpp>
#include <new>

#include "model_time.hpp"
#include "os/word_wait.hpp"
#include "out_of_memory.hpp"

namespace heist {

void* allocate_node(std::size_t bytes) {
  if (model::OutOfMemory::takes_effect()) throw std::bad_alloc();
  return ::operator new(bytes, std::align_val_t{64});
}
void* allocate_node(std::size_t bytes, std::uint8_t /*node_class*/) { return allocate_node(bytes); }

void release_node(void* node, std::size_t bytes) noexcept {
  ::operator delete(node, bytes, std::align_val_t{64});
}
void release_node(void* node, std::size_t bytes, std::uint8_t /*node_class*/) noexcept {
  release_node(node, bytes);
}

void wait_on_word(sync::atomic<std::uint32_t>& word, std::uint32_t expected,
                  std::optional<std::chrono::steady_clock::time_point> deadline) noexcept {
  model::sleep_on(word.cell(), expected, deadline.has_value(), model::Where::current());
  auto* time = model::ModelTime::current();
  if (time == nullptr || !deadline) return;
  if (word.load(sync::relaxed) == expected) time->slept_until(*deadline);
}

void wake_word(sync::atomic<std::uint32_t>& word) noexcept {
  model::wake(word.cell(), 1, model::Where::current());
}

void wake_all_on_word(sync::atomic<std::uint32_t>& word) noexcept {
  model::wake(word.cell(), model::everybody, model::Where::current());
}

}  // namespace heist
