// Close while posting: an agent is closed in every mode, by one thread or two, while others post,
// abort and change priorities.
//
// I1  Every promise settles, whatever becomes of its task (LIF-1).
// I2  Every callback is destroyed exactly once, and runs once at most.
// I3  A task that was posted before the call of a drain, without delay and without signal, runs.
// I4  Once a post was refused, later posts of that thread are refused too. After close() all posts
//     are.
// I5  A close whose deadline has come reports a task that still runs, and rejects its promise at
//     once. The task's late result is dropped (ABT-6).
// I6  A drain that waits for delayed tasks does not wait for those that were aborted (ABT-4).
// I7  The last report tells of no more tasks than were posted, of none that is open, and of one
//     that overran.
#include <algorithm>
#include <array>
#include <chrono>
#include <heist/heist.hpp>
#include <optional>
#include <vector>

#include "support/cell.hpp"
#include "support/crew.hpp"
#include "support/fence.hpp"
#include "support/stress_run.hpp"
#include "support/timeline.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;
using std::chrono::microseconds;
using Clock = std::chrono::steady_clock;

constexpr std::size_t posters = 2;
constexpr std::size_t most_posts = 12;

struct Post {
  Cell cell;
  Moment done = never;       ///< when the post had returned true
  bool is_runnable = false;  ///< it has no delay and no signal
};

/// What one poster did in a round.
struct Part {
  std::vector<Post> posts;
  std::vector<Promise<int>> promises;
  std::uint64_t refused = 0;
};

struct Counts {
  std::uint64_t ran = 0;
  std::uint64_t dropped = 0;
  std::uint64_t refused = 0;
  std::uint64_t overrun = 0;
};

AgentOptions quick_agent() {
  AgentOptions options;
  options.loop.tick = microseconds(20);
  return options;
}

class ClosePost {
 public:
  void round(Random& random) {
    agent_.emplace(quick_agent());
    scheduler_.emplace(agent_->scheduler());
    controller_.emplace();
    close_called_ = {never, never};
    overrun_.reset();
    let_go_.store(false, sync::relaxed);  // relaxed: before the start.
    const std::size_t count = 1 + random.below(most_posts);
    for (Part& part : parts_) {
      part.posts.assign(count, {});
      part.promises.clear();
      part.refused = 0;
    }
    mode_ = random_mode(random);
    const std::uint64_t seed = random();
    two_closers_ = random.one_in(3);
    crew_.run([this, seed](std::size_t member) {
      Random own(seed + member);
      if (member == 0) return close(0, mode_, own);
      if (member <= posters) return post_all(parts_[member - 1], member, own);
      if (two_closers_) return close(1, random_mode(own), own);
      disturb(own);
    });
    let_go_.store(true, sync::relaxed);  // relaxed: a running task only waits for it.
    check_report(agent_->close(CloseMode::drain()));
    agent_.reset();
    check_round();
  }

  [[nodiscard]] Counts counts() const { return counts_; }

 private:
  static CloseMode random_mode(Random& random) {
    switch (random.below(4)) {
      case 0:
        return CloseMode::abort();
      case 1:
        return CloseMode::drain_until(Clock::now() + microseconds(random.below(100)));
      case 2:
        return {.kind = CloseMode::Kind::drain, .deadline = {}, .wait_for_delayed = true};
      default:
        return CloseMode::drain();
    }
  }

  void close(std::size_t closer, const CloseMode& mode, Random& random) {
    for (auto steps = random.below(12); steps > 0; --steps) dither(random);
    // A drain that waits for delayed tasks would wait for an hour, unless they are aborted (I6).
    // That happens here, or in disturb().
    if (mode.wait_for_delayed && two_closers_) controller_->abort();
    close_called_[closer] = time_.mark();
    const CloseReport report = agent_->close(mode);
    check(!scheduler_->post([] {}), "a closed agent accepted a task");
    overrun_reported_.fetch_add(report.still_running, sync::relaxed);  // relaxed: a count.
    if (closer == 0) let_go_.store(true, sync::relaxed);  // relaxed: a task only waits for it.
  }

  void disturb(Random& random) {
    for (int i = 0; i < 4; ++i) {
      controller_->set_priority(priorities[random.below(3)]);
      dither(random);
    }
    controller_->abort();
  }

  void post_all(Part& part, std::size_t member, Random& random) {
    bool was_refused = false;
    for (Post& post : part.posts) {
      const Answer answer = post_one(post, part, random);
      check(answer != Answer::accepted || !was_refused,
            "an agent that had refused a task accepted one");
      if (answer == Answer::accepted) post.done = time_.mark();
      if (answer == Answer::refused) {
        was_refused = true;
        ++part.refused;
      }
      dither(random);
    }
    if (member == 1 && mode_.deadline && random.one_in(2)) post_long();
  }

  enum class Answer : std::uint8_t { accepted, refused, unclear };

