#include <heistd/query.hpp>
#include <heistd/trace_request.hpp>
#include <string>
#include <utility>

namespace heistd {
namespace {

constexpr std::chrono::milliseconds longest = std::chrono::minutes(10);

}  // namespace

Result<TraceRequest> read_trace_request(const Target& target) {
  QueryReader query(target);
  TraceRequest request;
  request.duration = query.duration("duration", longest);
  if (request.duration.count() == 0) {
    query.refuse(
        bad_parameter("duration", "a trace needs a duration: whole milliseconds from 1 to " +
                                      std::to_string(longest.count())));
  }
  const auto format = query.text("format").value_or("perfetto");
  if (format == "json") {
    request.format = TraceFormat::json;
  } else if (format != "perfetto") {
    query.refuse(bad_parameter("format", "must be perfetto or json"));
  }
  if (auto refusal = query.finish()) return std::move(*refusal);
  return request;
}

}  // namespace heistd
