// Reduction: the work of parallel_reduce.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <heist/detail/parallel_work.hpp>
#include <heist/version.hpp>
#include <iterator>
#include <memory>
#include <utility>

namespace HEIST_NAMESPACE::detail {

template <class Index>
[[nodiscard]] std::size_t distance_of(const Index& first, const Index& last) {
  if (!(first < last)) return 0;
  if constexpr (std::integral<Index>) {
    return static_cast<std::size_t>(last) - static_cast<std::size_t>(first);
  } else {
    return static_cast<std::size_t>(last - first);
  }
}

template <class Index>
[[nodiscard]] Index index_at(const Index& first, std::size_t offset) {
  if constexpr (std::integral<Index>) {
    return static_cast<Index>(static_cast<std::size_t>(first) + offset);
  } else {
    return first + static_cast<std::iter_difference_t<Index>>(offset);
  }
}

/// Each part has a value of its own, and a list holds the values in the order of their indexes.
/// Only the thread that runs a part touches its value and inserts values behind it. In the end the
/// caller combines all of them.
template <class Index, class Value, class Body>
class Reduction final : public ParallelLoop {
 public:
  Reduction(Index first, const Value& identity, const Body& body)
      : first_(first), identity_(identity), body_(body) {}
  Reduction(const Reduction&) = delete;
  Reduction& operator=(const Reduction&) = delete;
  ~Reduction() {
    while (whole_.next) whole_.next = std::move(whole_.next->next);  // destructors must not nest
  }

  template <class Combine>
  [[nodiscard]] Value combine(const Combine& combine) {
    Value all = std::move(whole_.value);
    for (Result* at = whole_.next.get(); at != nullptr; at = at->next.get()) {
      all = std::invoke(combine, std::move(all), std::move(at->value));
    }
    return all;
  }

 private:
  struct Result {
    Value value;
    std::unique_ptr<Result> next;
  };

  Result& result_of(void* result) noexcept {
    return result != nullptr ? *static_cast<Result*>(result) : whole_;
  }
  void run_indexes(std::size_t begin, std::size_t end, void* result) override {
    Value value = std::move(result_of(result).value);
    for (std::size_t at = begin; at != end; ++at) {
      value = std::invoke(body_, std::move(value), index_at(first_, at));
    }
    result_of(result).value = std::move(value);
  }
  void* cut(void* result) override {
    auto& left = result_of(result);
    auto right = std::make_unique<Result>(Result{identity_, std::move(left.next)});
    left.next = std::move(right);
    return left.next.get();
  }

  const Index first_;
  const Value& identity_;
  const Body& body_;
  Result whole_{identity_, nullptr};
};

}  // namespace HEIST_NAMESPACE::detail
