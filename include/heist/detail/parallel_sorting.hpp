// Sorting: the work of parallel_sort.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <heist/detail/parallel_work.hpp>
#include <heist/detail/partition.hpp>
#include <heist/version.hpp>
#include <iterator>
#include <ranges>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// Quicksort. It offers the part to the right of the pivot to other agents and goes on with the
/// part to the left. Short parts are sorted alone: elements that are cheap to exchange by more
/// cuts, the rest by std::ranges::sort, and so are parts that bad pivots have cut too often.
template <class Iterator, class Compare>
class Sorting final : public ParallelWork {
 public:
  Sorting(Iterator first, std::size_t count, const Compare& compare)
      : first_(first),
        most_cuts_(2 * static_cast<std::size_t>(std::bit_width(count))),
        compare_(compare) {}

  /// `step` counts the cuts that led to the part.
  void run(ParallelRegion& region, ParallelPart part) override {
    if (part.step == 1 && sort_monotonic(part)) return;
    while (part.size() > short_part && part.step <= most_cuts_) {
      if (try_leave(region, part)) return;
      const ParallelPart right = cut(part);
      if (!offer(region, right)) run(region, right);
    }
    sort_alone(part);
  }

 private:
  static constexpr std::size_t short_part = 2048;
  /// Shorter parts take no less time when they are cut.
  static constexpr std::size_t shortest_cut = 16;
  /// The range of the elements that are equal to the pivot.
  struct Pivots {
    std::size_t begin;
    std::size_t end;
  };

  /// Returns false when the elements neither rise nor fall all the way.
  bool sort_monotonic(const ParallelPart& part) {
    const std::ranges::subrange elements(at(part.begin), at(part.end));
    if (std::ranges::is_sorted(elements, std::ref(compare_))) return true;
    const auto falls = [&](auto&& a, auto&& b) { return std::invoke(compare_, b, a); };
    if (!std::ranges::is_sorted(elements, falls)) return false;
    std::ranges::reverse(elements);
    return true;
  }
  void sort_alone(ParallelPart part) {
    if constexpr (CheapToExchange<Iterator>) {
      while (part.size() > shortest_cut && part.step <= most_cuts_) sort_alone(cut(part));
    }
    std::ranges::sort(at(part.begin), at(part.end), std::ref(compare_));
  }

  /// Leaves what is on the left of the pivot, and returns what is on its right.
  ParallelPart cut(ParallelPart& part) {
    const Pivots pivots = partition(part);
    const ParallelPart right{pivots.end, part.end, ++part.step};
    part.end = pivots.begin;
    return right;
  }

  Pivots partition(const ParallelPart& part) {
    const Iterator first = at(part.begin);
    const Iterator last = at(part.end);
    std::ranges::iter_swap(first, median_of(part));
    const Iterator middle = partition_by(
        first + 1, last, [&](auto&& element) { return std::invoke(compare_, element, *first); });
    const Iterator pivot = middle - 1;
    std::ranges::iter_swap(first, pivot);
    const bool has_few_on_the_left = static_cast<std::size_t>(middle - first) < part.size() / 8;
    const Iterator right = has_few_on_the_left ? end_of_equals(pivot, last) : middle;
    return {offset_of(pivot), offset_of(right)};
  }
  /// Many elements may be equal to the pivot. Without this they would all be on the right.
  Iterator end_of_equals(Iterator pivot, Iterator last) {
    return partition_by(pivot + 1, last,
                        [&](auto&& element) { return !std::invoke(compare_, *pivot, element); });
  }

  Iterator median_of(const ParallelPart& part) const {
    const std::size_t eighth = part.size() / 8;
    const auto of = [&](std::size_t i) {
      return median(at(part.begin + i * eighth), at(part.begin + (i + 1) * eighth),
                    at(part.begin + (i + 2) * eighth - (i == 6 ? 1 : 0)));
    };
    return median(of(0), of(3), of(6));
  }
  Iterator median(Iterator a, Iterator b, Iterator c) const {
    const auto is_less = [&](Iterator x, Iterator y) { return std::invoke(compare_, *x, *y); };
    if (is_less(b, a)) std::swap(a, b);
    if (!is_less(c, b)) return b;
    return is_less(c, a) ? a : c;
  }

  Iterator at(std::size_t offset) const {
    return first_ + static_cast<std::iter_difference_t<Iterator>>(offset);
  }
  std::size_t offset_of(Iterator at) const { return static_cast<std::size_t>(at - first_); }

  const Iterator first_;
  const std::size_t most_cuts_;
  const Compare& compare_;
};

}  // namespace HEIST_NAMESPACE::detail
