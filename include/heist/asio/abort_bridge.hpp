// AbortBridge and AbortHandler: what an abort does to an operation of Asio that runs.
#pragma once

#include <heist/abort_signal.hpp>
#include <heist/asio/library.hpp>
#include <memory>
#include <type_traits>
#include <utility>

namespace HEIST_ASIO_NAMESPACE {

/// An executor that runs one thing at a time, on the given one: a strand, unless it is one already.
template <class Executor>
struct SerialExecutor {
  using type = net::strand<Executor>;
};
template <class Executor>
struct SerialExecutor<net::strand<Executor>> {
  using type = net::strand<Executor>;
};

/// The cancellation signal of one operation. Whoever aborts only posts to the serial executor of
/// the handler; all else happens there, one thing at a time, as Asio's slots need it.
///
/// Roles   initiator: starts the operation, and then subscribes.  aborter: any thread; reads
///         executor_, which never changes.  handler: the serial executor; the rest.
/// I1      The listener is subscribed when the operation has been started, so that nothing is
///         posted before its slot is set.
/// Reclamation  counted: the handler has a share until it is called, the initiator until it has
///         subscribed, and what is posted. The last one ends the subscription.
template <class Serial>
class AbortBridge : public std::enable_shared_from_this<AbortBridge<Serial>> {
 public:
  explicit AbortBridge(Serial executor) : executor_(std::move(executor)) {}

  /// Called by the initiator, once.
  void follow(const AbortSignal& signal) {
    subscription_ = signal.on_abort([weak = this->weak_from_this()] {
      if (const auto bridge = weak.lock()) bridge->cancel();
    });
    if (signal.aborted()) cancel();
  }
  /// Called when the handler's own slot is told something.
  void pass_on(net::cancellation_type type) {
    net::dispatch(executor_, [bridge = this->shared_from_this(), type] { bridge->emit(type); });
  }
  void complete() noexcept { is_complete_ = true; }
  [[nodiscard]] net::cancellation_slot slot() noexcept { return signal_.slot(); }
  [[nodiscard]] const Serial& executor() const noexcept { return executor_; }

 private:
  /// Thread: any. It posts even on the executor, so that nothing happens within the abort.
  void cancel() {
    net::post(executor_,
              [bridge = this->shared_from_this()] { bridge->emit(net::cancellation_type::all); });
  }
  void emit(net::cancellation_type type) {
    if (!is_complete_) signal_.emit(type);
  }

  Serial executor_;
  net::cancellation_signal signal_;
  bool is_complete_ = false;
  Subscription subscription_;
};

/// A handler whose operation an abort cancels. It runs on a serial executor; its other associations
/// are those of `Handler`.
template <class Handler, class Serial>
class AbortHandler {
  using Bridge = AbortBridge<Serial>;

 public:
  /// Also passes on what the handler's own slot is told.
  AbortHandler(Handler handler, std::shared_ptr<Bridge> bridge)
      : handler_(std::move(handler)), bridge_(std::move(bridge)) {
    auto outer = net::get_associated_cancellation_slot(handler_);
    if (!outer.is_connected()) return;
    outer.assign([weak = std::weak_ptr(bridge_)](net::cancellation_type type) {
      if (const auto own = weak.lock()) own->pass_on(type);
    });
  }
  AbortHandler(AbortHandler&&) noexcept = default;
  AbortHandler& operator=(AbortHandler&&) = delete;
  ~AbortHandler() {
    if (bridge_) bridge_->complete();
  }

  template <class... Args>
  void operator()(Args&&... args) {
    bridge_->complete();
    bridge_.reset();  // that ends the subscription, unless something posted has still to run
    auto outer = net::get_associated_cancellation_slot(handler_);
    if (outer.is_connected()) outer.clear();
    std::move(handler_)(std::forward<Args>(args)...);
  }

  [[nodiscard]] const Handler& handler() const noexcept { return handler_; }
  [[nodiscard]] net::cancellation_slot slot() const noexcept { return bridge_->slot(); }
  [[nodiscard]] const Serial& executor() const noexcept { return bridge_->executor(); }

 private:
  Handler handler_;
  std::shared_ptr<Bridge> bridge_;
};

}  // namespace HEIST_ASIO_NAMESPACE

namespace HEIST_ASIO_LIBRARY_NAMESPACE {

template <template <class, class> class Associator, class Handler, class Serial, class Default>
struct associator<Associator, heist::asio::AbortHandler<Handler, Serial>, Default>
    : Associator<Handler, Default> {
  static auto get(const heist::asio::AbortHandler<Handler, Serial>& handler) noexcept {
    return Associator<Handler, Default>::get(handler.handler());
  }
  static auto get(const heist::asio::AbortHandler<Handler, Serial>& handler,
                  const Default& otherwise) noexcept {
    return Associator<Handler, Default>::get(handler.handler(), otherwise);
  }
};

template <class Handler, class Serial, class Default>
struct associated_executor<heist::asio::AbortHandler<Handler, Serial>, Default> {
  using type = Serial;
  static type get(const heist::asio::AbortHandler<Handler, Serial>& handler) noexcept {
    return handler.executor();
  }
  static type get(const heist::asio::AbortHandler<Handler, Serial>& handler,
                  const Default& /*otherwise*/) noexcept {
    return handler.executor();
  }
};

template <class Handler, class Serial, class Default>
struct associated_cancellation_slot<heist::asio::AbortHandler<Handler, Serial>, Default> {
  using type = cancellation_slot;
  static type get(const heist::asio::AbortHandler<Handler, Serial>& handler) noexcept {
    return handler.slot();
  }
  static type get(const heist::asio::AbortHandler<Handler, Serial>& handler,
                  const Default& /*otherwise*/) noexcept {
    return handler.slot();
  }
};

}  // namespace HEIST_ASIO_LIBRARY_NAMESPACE
