#include "picture.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace heist::test {

namespace {

using nlohmann::json;

std::string name_of(Format format) {
  return testing::TempDir() + "heist_trace." + (format == Format::json ? "json" : "pftrace");
}

/// What `protoc --decode` prints: `name: value`, or `name {` and `}`. Each field becomes a list.
json read_message(std::istream& in) {
  json message = json::object();
  for (std::string line; std::getline(in, line);) {
    line.erase(0, line.find_first_not_of(' '));
    if (line == "}") break;
    if (line.ends_with(" {")) {
      message[line.substr(0, line.size() - 2)].push_back(read_message(in));
    } else {
      const auto colon = line.find(": ");
      const std::string value = line.substr(colon + 2);
      message[line.substr(0, colon)].push_back(
          value.starts_with('"') ? value.substr(1, value.size() - 2) : value);
    }
  }
  return message;
}

json decoded(const std::string& path) {
  const std::string text = path + ".txt";
  const std::string command = "protoc --proto_path=" HEIST_TRACE_DIR
                              " --decode=perfetto.protos.Trace perfetto.proto <" +
                              path + " >" + text;
  EXPECT_EQ(std::system(command.c_str()), 0)
      << "protoc (Debian: protobuf-compiler) did not decode " << path;
  std::ifstream in(text);
  return read_message(in);
}

std::string first(const json& message, const char* field) {
  return message.contains(field) ? message[field][0].get<std::string>() : "";
}
std::uint64_t number(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 0); }

std::vector<std::uint64_t> numbers(const json& message, const char* field) {
  std::vector<std::uint64_t> all;
  if (!message.contains(field)) return all;
  for (const json& text : message[field]) all.push_back(number(text.get<std::string>()));
  return all;
}

Mark mark_of(const json& packet, const json& event) {
  static const std::map<std::string, std::string> shapes{
      {"TYPE_SLICE_BEGIN", "begin"}, {"TYPE_SLICE_END", "end"}, {"TYPE_INSTANT", "instant"}};
  Mark mark{.shape = shapes.at(first(event, "type")),
            .track = first(event, "track_uuid"),
            .name = first(event, "name"),
            .time = std::strtod(first(packet, "timestamp").c_str(), nullptr),
            .arguments = {},
            .begins = numbers(event, "flow_ids"),
            .ends = numbers(event, "terminating_flow_ids")};
  if (!event.contains("debug_annotations")) return mark;
  for (const json& annotation : event["debug_annotations"]) {
    mark.arguments[first(annotation, "name")] = number(first(annotation, "uint_value"));
  }
  return mark;
}

Picture read_perfetto(const std::string& path) {
  Picture picture;
  std::map<std::string, std::string> tracks;
  const json file = decoded(path);
  for (const json& packet : file.value("packet", json::array())) {
    if (packet.contains("track_event")) {
      picture.marks.push_back(mark_of(packet, packet["track_event"][0]));
      continue;
    }
    const json& descriptor = packet["track_descriptor"][0];
    const bool is_process = descriptor.contains("process");
    const auto name = is_process ? first(descriptor["process"][0], "process_name")
                                 : first(descriptor["thread"][0], "thread_name");
    tracks[first(descriptor, "uuid")] = name;
    if (is_process) {
      picture.process = name;
    } else {
      picture.tracks.push_back(name);
    }
  }
  for (Mark& mark : picture.marks) mark.track = tracks.at(mark.track);
  return picture;
}

/// Arrows are events of their own, which follow their mark.
Picture read_json(const std::string& path) {
  static const std::map<std::string, std::string> shapes{
      {"B", "begin"}, {"E", "end"}, {"i", "instant"}};
  Picture picture;
  std::map<int, std::string> tracks;
  std::ifstream in(path);
  const json file = json::parse(in);
  EXPECT_EQ(file["displayTimeUnit"], "ns") << "a viewer would round";
  for (const json& event : file["traceEvents"]) {
    const auto phase = event["ph"].get<std::string>();
    if (event.value("name", "") == "process_name") {
      picture.process = event["args"]["name"];
    } else if (phase == "M") {
      tracks[event["tid"]] = event["args"]["name"];
      picture.tracks.push_back(event["args"]["name"]);
    } else if (phase == "s") {
      picture.marks.back().begins.push_back(event["id"]);
    } else if (phase == "f") {
      picture.marks.back().ends.push_back(event["id"]);
    } else {
      picture.marks.push_back({.shape = shapes.at(phase),
                               .track = tracks.at(event["tid"]),
                               .name = event.value("name", ""),
                               .time = event["ts"],
                               .arguments = event.value("args", Mark{}.arguments),
                               .begins = {},
                               .ends = {}});
    }
  }
  return picture;
}

}  // namespace

Picture picture_of(const Trace& trace, Format format) {
  const std::string path = name_of(format);
  if (format == Format::json) {
    trace.write_json(path);
    return read_json(path);
  }
  trace.write_perfetto(path);
  return read_perfetto(path);
}

}  // namespace heist::test
