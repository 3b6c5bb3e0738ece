// PostBound: how many tasks of a bounded scheduler may wait to be started.
#pragma once

#include <cstddef>
#include <heist/detail/export.hpp>
#include <heist/detail/forward.hpp>
#include <heist/detail/ref.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

/// Makes a bound of so many places.   Errors: std::invalid_argument for none, or more than 2^31;
/// std::bad_alloc.
[[nodiscard]] HEIST_EXPORT Ref<PostBound> make_post_bound(std::size_t places);

/// Takes a place of this bound, if one is free.   Cost: one atomic operation or two.
[[nodiscard]] HEIST_EXPORT Room try_take_room(const Ref<PostBound>& bound) noexcept;
/// Takes a place as soon as one is free. Those who wait get theirs nearly in the order of the
/// calls.   Errors: std::bad_alloc.
[[nodiscard]] HEIST_EXPORT Promise<Room> wait_for_room(const Ref<PostBound>& bound);

}  // namespace HEIST_NAMESPACE::detail
