// IoMail: letters through an io_context.
#pragma once

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <heistd/mail.hpp>
#include <new>
#include <utility>

namespace heistd {

/// Gives Asio the letter's room for what it needs to keep the letter's handler.
template <class T>
class LetterRoom {
 public:
  using value_type = T;  // NOLINT(readability-identifier-naming): the standard's name

  explicit LetterRoom(void* room) noexcept : room_(room) {}
  template <class Other>
  explicit LetterRoom(const LetterRoom<Other>& other) noexcept : room_(other.room()) {}

  [[nodiscard]] T* allocate(std::size_t count) const {
    static_assert(sizeof(T) <= Letter::room_bytes && alignof(T) <= alignof(std::max_align_t));
    if (count != 1) throw std::bad_alloc();
    return static_cast<T*>(room_);
  }
  /// The room goes with its letter.
  void deallocate(T* /*memory*/, std::size_t /*count*/) const noexcept {}

  [[nodiscard]] void* room() const noexcept { return room_; }
  friend bool operator==(const LetterRoom& one, const LetterRoom& other) noexcept = default;

 private:
  void* room_;
};

class IoMail final : public Mail {
 public:
  explicit IoMail(boost::asio::io_context& io) noexcept : io_(io) {}

  // NOLINTNEXTLINE(bugprone-exception-escape): Asio asks for memory once, and the letter has it.
  void send(std::unique_ptr<Letter> letter) noexcept override {
    const LetterRoom<std::byte> room(letter->room());
    boost::asio::post(
        io_, boost::asio::bind_allocator(room, [letter = std::move(letter)] { letter->open(); }));
  }

 private:
  boost::asio::io_context& io_;
};

}  // namespace heistd
