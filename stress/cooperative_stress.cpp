// A cooperative scheduler on an agent: threads schedule at all levels, with and without delays, and
// cancel each other's tasks. Meanwhile its tasks schedule, cancel, go on as callbacks and as
// coroutines, and throw. Handles are dropped anywhere. In some rounds the agent is closed in the
// middle of that, and everything goes on being used.
//
// I1  Every callback is destroyed once, whatever becomes of its task, even if the task is refused.
// I2  A task that nobody cancelled runs, unless its agent was closed. Without a close nothing is
//     refused (COOP-2).
// I3  Once cancel_callback() has returned, the loop does not pick that task any more.
// I4  What one thread schedules at one level without a delay starts in that order.
// I5  A thread that was refused once is refused from then on, and after close() every thread is. A
//     task that was scheduled without a delay before the call of a drain runs.
// I6  However many tasks have come and gone, memory is flat.
#include <array>
#include <chrono>
#include <deque>
#include <heist/heist.hpp>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "support/cell.hpp"
#include "support/crew.hpp"
#include "support/flat_memory.hpp"
#include "support/stress_run.hpp"
#include "support/timeline.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;
using std::chrono::microseconds;

constexpr std::size_t threads = 3;
constexpr std::size_t on_loop = threads;  ///< the part for what tasks schedule
constexpr std::size_t levels = 5;
constexpr std::size_t most_tasks = 10;
constexpr Milliseconds an_hour = std::chrono::hours(1);

/// One task.
struct Record {
  Cell cell;
  CooperativeTask task;
  std::size_t part = 0;
  std::size_t level = 0;
  std::uint64_t number = 0;  ///< its place among what its thread schedules
  Milliseconds delay{};
  Moment accepted = never;
  bool has_started = false;                 ///< belongs to the loop
  sync::atomic<bool> was_cancelled{false};  ///< somebody has cancelled it, or is about to
  sync::atomic<Moment> cancelled{never};    ///< when a cancel_callback() had returned

  [[nodiscard]] bool is_delayed() const { return delay > Milliseconds::zero(); }
};

/// One more handle of a task.
struct Victim {
  Record* record = nullptr;
  CooperativeTask task;
};

/// What one thread schedules in a round, and what it cancels.
struct Part {
  std::deque<Record> records;
  std::vector<Victim> victims;
  std::array<std::uint64_t, levels> started{};  ///< the loop's: the number of the last to start
  bool was_refused = false;
};

struct Counts {
  std::uint64_t ran = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t dropped = 0;
  std::uint64_t refused = 0;
  std::uint64_t went_on = 0;
};

AgentOptions quick_agent() {
  AgentOptions options;
  options.loop.tick = microseconds(20);
  return options;
}

class CooperativeStress {
 public:
  CooperativeStress() { agent_.emplace(quick_agent()); }

  void round(Random& random) {
    begin_round(random);
    const std::uint64_t seed = random();
    crew_.run([&](std::size_t member) {
      Random own(seed + member);
      schedule_some(member, own);
    });
    for (std::size_t member = 0; member < threads; ++member) choose_victims(parts_[member], random);
    crew_.run([&](std::size_t member) {
      Random own(seed + threads + member);
      if (member == 0 && close_mode_) close(own);
      schedule_and_cancel(member, own);
    });
    let_go_.store(true, sync::edge("stress:let_go", sync::release));
    end_round(random);
  }

  [[nodiscard]] Counts counts() const { return counts_; }

  // What tasks call, on the loop.

  void begin(Record& record);
  void end() {
    if (has_timeline_) last_end_ = time_.mark();
  }
  void act(const CooperativeScheduler& scheduler, const Victim& victim, Random& random);
  void count_continuation() { ++counts_.went_on; }

  /// Tells, by the count, whether its holder has gone.
  class Alive {
   public:
    explicit Alive(CooperativeStress& stress) noexcept : count_(&stress.alive_) {
      count_->fetch_add(1, sync::relaxed);  // relaxed: a number.
    }
    Alive(Alive&& other) noexcept : count_(std::exchange(other.count_, nullptr)) {}
    Alive& operator=(Alive&&) = delete;
    ~Alive() {
      if (count_ != nullptr) count_->fetch_sub(1, sync::edge("stress:gone", sync::release));
    }

