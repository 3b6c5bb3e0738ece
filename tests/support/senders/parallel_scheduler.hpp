// Of the stand-in for a library of senders: the interface by which a program replaces what runs its
// parallel_scheduler.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <span>

#include "vocabulary.hpp"

namespace heist::support::senders::parallel_scheduler_replacement {

struct receiver_proxy {
  receiver_proxy() = default;
  receiver_proxy(const receiver_proxy&) = delete;
  receiver_proxy& operator=(const receiver_proxy&) = delete;
  virtual ~receiver_proxy() = default;
  virtual void set_value() noexcept = 0;
  virtual void set_error(std::exception_ptr error) noexcept = 0;
  virtual void set_stopped() noexcept = 0;
  /// It knows the one query that is asked.
  template <class Value>
  std::optional<Value> try_query(get_stop_token_t /*query*/) noexcept {
    return stop_token();
  }

 protected:
  virtual std::optional<inplace_stop_token> stop_token() noexcept = 0;
};

struct bulk_item_receiver_proxy : receiver_proxy {
  virtual void execute(std::size_t begin, std::size_t end) noexcept = 0;
};

struct parallel_scheduler_backend {
  parallel_scheduler_backend() = default;
  parallel_scheduler_backend(const parallel_scheduler_backend&) = delete;
  parallel_scheduler_backend& operator=(const parallel_scheduler_backend&) = delete;
  virtual ~parallel_scheduler_backend() = default;
  virtual void schedule(receiver_proxy& proxy, std::span<std::byte> scratch) noexcept = 0;
  virtual void schedule_bulk_chunked(std::size_t count, bulk_item_receiver_proxy& proxy,
                                     std::span<std::byte> scratch) noexcept = 0;
  virtual void schedule_bulk_unchunked(std::size_t count, bulk_item_receiver_proxy& proxy,
                                       std::span<std::byte> scratch) noexcept = 0;
};

std::shared_ptr<parallel_scheduler_backend> query_parallel_scheduler_backend();

}  // namespace heist::support::senders::parallel_scheduler_replacement
