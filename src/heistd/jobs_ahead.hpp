// JobsAhead: posted jobs of a line that are to start before others of it.
#pragma once

#include <boost/intrusive/set.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace heistd {

/// Counts the jobs that have to ask for their start: no other one may start without asking then.
/// And it counts those that a pause has held back: no other one may be posted before they are
/// posted anew. As a pause ends, the network does not know which of the posted ones an agent has
/// held back, so all of them count as held back until it has heard of them.
///
/// Thread: the network's.   Cost: a job waits for its delay in a tree; all else is a step.
class JobsAhead {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// A job that is to ask for its start, once its delay is over. It lives until the start is
  /// counted, or the job held back.
  class Asking {
   public:
    Asking(std::shared_ptr<JobsAhead> all, TimePoint runnable_at) noexcept;
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;
    ~Asking() { leave(); }

    /// It has asked: its agent has not held it back.
    void note_asked() noexcept;
    /// It was posted before a pause ended, and the network has not heard of it since.
    [[nodiscard]] bool is_maybe_held() const noexcept {
      return state_ == State::posted && (was_paused_ || resumes_ < all_->resumes_);
    }
    /// It is of another line from now on.
    void move(std::shared_ptr<JobsAhead> to) noexcept;
    [[nodiscard]] const std::shared_ptr<JobsAhead>& all() const noexcept { return all_; }

   private:
    friend class JobsAhead;
    enum class State : std::uint8_t { delayed, posted, asked };

    void enter() noexcept;
    void leave() noexcept;
    void become(State state) noexcept;

    std::shared_ptr<JobsAhead> all_;
    const TimePoint runnable_at_;
    State state_ = State::delayed;
    bool was_paused_ = false;
    std::uint64_t resumes_ = 0;  ///< of its line when it was posted
    boost::intrusive::set_member_hook<> place_;
  };

  /// A job that is held back, until it is posted anew.
  class Held {
   public:
    explicit Held(std::shared_ptr<JobsAhead> all) noexcept : all_(std::move(all)) {
      ++all_->held_;
      all_->some_were_held_ = true;
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() { --all_->held_; }
    /// It is of another line from now on.
    void move(std::shared_ptr<JobsAhead> to) noexcept;

   private:
    std::shared_ptr<JobsAhead> all_;
  };

  JobsAhead() = default;
  JobsAhead(const JobsAhead&) = delete;
  JobsAhead& operator=(const JobsAhead&) = delete;
  ~JobsAhead() = default;

  [[nodiscard]] bool any_asking(TimePoint now) noexcept;
  /// To be asked without a pause: whether some are to be posted anew since the last one has ended.
  [[nodiscard]] bool any_held() const noexcept { return held_ > 0 || maybe_held_ > 0; }
  /// Whether the last pause has held back some, during it or since its end.
  [[nodiscard]] bool some_were_held() const noexcept { return some_were_held_; }
  [[nodiscard]] bool none() const noexcept {
    return asking_ == 0 && held_ == 0 && delayed_.empty();
  }
  /// A pause of the line ends.
  void note_resume(TimePoint now) noexcept;

 private:
  struct RunnableAt {
    using type = TimePoint;
    TimePoint operator()(const Asking& job) const noexcept { return job.runnable_at_; }
  };
  using Delayed = boost::intrusive::multiset<
      Asking,
      boost::intrusive::member_hook<Asking, boost::intrusive::set_member_hook<>, &Asking::place_>,
      boost::intrusive::key_of_value<RunnableAt>>;

  void end_delays(TimePoint now) noexcept;

  Delayed delayed_;
  std::size_t asking_ = 0;      ///< whose delay is over
  std::size_t unheard_ = 0;     ///< of these, of which the network has not heard
  std::size_t maybe_held_ = 0;  ///< of these, that were posted before a pause ended
  std::size_t held_ = 0;
  bool some_were_held_ = false;
  std::uint64_t resumes_ = 0;
};

}  // namespace heistd
