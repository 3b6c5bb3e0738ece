// TraceRequest: what an operator wants to have recorded, and how its query says so.
#pragma once

#include <chrono>
#include <cstdint>
#include <heistd/refusal.hpp>
#include <heistd/target.hpp>

namespace heistd {

enum class TraceFormat : std::uint8_t { perfetto, json };

struct TraceRequest {
  std::chrono::milliseconds duration{};
  TraceFormat format = TraceFormat::perfetto;
};

/// Reads the parameters of a trace: duration, format.   Errors: 400 "bad_parameter".
[[nodiscard]] Result<TraceRequest> read_trace_request(const Target& target);

}  // namespace heistd