   private:
    sync::atomic<int>* count_;
  };
  /// A part of what a task calls: its cell, and the count of what is alive.
  struct Life {
    Alive alive;  // destroyed last
    Witness witness;
  };

 private:
  class Body;

  void begin_round(Random& random);
  void hold_loop();
  void schedule_some(std::size_t member, Random& random);
  void schedule_one(std::size_t member, Random& random);
  void add(std::size_t part, const CooperativeScheduler& scheduler, Milliseconds delay,
           Random& random);
  CooperativeTask schedule(Record& record, const CooperativeScheduler& scheduler, Random& random);
  static Victim any_of(Part& part, Random& random);
  void choose_victims(Part& part, Random& random);
  void schedule_and_cancel(std::size_t member, Random& random);
  void cancel(const CooperativeScheduler& scheduler, const Victim& victim);
  void close(Random& random);
  void end_round(Random& random);
  void judge(const Record& record);

  std::optional<Agent> agent_;
  std::array<std::optional<CooperativeScheduler>, threads> schedulers_;  ///< one for each member
  std::array<Part, threads + 1> parts_;
  sync::atomic<int> alive_{0};
  sync::atomic<bool> is_held_{false};
  sync::atomic<bool> let_go_{false};
  std::optional<CloseMode> close_mode_;
  Moment close_called_ = never;
  bool holds_ = false;         ///< in this round a task holds the loop until all is cancelled
  bool has_timeline_ = false;  ///< in rounds without it the test does not order the threads
  Timeline time_;
  Moment last_end_ = 0;  ///< the loop's: the end of the last task
  Counts counts_;
  FlatMemory memory_;
  Crew crew_{threads};
};

/// A coroutine that a task calls. It takes a random number of turns.
Promise<void> turns_of(CooperativeStress& stress, Record& record, CooperativeScheduler scheduler,
                       Random random, CooperativeStress::Life life) {
  ++life.witness.cell().runs;
  for (auto turns = random.below(4); turns > 0; --turns) {
    if (random.one_in(2)) scheduler.request_paint();
    static_cast<void>(co_await slice());
    stress.begin(record);
    stress.count_continuation();
    if (random.one_in(16)) throw 1;
  }
}

/// What most tasks call.
class CooperativeStress::Body {
 public:
  Body(CooperativeStress& stress, Record& record, CooperativeScheduler scheduler, Victim victim,
       Random random)
      : life_{Alive(stress), Witness(record.cell)},
        stress_(stress),
        record_(record),
        scheduler_(std::move(scheduler)),
        victim_(std::move(victim)),
        random_(random) {}

  CooperativeCallback operator()(const Slice& slice) {
    const Milliseconds now = scheduler_.now();
    check(now < slice.deadline + rounding || scheduler_.should_yield(), "a slice was too long");
    if (std::exchange(is_first_, false)) ++record_.cell.runs;
    stress_.begin(record_);
    stress_.act(scheduler_, victim_, random_);
    stress_.end();
    if (random_.one_in(16)) throw 1;
    if (!random_.one_in(4)) return {};
    stress_.count_continuation();
    return std::move(*this);
  }

 private:
  static constexpr Milliseconds rounding{0.001};

  Life life_;
  CooperativeStress& stress_;
  Record& record_;
  CooperativeScheduler scheduler_;
  Victim victim_;
  Random random_;
  bool is_first_ = true;
};

// A round.

void CooperativeStress::begin_round(Random& random) {
  const CooperativeScheduler made(agent_->scheduler());
  for (auto& scheduler : schedulers_) scheduler = made;
  holds_ = random.one_in(4);
  close_mode_.reset();
  if (!holds_ && random.one_in(8)) {
    close_mode_ = random.one_in(2) ? CloseMode::abort() : CloseMode::drain();
  }
  has_timeline_ = holds_ || close_mode_ || random.one_in(2);
  close_called_ = never;
  last_end_ = 0;
  if (holds_) hold_loop();
}

