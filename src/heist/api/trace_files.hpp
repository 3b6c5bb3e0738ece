// The files into which a Trace is written.
#pragma once

#include <heist/version.hpp>
#include <string>

#include "trace_story.hpp"

namespace HEIST_NAMESPACE::detail {

/// Errors, of both: std::system_error that names the file; std::bad_alloc.

/// TrackEvents of Perfetto; perfetto.dev calls such files synthetic.
void write_perfetto_file(const TraceRecord& record, const std::string& path);

/// Trace events of Chrome.
void write_json_file(const TraceRecord& record, const std::string& path);

}  // namespace HEIST_NAMESPACE::detail
