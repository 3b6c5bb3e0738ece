// any_drop: what a server does with each request: it combines the request's own signal with a
// shutdown signal that outlives all requests, and drops both. In time, and in what is left of the
// memory: any_drop_bytes/growth of the resident set for each that was dropped, /alive for each that
// is kept.
#include <cstdlib>
#include <deque>
#include <heist/abort_signal.hpp>
#include <stop_token>

#include "resident.hpp"
#include "subjects.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

constexpr std::int64_t dropped_requests = 1'000'000;
constexpr std::int64_t kept_requests = 100'000;

struct HeistAny {
  static constexpr const char* name = "heist";
  class Shutdown {
   public:
    void begin() { controller_.abort(); }
    [[nodiscard]] const heist::AbortSignal& signal() const noexcept { return signal_; }

   private:
    heist::AbortController controller_;
    heist::AbortSignal signal_ = controller_.signal();
  };
  class Request {
   public:
    explicit Request(const Shutdown& shutdown)
        : either_(heist::AbortSignal::any({own_.signal(), shutdown.signal()})) {}
    [[nodiscard]] bool is_over() const noexcept { return either_.aborted(); }

   private:
    heist::AbortController own_;
    heist::AbortSignal either_;
  };
};

/// The standard's way: the request's own source, on which a callback of the shutdown's token
/// requests a stop. One token less than with heist, where the request's own signal stays its own.
struct StopSources {
  static constexpr const char* name = "std_stop_source";
  class Shutdown {
   public:
    void begin() { source_.request_stop(); }
    [[nodiscard]] std::stop_token token() const noexcept { return source_.get_token(); }

   private:
    std::stop_source source_;
  };
  class Request {
   public:
    explicit Request(const Shutdown& shutdown) : forward_(shutdown.token(), Forward{own_}) {}
    [[nodiscard]] bool is_over() const noexcept { return either_.stop_requested(); }

   private:
    struct Forward {
      std::stop_source& to;
      void operator()() const noexcept { to.request_stop(); }
    };
    std::stop_source own_;
    std::stop_token either_ = own_.get_token();
    std::stop_callback<Forward> forward_;
  };
};

template <class Signals>
void drop_requests(const typename Signals::Shutdown& shutdown, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const typename Signals::Request request(shutdown);
    if (request.is_over()) std::abort();
  }
}

template <class Signals>
using Kept = std::deque<typename Signals::Request>;

template <class Signals>
void keep_requests(Kept<Signals>& kept, const typename Signals::Shutdown& shutdown,
                   std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) kept.emplace_back(shutdown);
}

/// `shutdown` must reach each request that is kept.
template <class Signals>
void check_shutdown(const Kept<Signals>& kept, typename Signals::Shutdown& shutdown) {
  shutdown.begin();
  for (const auto& request : kept) {
    if (!request.is_over()) std::abort();
  }
}

template <class Signals>
void any_drop(Run& run) {
  const auto count = run.scaled(dropped_requests);
  typename Signals::Shutdown shutdown;
  drop_requests<Signals>(shutdown, count);
  run.start();
  drop_requests<Signals>(shutdown, count);
  run.stop(count);
  run.report_time();
  Kept<Signals> last;
  keep_requests<Signals>(last, shutdown, 1);
  check_shutdown<Signals>(last, shutdown);
}

/// Without warming up: what the first ones need is part of the growth.
template <class Signals>
void any_drop_bytes(Run& run) {
  const auto dropped = run.scaled(dropped_requests);
  const auto count = run.scaled(kept_requests);
  const double before = resident_bytes();
  typename Signals::Shutdown shutdown;
  drop_requests<Signals>(shutdown, dropped);
  const double between = resident_bytes();
  Kept<Signals> kept;
  run.start();
  keep_requests<Signals>(kept, shutdown, count);
  run.stop(count);
  run.report((between - before) / double(dropped));
  run.report((resident_bytes() - between) / double(count));
  check_shutdown<Signals>(kept, shutdown);
}

}  // namespace

void add_any_drop(Registry& registry) {
  using Subjects = SubjectList<HeistAny, StopSources>;
  add_for(Subjects(), registry,
          {.workload = "any_drop", .subject = {}, .unit = "ns", .measure = {}},
          []<class Signals>(Run& run) { any_drop<Signals>(run); });
  add_for(Subjects(), registry,
          {.workload = "any_drop_bytes",
           .subject = {},
           .unit = "bytes",
           .measure = {},
           .figures = {"/growth", "/alive"}},
          []<class Signals>(Run& run) { any_drop_bytes<Signals>(run); });
}

}  // namespace bench