/// Holds the loop by one of the scheduler's own tasks. What comes meanwhile is picked after that
/// task, in the same slice.
void CooperativeStress::hold_loop() {
  // relaxed: no task of this round looks before it is scheduled.
  let_go_.store(false, sync::relaxed);
  is_held_.store(false, sync::relaxed);  // relaxed: as above.
  schedulers_[0]->schedule_callback(CooperativePriority::immediate, [this, alive = Alive(*this)] {
    is_held_.store(true, sync::relaxed);  // relaxed: only says that it runs.
    await([this] { return let_go_.load(sync::edge("stress:released", sync::acquire)); },
          "the loop was held for ever");
    end();
  });
  // relaxed: as above.
  await([this] { return is_held_.load(sync::relaxed); }, "a task never started");
}

void CooperativeStress::schedule_some(std::size_t member, Random& random) {
  for (auto tasks = 1 + random.below(most_tasks); tasks > 0; --tasks) {
    schedule_one(member, random);
    dither(random);
  }
}

void CooperativeStress::schedule_one(std::size_t member, Random& random) {
  Milliseconds delay{};
  if (random.one_in(4)) delay = microseconds(random.below(300));
  if (random.one_in(8)) delay = an_hour;
  add(member, *schedulers_[member], delay, random);
}

void CooperativeStress::add(std::size_t number, const CooperativeScheduler& scheduler,
                            Milliseconds delay, Random& random) {
  Part& part = parts_[number];
  Record& record = part.records.emplace_back();
  record.part = number;
  record.level = random.below(levels);
  record.number = part.records.size();
  record.delay = delay;
  record.task = schedule(record, scheduler, random);
  const bool is_refused = !record.task;
  check(!is_refused || close_mode_, "I2: an open loop refused a task");
  check(is_refused || !part.was_refused, "I5: accepted after a refusal");
  part.was_refused = is_refused;
  if (!is_refused) record.accepted = has_timeline_ ? time_.mark() : 0;
}

CooperativeTask CooperativeStress::schedule(Record& record, const CooperativeScheduler& scheduler,
                                            Random& random) {
  const auto level = static_cast<CooperativePriority>(record.level + 1);
  const CooperativeOptions options{.delay = record.delay};
  if (random.one_in(4)) {
    return scheduler.schedule_callback(
        level,
        [this, &record, scheduler, own = Random(random()),
         life = Life{Alive(*this), Witness(record.cell)}]() mutable {
          begin(record);
          return turns_of(*this, record, scheduler, own, std::move(life));
        },
        options);
  }
  Victim victim = any_of(parts_[record.part], random);
  return scheduler.schedule_callback(
      level, Body(*this, record, scheduler, std::move(victim), Random(random())), options);
}

Victim CooperativeStress::any_of(Part& part, Random& random) {
  Record& record = part.records[random.below(part.records.size())];
  return {&record, record.task};
}

/// Chooses handles of this thread's tasks and of the other threads'.
void CooperativeStress::choose_victims(Part& part, Random& random) {
  for (Part& other : std::span(parts_).first(threads)) {
    for (Record& record : other.records) {
      const bool ends_only_so = &other == &part && record.delay == an_hour;
      if (ends_only_so || random.one_in(6)) part.victims.push_back({&record, record.task});
    }
  }
}

/// A task with an hour's delay is cancelled by its own thread, because nothing else would end it.
void CooperativeStress::schedule_and_cancel(std::size_t member, Random& random) {
  Part& part = parts_[member];
  const std::size_t before = part.records.size();
  for (const Victim& victim : part.victims) {
    if (random.one_in(2)) schedule_one(member, random);
    dither(random);
    cancel(*schedulers_[member], victim);
  }
  for (std::size_t i = before; i < part.records.size(); ++i) {
    Record& record = part.records[i];
    if (record.delay == an_hour) cancel(*schedulers_[member], {&record, record.task});
    if (random.one_in(2)) record.task = {};
  }
  part.victims.clear();
  if (random.one_in(2)) schedulers_[member].reset();
}

