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
/// posted anew, and then those of later turns that agents come to before them have to wait. As a
/// pause ends, the network does not know which of the posted ones an agent has held back, so all of
/// them count as held back until it has heard of them.
///
/// Thread: the network's.   Cost: a job waits for its delay in a tree, and one that was held back
///         is in another one; of any_behind(), a step for each of these that is before the job. All
///         else is a step.
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
    /// It is of another line from now on.
    void move(std::shared_ptr<JobsAhead> to) noexcept;
    [[nodiscard]] const std::shared_ptr<JobsAhead>& all() const noexcept { return all_; }

   private:
    friend class JobsAhead;
    enum class State : std::uint8_t { delayed, posted, asked };

    void enter() noexcept;
    void leave() noexcept;
    void become(State state) noexcept;
    /// It was posted before a pause ended, and the network has not heard of it since.
    [[nodiscard]] bool is_maybe_held() const noexcept {
      return state_ == State::posted && (was_paused_ || resumes_ < all_->resumes_);
    }

    std::shared_ptr<JobsAhead> all_;
    const TimePoint runnable_at_;
    State state_ = State::delayed;
    bool was_paused_ = false;
    std::uint64_t resumes_ = 0;  ///< of its line when it was posted
    boost::intrusive::set_member_hook<> place_;
  };

  /// A job that is held back, until it comes to its start anew. It keeps its turn in its line.
  class Held {
   public:
    Held(std::shared_ptr<JobsAhead> all, TimePoint turn) noexcept;
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() { leave(); }
    /// It is held back once more, if it is not held back already.
    void note_held() noexcept;
    /// It is about to be posted anew.
    void note_posting(TimePoint now) noexcept { posted_at_ = now; }
    /// It is posted anew.
    void note_posted(TimePoint now) noexcept;
    /// It is of another line from now on, and has this turn there.
    void move(std::shared_ptr<JobsAhead> to, TimePoint turn) noexcept;

   private:
    friend class JobsAhead;

    void enter() noexcept;
    void leave() noexcept;

    std::shared_ptr<JobsAhead> all_;
    TimePoint turn_;
    TimePoint posted_at_ = TimePoint::max();  ///< the largest one: nothing is about to post it
    bool is_posted_ = false;
    boost::intrusive::set_member_hook<> place_;
  };

  JobsAhead() = default;
  JobsAhead(const JobsAhead&) = delete;
  JobsAhead& operator=(const JobsAhead&) = delete;
  ~JobsAhead() = default;

  [[nodiscard]] bool any_asking(TimePoint now) noexcept;
  /// To be asked without a pause: whether some are to be posted anew since the last one has ended.
  [[nodiscard]] bool any_held() const noexcept { return held_ > 0 || maybe_held_ > 0; }
  /// Whether some that were held back are to start before a job of this turn, which agents come to
  /// first, as it was posted before them.
  [[nodiscard]] bool any_behind(TimePoint turn, TimePoint posted_at) const noexcept;
  [[nodiscard]] bool none() const noexcept {
    return asking_ == 0 && by_turn_.empty() && delayed_.empty();
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

  struct Turn {
    using type = TimePoint;
    TimePoint operator()(const Held& job) const noexcept { return job.turn_; }
  };
  using ByTurn = boost::intrusive::multiset<
      Held, boost::intrusive::member_hook<Held, boost::intrusive::set_member_hook<>, &Held::place_>,
      boost::intrusive::key_of_value<Turn>>;

  void end_delays(TimePoint now) noexcept;

  Delayed delayed_;
  std::size_t asking_ = 0;      ///< whose delay is over
  std::size_t unheard_ = 0;     ///< of these, of which the network has not heard
  std::size_t maybe_held_ = 0;  ///< of these, that were posted before a pause ended
  ByTurn by_turn_;              ///< that were held back
  std::size_t held_ = 0;        ///< of these, that are not posted yet
  std::uint64_t resumes_ = 0;
};

}  // namespace heistd
