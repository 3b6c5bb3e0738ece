// ResultRange: which part of a result a request asks for.
#pragma once

#include <cstdint>
#include <heistd/blocks.hpp>
#include <heistd/job_id.hpp>
#include <heistd/reply.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace heistd {

/// The headers of a request that say so, as they came (RFC 9110, 14).
struct RangeHeaders {
  std::string range = {};                    ///< empty: all of it
  std::optional<std::string> if_range = {};  ///< only if that is still the result's tag
};

/// What of a result with so many bytes is to be sent.
struct ResultPart {
  unsigned status = 200;  ///< 206 for a part, and 416 where there is none
  ByteRange bytes = {};
};

/// Of a result there is one version only, so the job's id tells it from all others.
[[nodiscard]] std::string result_tag(const JobId& id);

/// One range of bytes is served. Several ones, other units and what is no range at all are as if
/// nothing had been asked for.
[[nodiscard]] ResultPart find_part(const RangeHeaders& wanted, const JobId& id,
                                   std::uint64_t total);

/// Adds what says which part of how many bytes the reply is, and that there may be others. The
/// reply's body is that part, or nothing for 416.   Errors: std::bad_alloc.
[[nodiscard]] Reply with_part(Reply reply, const ResultPart& part, const JobId& id,
                              std::uint64_t total);

/// A reply that has all of a result, cut to what is wanted of it.   Errors: std::bad_alloc.
[[nodiscard]] Reply cut_to_part(Reply reply, const RangeHeaders& wanted, const JobId& id);

}  // namespace heistd
