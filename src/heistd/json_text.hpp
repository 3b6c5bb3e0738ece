// JsonText: a text in JSON that is written from front to back.
#pragma once

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <new>
#include <ratio>
#include <string>
#include <string_view>
#include <type_traits>

namespace heistd {

/// Durations are numbers of microseconds in JSON.
[[nodiscard]] constexpr double in_microseconds(std::chrono::nanoseconds duration) noexcept {
  return std::chrono::duration<double, std::micro>(duration).count();
}

/// The C library's memory may run out without a sign in that library, so this one is asked.
class ThrowingMemory {
 public:
  // NOLINTBEGIN(readability-identifier-naming): RapidJSON calls them so.
  static constexpr bool kNeedFree = true;
  /// Errors: std::bad_alloc, also of the next.
  static void* Malloc(std::size_t bytes) { return ::operator new(bytes); }
  static void* Realloc(void* old, std::size_t old_bytes, std::size_t bytes) {
    void* const larger = ::operator new(bytes);
    if (old != nullptr) std::memcpy(larger, old, old_bytes < bytes ? old_bytes : bytes);
    Free(old);
    return larger;
  }
  static void Free(void* memory) noexcept { ::operator delete(memory); }
  // NOLINTEND(readability-identifier-naming)
};

}  // namespace heistd

namespace rapidjson::internal {

/// As in later versions: that of 1.1 adds to the null pointer that a stack begins with.
template <>
template <class T>
RAPIDJSON_FORCEINLINE void Stack<heistd::ThrowingMemory>::Reserve(std::size_t count) {
  if (sizeof(T) * count > static_cast<std::size_t>(stackEnd_ - stackTop_)) Expand<T>(count);
}

}  // namespace rapidjson::internal

namespace heistd {

/// For what is said with most requests: no tree of values is made first, which took ten times as
/// many instructions.
///
/// Errors: std::bad_alloc.
class JsonText {
 public:
  JsonText() : buffer_(nullptr, usual_bytes), writer_(buffer_, nullptr, most_levels) {}
  JsonText(const JsonText&) = delete;
  JsonText& operator=(const JsonText&) = delete;

  void begin_object() { writer_.StartObject(); }
  void end_object() { writer_.EndObject(); }
  /// The key of the member whose value comes next.
  void key(std::string_view key);

  /// Bytes that are no UTF-8 become U+FFFD.
  void member(std::string_view key, std::string_view text);
  void member(std::string_view key, std::integral auto number) {
    this->key(key);
    if constexpr (std::is_signed_v<decltype(number)>) {
      writer_.Int64(number);
    } else {
      writer_.Uint64(number);
    }
  }
  void member(std::string_view key, double number);
  void null_member(std::string_view key);
  /// What `json` says is in JSON already; the value may go on elsewhere.
  void raw_member(std::string_view key, std::string_view json);
  /// The text so far, which is no JSON until its last object has ended.
  [[nodiscard]] std::string text() const { return {buffer_.GetString(), buffer_.GetSize()}; }

 private:
  using Buffer = rapidjson::GenericStringBuffer<rapidjson::UTF8<>, ThrowingMemory>;
  static constexpr std::size_t usual_bytes = 1024;
  static constexpr std::size_t most_levels = 4;  ///< of objects; more are slower

  Buffer buffer_;
  rapidjson::Writer<Buffer, rapidjson::UTF8<>, rapidjson::UTF8<>, ThrowingMemory> writer_;
};

}  // namespace heistd
