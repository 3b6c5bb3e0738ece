#include <unistd.h>

#include <cerrno>

#include "../os/output_file.hpp"
#include "proto_message.hpp"
#include "trace_files.hpp"
#include "utf_8.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

using Field = ProtoMessage::Field;

// The numbers of the fields, as Perfetto's .proto files have them; tests/trace/perfetto.proto names
// the same.
namespace trace {
constexpr Field packet = 1;
}
namespace packet {
constexpr Field timestamp = 8;
constexpr Field sequence = 10;
constexpr Field track_event = 11;
constexpr Field track_descriptor = 60;
}  // namespace packet
namespace descriptor {
constexpr Field uuid = 1;
constexpr Field process = 3;
constexpr Field thread = 4;
constexpr Field parent = 5;
}  // namespace descriptor
namespace process {
constexpr Field pid = 1;
constexpr Field name = 6;
}  // namespace process
namespace thread {
constexpr Field pid = 1;
constexpr Field tid = 2;
constexpr Field name = 5;
}  // namespace thread
namespace event {
constexpr Field annotation = 4;
constexpr Field type = 9;
constexpr Field track = 11;
constexpr Field category = 22;
constexpr Field name = 23;
constexpr Field flow = 47;
constexpr Field ending_flow = 48;
}  // namespace event
namespace annotation {
constexpr Field number = 3;
constexpr Field name = 10;
}  // namespace annotation

constexpr std::uint64_t sequence_of_all = 1;  ///< all packets come from one writer
constexpr std::uint64_t process_track = 1;
constexpr std::uint64_t track_of_thread(std::size_t track) { return process_track + 1 + track; }

std::uint64_t type_of(TraceMark::Shape shape) noexcept {
  switch (shape) {
    case TraceMark::Shape::begin:
      return 1;
    case TraceMark::Shape::end:
      return 2;
    case TraceMark::Shape::instant:
      break;
  }
  return 3;
}

class PerfettoFile {
 public:
  PerfettoFile(const TraceRecord& record, const std::string& path)
      : record_(record), file_(path), pid_(static_cast<std::uint64_t>(getpid())) {}

  void write() {
    write_process();
    for (std::size_t track = 0; track < record_.found.threads.size(); ++track) write_thread(track);
    write_losses();
    TraceStory(record_).tell_all([this](const TraceMark& mark) { write_mark(mark); });
    file_.close();
  }

 private:
  void write_process() {
    ProtoMessage process;
    process.add(process::pid, pid_);
    process.add(process::name, as_utf_8(program_invocation_short_name));
    ProtoMessage descriptor;
    descriptor.add(descriptor::uuid, process_track);
    descriptor.add(descriptor::process, process);
    write_descriptor(descriptor);
  }

  void write_thread(std::size_t track) {
    const TracedThread& of = record_.found.threads[track].thread;
    ProtoMessage thread;
    thread.add(thread::pid, pid_);
    thread.add(thread::tid, of.id);
    thread.add(thread::name, as_utf_8(of.name));
    ProtoMessage descriptor;
    descriptor.add(descriptor::uuid, track_of_thread(track));
    descriptor.add(descriptor::parent, process_track);
    descriptor.add(descriptor::thread, thread);
    write_descriptor(descriptor);
  }

  void write_descriptor(const ProtoMessage& descriptor) {
    ProtoMessage packet;
    packet.add(packet::sequence, sequence_of_all);
    packet.add(packet::track_descriptor, descriptor);
    write_packet(packet);
  }

  /// A picture that lacks something says so.
  void write_losses() {
    const std::uint64_t lost = record_.found.overwritten + record_.found.without_ring;
    if (lost == 0) return;
    ProtoMessage event;
    event.add(event::type, type_of(TraceMark::Shape::instant));
    event.add(event::track, process_track);
    event.add(event::name, std::to_string(lost) + " events were lost");
    write_event(record_.begin.nanoseconds, event);
  }

  void write_mark(const TraceMark& mark) {
    ProtoMessage event;
    event.add(event::type, type_of(mark.shape));
    event.add(event::track, track_of_thread(mark.track));
    if (!mark.name.empty()) event.add(event::name, as_utf_8(mark.name));
    if (!mark.name.empty()) event.add(event::category, "heist");
    for (const TraceMark::Argument& argument : mark.arguments) {
      ProtoMessage annotation;
      annotation.add(annotation::name, argument.name);
      annotation.add(annotation::number, argument.value);
      event.add(event::annotation, annotation);
    }
    if (mark.begins) event.add_fixed(event::flow, mark.begins->number);
    for (const TraceMark::Arrow& arrow : mark.ends)
      event.add_fixed(event::ending_flow, arrow.number);
    write_event(mark.nanoseconds, event);
  }

  void write_event(std::uint64_t nanoseconds, const ProtoMessage& event) {
    ProtoMessage packet;
    packet.add(packet::timestamp, nanoseconds);
    packet.add(packet::sequence, sequence_of_all);
    packet.add(packet::track_event, event);
    write_packet(packet);
  }

  void write_packet(const ProtoMessage& packet) {
    ProtoMessage all;
    all.add(trace::packet, packet);
    file_.write(all.bytes());
  }

  const TraceRecord& record_;
  OutputFile file_;
  const std::uint64_t pid_;
};

}  // namespace

void write_perfetto_file(const TraceRecord& record, const std::string& path) {
  PerfettoFile(record, path).write();
}

}  // namespace HEIST_NAMESPACE::detail
