#include <algorithm>
#include <heistd/limits.hpp>
#include <heistd/network_reserve.hpp>
#include <heistd/stored_rest.hpp>

namespace heistd {

heist::Promise<std::optional<std::string>> StoredRest::next() {
  const NetworkReserve::Withheld only_what_is_left;
  const auto size = std::min<std::uint64_t>(rest_.size, block_bytes);
  auto [promise, resolver] = heist::Promise<std::optional<std::string>>::with_resolver();
  keeper_.when(keeper_.journal().read_result(id_, {rest_.offset, size}),
               [size, resolver = std::move(resolver)](JournalResult<std::string> given) mutable {
                 const bool is_there = given && given->size() == size;
                 resolver.resolve(is_there ? std::optional(std::move(*given)) : std::nullopt);
               });
  rest_ = {rest_.offset + size, rest_.size - size};
  return promise;
}

}  // namespace heistd
