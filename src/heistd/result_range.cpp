#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <charconv>
#include <heistd/result_range.hpp>
#include <utility>

namespace heistd {
namespace {

/// Digits and nothing else; more than fit are the largest number.
std::optional<std::uint64_t> read_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto* const end = text.data() + text.size();
  const bool has_sign = text.empty() || text.front() < '0' || text.front() > '9';
  const auto read = std::from_chars(text.data(), end, number);
  if (has_sign || read.ptr != end) return std::nullopt;
  return read.ec == std::errc::result_out_of_range ? UINT64_MAX : number;
}

ResultPart part_from(std::uint64_t first, std::uint64_t last, std::uint64_t total) {
  if (first >= total) return {416, {}};
  return {206, {first, std::min(last, total - 1) - first + 1}};
}

ResultPart last_bytes(std::uint64_t size, std::uint64_t total) {
  if (size == 0 || total == 0) return {416, {}};
  return part_from(total - std::min(size, total), total - 1, total);
}

/// Nothing when the text is no range.
std::optional<ResultPart> read_part(std::string_view text, std::uint64_t total) {
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto last = text.substr(dash + 1);
  const auto end = read_number(last);
  if (dash == 0) return end ? std::optional(last_bytes(*end, total)) : std::nullopt;
  const auto first = read_number(text.substr(0, dash));
  if (!first) return std::nullopt;
  if (last.empty()) return part_from(*first, UINT64_MAX, total);
  if (!end || *end < *first) return std::nullopt;
  return part_from(*first, *end, total);
}

}  // namespace

std::string result_tag(const JobId& id) { return '"' + id + '"'; }

ResultPart find_part(const RangeHeaders& wanted, const JobId& id, std::uint64_t total) {
  static constexpr std::string_view unit = "bytes=";
  const ResultPart all{200, {0, total}};
  if (!boost::algorithm::istarts_with(wanted.range, unit)) return all;
  if (wanted.if_range && *wanted.if_range != result_tag(id)) return all;
  return read_part(std::string_view(wanted.range).substr(unit.size()), total).value_or(all);
}

Reply with_part(Reply reply, const ResultPart& part, const JobId& id, std::uint64_t total) {
  const auto& [first, size] = part.bytes;
  if (part.status == 416) {
    reply = make_reply({416, "range_not_satisfiable",
                        "the result has " + std::to_string(total) + " bytes", "Range"});
  }
  reply.status = part.status;
  reply.headers.emplace_back("Accept-Ranges", "bytes");
  reply.headers.emplace_back("ETag", result_tag(id));
  if (part.status == 206) {
    reply.headers.emplace_back("Content-Range", "bytes " + std::to_string(first) + '-' +
                                                    std::to_string(first + size - 1) + '/' +
                                                    std::to_string(total));
  } else if (part.status == 416) {
    reply.headers.emplace_back("Content-Range", "bytes */" + std::to_string(total));
  }
  return reply;
}

Reply cut_to_part(Reply reply, const RangeHeaders& wanted, const JobId& id) {
  const auto total = reply.body.size();
  const auto part = find_part(wanted, id, total);
  if (part.status == 206) reply.body.part = part.bytes;
  return with_part(std::move(reply), part, id, total);
}

}  // namespace heistd
