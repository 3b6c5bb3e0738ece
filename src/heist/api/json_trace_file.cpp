#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "../os/output_file.hpp"
#include "trace_files.hpp"
#include "utf_8.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

std::string json_text(std::string_view text) {
  std::string all = "\"";
  for (const char letter : as_utf_8(text)) {
    const auto code = static_cast<unsigned char>(letter);
    if (code < ' ') {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", code);
      all += escape.data();
    } else {
      if (letter == '"' || letter == '\\') all += '\\';
      all += letter;
    }
  }
  return all += '"';
}

std::string microseconds(std::uint64_t nanoseconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%llu.%03llu",
                static_cast<unsigned long long>(nanoseconds / 1000),
                static_cast<unsigned long long>(nanoseconds % 1000));
  return text.data();
}

const char* phase_of(TraceMark::Shape shape) noexcept {
  switch (shape) {
    case TraceMark::Shape::begin:
      return "B";
    case TraceMark::Shape::end:
      return "E";
    case TraceMark::Shape::instant:
      break;
  }
  return "i";
}

class JsonTraceFile {
 public:
  JsonTraceFile(const TraceRecord& record, const std::string& path)
      : record_(record), file_(path), pid_(std::to_string(getpid())) {}

  void write() {
    // Chrome's viewer rounds to microseconds otherwise, and loses arrows of marks that are nearer.
    file_.write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    write_process();
    for (const auto& of : record_.found.threads) write_thread(of.thread);
    TraceStory(record_).tell_all([this](const TraceMark& mark) { write_mark(mark); });
    file_.write("],\n\"otherData\":{\"overwritten\":" + std::to_string(record_.found.overwritten) +
                ",\"without_thread\":" + std::to_string(record_.found.without_ring) + "}}\n");
    file_.close();
  }

 private:
  void write_process() {
    write_event("{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":" + pid_ +
                ",\"args\":{\"name\":" + json_text(program_invocation_short_name) + "}}");
  }

  void write_thread(const TracedThread& thread) {
    write_event("{\"ph\":\"M\",\"name\":\"thread_name\"" + place_of(thread.id) +
                ",\"args\":{\"name\":" + json_text(thread.name) + "}}");
  }

  void write_mark(const TraceMark& mark) {
    const std::string place = place_of(record_.found.threads[mark.track].thread.id) +
                              ",\"ts\":" + microseconds(mark.nanoseconds);
    std::string event = std::string("{\"ph\":\"") + phase_of(mark.shape) + "\"" + place;
    if (!mark.name.empty()) event += ",\"cat\":\"heist\",\"name\":" + json_text(mark.name);
    if (mark.shape == TraceMark::Shape::instant) event += ",\"s\":\"t\"";
    if (!mark.arguments.empty()) event += ",\"args\":" + arguments_of(mark);
    write_event(event + "}");
    if (mark.begins) write_arrow("\"s\"", *mark.begins, place);
    for (const TraceMark::Arrow& arrow : mark.ends) write_arrow("\"f\",\"bp\":\"e\"", arrow, place);
  }

  void write_arrow(const char* phase, const TraceMark::Arrow& arrow, const std::string& place) {
    // Viewers let people choose arrows by category.
    const std::string name = json_text(arrow.name);
    write_event(std::string("{\"ph\":") + phase + place + ",\"cat\":" + name + ",\"name\":" + name +
                ",\"id\":" + std::to_string(arrow.number) + "}");
  }

  static std::string arguments_of(const TraceMark& mark) {
    std::string all;
    for (const TraceMark::Argument& argument : mark.arguments) {
      all += (all.empty() ? "{" : ",") + json_text(argument.name) + ":" +
             std::to_string(argument.value);
    }
    return all + "}";
  }

  [[nodiscard]] std::string place_of(std::uint64_t thread) const {
    return ",\"pid\":" + pid_ + ",\"tid\":" + std::to_string(thread);
  }

  void write_event(const std::string& event) {
    if (has_some_) file_.write(",\n");
    has_some_ = true;
    file_.write(event);
  }

  const TraceRecord& record_;
  OutputFile file_;
  const std::string pid_;
  bool has_some_ = false;
};

}  // namespace

void write_json_file(const TraceRecord& record, const std::string& path) {
  JsonTraceFile(record, path).write();
}

}  // namespace HEIST_NAMESPACE::detail
