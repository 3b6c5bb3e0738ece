// AbortBridge and AbortHandler: what an abort does to an operation of Asio that runs.
#pragma once

#include <heist/abort_signal.hpp>
#include <heist/asio/library.hpp>
#include <memory>
#include <type_traits>
#include <utility>

namespace HEIST_ASIO_NAMESPACE {

/// The cancellation signal of one operation. Whoever aborts only posts to the handler's executor;
/// all else happens there, one thing at a time, as Asio's slots need it.
///
/// Roles   aborter: any thread; reads `executor`, which never changes.  handler: its executor; the
///         rest.
template <class HandlerExecutor>
class AbortBridge : public std::enable_shared_from_this<AbortBridge<HandlerExecutor>> {
 public:
  explicit AbortBridge(HandlerExecutor executor) : executor_(std::move(executor)) {}

  /// Thread: any.
  void request_cancel() {
    net::post(executor_, [bridge = this->shared_from_this()] {
      if (!bridge->is_complete_) bridge->signal_.emit(net::cancellation_type::all);
    });
  }
  void emit(net::cancellation_type type) { signal_.emit(type); }
  void complete() noexcept { is_complete_ = true; }
  [[nodiscard]] net::cancellation_slot slot() noexcept { return signal_.slot(); }

 private:
  HandlerExecutor executor_;
  net::cancellation_signal signal_;
  bool is_complete_ = false;
};

/// A handler whose operation an abort cancels; its other associations are those of `Handler`.
template <class Handler, class HandlerExecutor>
class AbortHandler {
  using Bridge = AbortBridge<HandlerExecutor>;

 public:
  /// Also passes on what the handler's own slot is told.
  AbortHandler(const AbortSignal& signal, const HandlerExecutor& executor, Handler handler)
      : handler_(std::move(handler)), bridge_(std::make_shared<Bridge>(executor)) {
    subscription_ = signal.on_abort([bridge = bridge_] { bridge->request_cancel(); });
    if (signal.aborted()) bridge_->request_cancel();
    auto outer = net::get_associated_cancellation_slot(handler_);
    if (!outer.is_connected()) return;
    outer.assign([bridge = bridge_](net::cancellation_type type) { bridge->emit(type); });
  }
  AbortHandler(AbortHandler&&) noexcept = default;
  AbortHandler& operator=(AbortHandler&&) = delete;
  ~AbortHandler() {
    if (bridge_) bridge_->complete();
  }

  template <class... Args>
  void operator()(Args&&... args) {
    bridge_->complete();
    subscription_.reset();
    auto outer = net::get_associated_cancellation_slot(handler_);
    if (outer.is_connected()) outer.clear();
    std::move(handler_)(std::forward<Args>(args)...);
  }

  [[nodiscard]] const Handler& handler() const noexcept { return handler_; }
  [[nodiscard]] net::cancellation_slot slot() const noexcept { return bridge_->slot(); }

 private:
  Handler handler_;
  std::shared_ptr<Bridge> bridge_;
  Subscription subscription_;
};

}  // namespace HEIST_ASIO_NAMESPACE

namespace HEIST_ASIO_LIBRARY_NAMESPACE {

template <template <class, class> class Associator, class Handler, class HandlerExecutor,
          class Default>
struct associator<Associator, heist::asio::AbortHandler<Handler, HandlerExecutor>, Default>
    : Associator<Handler, Default> {
  static auto get(const heist::asio::AbortHandler<Handler, HandlerExecutor>& handler) noexcept {
    return Associator<Handler, Default>::get(handler.handler());
  }
  static auto get(const heist::asio::AbortHandler<Handler, HandlerExecutor>& handler,
                  const Default& otherwise) noexcept {
    return Associator<Handler, Default>::get(handler.handler(), otherwise);
  }
};

template <class Handler, class HandlerExecutor, class Default>
struct associated_cancellation_slot<heist::asio::AbortHandler<Handler, HandlerExecutor>, Default> {
  using type = cancellation_slot;
  static type get(const heist::asio::AbortHandler<Handler, HandlerExecutor>& handler) noexcept {
    return handler.slot();
  }
  static type get(const heist::asio::AbortHandler<Handler, HandlerExecutor>& handler,
                  const Default& /*otherwise*/) noexcept {
    return handler.slot();
  }
};

}  // namespace HEIST_ASIO_LIBRARY_NAMESPACE