  Answer post_one(Post& post, Part& part, Random& random) {
    PostTaskOptions options;
    if (random.one_in(3)) options.priority = priorities[random.below(3)];
    const bool has_signal = random.one_in(4);
    if (has_signal) options.signal = controller_->signal();
    if (random.one_in(4)) options.delay = microseconds(random.below(60));
    if (has_signal && random.one_in(2)) options.delay = std::chrono::hours(1);
    post.is_runnable = !has_signal && options.delay.is_zero();
    if (random.one_in(2)) {
      if (scheduler_->post(witnessed(post.cell), options)) return Answer::accepted;
      // The post may have been refused because the signal is aborted, which says nothing about the
      // agent.
      return has_signal ? Answer::unclear : Answer::refused;
    }
    const auto promise = random.one_in(2) ? post_value(post, options) : post_promise(post, options);
    part.promises.push_back(promise);
    if (has_signal) return Answer::unclear;
    return is_refusal(promise.reason()) ? Answer::refused : Answer::accepted;
  }
  static bool is_refusal(const Reason& reason) {
    try {
      if (reason) reason.rethrow();
      return false;
    } catch (const InvalidStateError&) {
      return true;
    } catch (const AbortError&) {
      return false;  // it was accepted, and the close has dropped it already
    }
  }
  Promise<int> post_value(Post& post, const PostTaskOptions& options) {
    return scheduler_->post_task(witnessed(post.cell, [] { return 1; }), options);
  }
  Promise<int> post_promise(Post& post, const PostTaskOptions& options) {
    return scheduler_->post_task(witnessed(post.cell, [] { return Promise<int>::resolved(1); }),
                                 options);
  }

  /// Posts a task that outlasts the deadline: it runs until the agent's close has returned.
  void post_long() {
    overrun_ = scheduler_->post_task([this] {
      // relaxed: let_go_ carries nothing.
      await([this] { return let_go_.load(sync::relaxed); }, "close() waited beyond its deadline");
      return 1;
    });
  }

  void check_report(const CloseReport& last) const {
    check(last.not_started == 0 && last.still_running == 0, "a closed agent reports what is open");
    std::uint64_t posted = overrun_ ? 1 : 0;
    for (const Part& part : parts_) posted += part.posts.size();
    check(last.ran + last.aborted <= posted, "a report tells of tasks that were never posted");
    const auto overran = overrun_reported_.load(sync::relaxed);  // relaxed: a quiet point.
    check(overran == 0 || last.ran > 0, "a task that overran has ended, and is not reported");
  }

  void check_round() {
    const Moment called = std::min(close_called_[0], close_called_[1]);
    const bool drained =
        mode_.kind == CloseMode::Kind::drain && !mode_.deadline && close_called_[1] == never;
    for (Part& part : parts_) {
      for (const auto& promise : part.promises) {
        check(promise.wait_for(std::chrono::seconds(60)), "a promise never settled");
      }
      for (const Post& post : part.posts) {
        check(post.cell.destroyed == 1, "a callback was not destroyed exactly once");
        check(post.cell.runs <= 1, "a task ran twice");
        check(!drained || !post.is_runnable || post.done > called || post.cell.runs == 1,
              "a drain dropped a task that was runnable when it was called");
        ++(post.cell.runs == 1 ? counts_.ran : counts_.dropped);
      }
      counts_.refused += part.refused;
    }
    // relaxed: a quiet point.
    const auto overrun = overrun_reported_.exchange(0, sync::relaxed);
    counts_.overrun += overrun;
    if (!overrun_) return;
    check(overrun_->settled(), "the promise of a task that overran was left pending");
    check(
        overrun == 0 || close_called_[1] != never || overrun_->status() == PromiseStatus::rejected,
        "a task that overran the deadline settled its promise");
  }

  Timeline time_;
  std::optional<Agent> agent_;
  std::optional<Scheduler> scheduler_;
  std::optional<TaskController> controller_;
  CloseMode mode_;
  bool two_closers_ = false;
  std::array<Part, posters> parts_;
  std::array<Moment, 2> close_called_{};
  std::optional<Promise<int>> overrun_;
  sync::atomic<bool> let_go_{false};
  sync::atomic<std::uint64_t> overrun_reported_{0};
  Counts counts_;
  Crew crew_{2 + posters};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("close_post_stress", {argv, static_cast<std::size_t>(argc)});
  ClosePost stress;
  const auto is_enough = [&stress] {
    const Counts counts = stress.counts();
    return counts.ran > 0 && counts.dropped > 0;
  };
  const auto rounds =
      run_rounds(options, [&stress](Random& random) { stress.round(random); }, is_enough);
  const Counts counts = stress.counts();
  std::printf("rounds %llu, ran %llu, never ran %llu, refused %llu, overran %llu\n",
              printable(rounds), printable(counts.ran), printable(counts.dropped),
              printable(counts.refused), printable(counts.overrun));
  check(options.duration.count() == 0 || is_enough(), "one outcome of the race was never seen");
}
