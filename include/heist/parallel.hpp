// parallel_for, parallel_reduce, parallel_sort: loops that the agents of a cluster share.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <heist/detail/misuse.hpp>
#include <heist/detail/parallel_reduction.hpp>
#include <heist/detail/parallel_sorting.hpp>
#include <heist/detail/parallel_work.hpp>
#include <heist/version.hpp>
#include <iterator>
#include <type_traits>
#include <utility>

// Link heist::parallel (CMake) or heist-parallel (pkg-config), which need oneTBB.
//
// All three run on the calling thread, and on the agents of its cluster that have nothing more
// urgent to do: no other threads. Helpers have the scheduling state of the calling task, and come
// as its continuations would (before tasks of its priority that have not begun). One that finds a
// more urgent task leaves what it has not begun to the others. The caller works, and in the end
// waits, as any long task does. Off a cluster the calling thread does it alone.
//
// Spec:   contract CLU-1, CLU-3, CLU-5: while it waits, a thread takes parts of the same call only.
//         Differs from PRI-3: helpers that have been called come at the priority of that moment.
// Thread: any.   Blocks: until all is done.
// Errors: the first that the caller's functions throw; when the calling task is aborted its
//         signal's reason, as throw_if_aborted(); std::invalid_argument for a function that is null
//         or empty. In all cases nothing new is begun; what runs is waited for. std::bad_alloc.
// Units:  abort and urgency are looked at about every 20 microseconds, between calls of the body.

namespace HEIST_NAMESPACE {

/// What can be counted through: an integer, or a random access iterator.
template <class Index>
concept ParallelIndex = (std::integral<Index> && sizeof(Index) <= sizeof(std::size_t)) ||
                        std::random_access_iterator<Index>;

/// Calls `body(i)` once for each i of [first, last), in any order and several at a time.
///
/// Thread, Blocks, Errors: as the head of this file says.
/// Cost: of a call on a cluster about a microsecond, and waking an agent.
template <ParallelIndex Index, class Body>
  requires std::invocable<const Body&, Index>
void parallel_for(Index first, Index last, const Body& body) {
  class Work final : public detail::ParallelLoop {
   public:
    Work(Index first, const Body& body) noexcept : first_(first), body_(body) {}

   private:
    void run_indexes(std::size_t begin, std::size_t end, void* /*result*/) override {
      for (std::size_t at = begin; at != end; ++at)
        std::invoke(body_, detail::index_at(first_, at));
    }
    const Index first_;
    const Body& body_;
  };
  detail::check_callback(body, "parallel_for");
  Work work(first, body);
  work.run_all(detail::distance_of(first, last));
}

/// Folds [first, last). Each part of it is folded in order by `value = body(value, i)`, from
/// `identity` on. Their values are folded in order, too, by `combine(left, right)`, which so need
/// not be commutative.
///
/// Errors: also what copying the identity throws.   Cost: one Value for each part, a few tens for
///         each agent.
template <ParallelIndex Index, class Value, class Body, class Combine>
  requires std::invocable<const Body&, Value, Index> && std::invocable<const Combine&, Value, Value>
[[nodiscard]] Value parallel_reduce(Index first, Index last, Value identity, const Body& body,
                                    const Combine& combine) {
  detail::check_callback(body, "parallel_reduce");
  detail::check_callback(combine, "parallel_reduce");
  detail::Reduction<Index, Value, Body> work(first, identity, body);
  work.run_all(detail::distance_of(first, last));
  return work.combine(combine);
}

/// Sorts as std::sort: not stable. An abort leaves the same elements in another order; after an
/// error their values are unspecified, as std::sort's.
///
/// Units: an abort is noticed when a part of about 2000 elements is sorted, or a larger one cut in
///        two; the first cut is that of all elements.
/// Cost:  O(n log n) comparisons, also in the worst case.
template <std::random_access_iterator Iterator, class Compare = std::less<>>
  requires std::sortable<Iterator, Compare>
void parallel_sort(Iterator first, Iterator last, const Compare& compare = {}) {
  detail::check_callback(compare, "parallel_sort");
  const std::size_t count = detail::distance_of(first, last);
  detail::Sorting<Iterator, Compare> work(first, count, compare);
  detail::run_parallel(work, count);
}

}  // namespace HEIST_NAMESPACE