void CooperativeStress::cancel(const CooperativeScheduler& scheduler, const Victim& victim) {
  if (!victim.task) return;
  // relaxed: it is read at the end of the round.
  victim.record->was_cancelled.store(true, sync::relaxed);
  scheduler.cancel_callback(victim.task);
  if (!has_timeline_) return;
  // relaxed: see begin().
  victim.record->cancelled.store(time_.mark(), sync::relaxed);
}

void CooperativeStress::close(Random& random) {
  for (auto steps = random.below(12); steps > 0; --steps) dither(random);
  close_called_ = time_.mark();
  agent_->close(*close_mode_);
  check(!schedulers_[0]->schedule_callback(CooperativePriority::immediate, [] {}),
        "I5: a closed loop accepted a task");
}

/// Ends the round, with handles left or without.
void CooperativeStress::end_round(Random& random) {
  if (random.one_in(2)) schedulers_ = {};
  if (close_mode_) agent_.emplace(quick_agent());
  await([this] { return alive_.load(sync::edge("stress:counted", sync::acquire)) == 0; },
        "I2: a task never ended, or what it called was never destroyed");
  for (Part& part : parts_) {
    for (const Record& record : part.records) judge(record);
    part.records.clear();
    part.started = {};
    part.was_refused = false;
  }
  schedulers_ = {};
  if (close_mode_) memory_.look();  // without a close, dead tasks still wait for their time
}

void CooperativeStress::judge(const Record& record) {
  check(record.cell.destroyed == 1, "I1: not destroyed exactly once");
  check(record.cell.runs <= 1, "I1: called again");
  const bool was_cancelled = record.was_cancelled.load(sync::relaxed);  // relaxed: all is over.
  if (record.cell.runs == 1) {
    check(record.accepted != never, "I5: refused, and ran");
    ++counts_.ran;
  } else if (record.accepted == never) {
    ++counts_.refused;
  } else if (was_cancelled) {
    ++counts_.cancelled;
  } else {
    check(close_mode_.has_value(), "I2: a task was lost");
    const bool is_drained = close_mode_->kind == CloseMode::Kind::drain && !record.is_delayed() &&
                            record.accepted < close_called_;
    check(!is_drained, "I5: a drain dropped a task");
    ++counts_.dropped;
  }
}

// On the loop.

void CooperativeStress::begin(Record& record) {
  // relaxed: the moment itself says what came before.
  const Moment cancelled = record.cancelled.load(sync::relaxed);
  check(cancelled >= last_end_, "I3: picked after it was cancelled");
  if (std::exchange(record.has_started, true) || record.is_delayed()) return;
  auto& last = parts_[record.part].started[record.level];
  check(record.number > last, "I4: started out of order");
  last = record.number;
}

void CooperativeStress::act(const CooperativeScheduler& scheduler, const Victim& victim,
                            Random& random) {
  if (random.one_in(4) && parts_[on_loop].records.size() < most_tasks) {
    add(on_loop, scheduler, random.one_in(4) ? Milliseconds(0.1) : Milliseconds(), random);
  }
  if (random.one_in(8)) scheduler.request_paint();
  if (random.one_in(8)) scheduler.set_frame_interval(Milliseconds(0.02) * (1 + random.below(9)));
  if (random.one_in(8)) cancel(scheduler, victim);
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("cooperative_stress", {argv, static_cast<std::size_t>(argc)});
  set_error_hook([](ErrorOrigin, const Reason&) noexcept {});  // some tasks throw
  CooperativeStress stress;
  const auto is_enough = [&stress] {
    const Counts counts = stress.counts();
    return counts.ran > 0 && counts.cancelled > 0;
  };
  const auto rounds =
      run_rounds(options, [&stress](Random& random) { stress.round(random); }, is_enough);
  const Counts counts = stress.counts();
  std::printf("rounds %llu, ran %llu, cancelled %llu, dropped %llu, refused %llu, went on %llu\n",
              printable(rounds), printable(counts.ran), printable(counts.cancelled),
              printable(counts.dropped), printable(counts.refused), printable(counts.went_on));
  check(options.duration.count() == 0 || is_enough(), "one outcome of the race was never seen");
}
