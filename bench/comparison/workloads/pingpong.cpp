// A task of one worker posts to a second, whose task posts back: the time of the round trip.
// pingpong_hot: the next begins at once. pingpong_gap: after a pause of 1 ms, so that the second
// worker sleeps.
#include <chrono>
#include <thread>
#include <vector>

#include "../../completion.hpp"
#include "../../subjects/moodycamel.hpp"
#include "../statistics.hpp"
#include "raw_rally.hpp"
#include "subjects.hpp"
#include "trips.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

constexpr std::int64_t hot_trips = 5'000;
constexpr std::int64_t gap_trips = 200;
constexpr std::chrono::milliseconds gap(1);

/// Two workers. All but the last completion belongs to the first one.
template <class Subject>
class Rally {
 public:
  static constexpr const char* name = Subject::name;
  Rally(std::int64_t trips, std::chrono::milliseconds pause) : trips_(trips), pause_(pause) {}
  std::vector<double> play() {
    first_.post([this] { serve(); });
    done_.wait();
    return trips_.measured();
  }

 private:
  void serve() {
    if (pause_.count() > 0) std::this_thread::sleep_for(pause_);
    trips_.begin();
    second_.post([this] { first_.post([this] { finish_trip(); }); });
  }
  void finish_trip() {
    trips_.end();
    if (trips_.complete()) {
      done_.add(1);
    } else {
      serve();
    }
  }

  Trips trips_;
  std::chrono::milliseconds pause_;
  Completion done_{1};
  // Last, as their workers use the rest.
  Subject first_;
  Subject second_;
};

template <class Player>
std::vector<double> play(Run& run, std::int64_t count, std::chrono::milliseconds pause) {
  const auto trips = run.scaled(count);
  Player player(trips, pause);
  run.start();
  auto times = player.play();
  run.stop(trips + Trips::warm_up);
  return times;
}

const auto hot = []<class Player>(Run& run) {
  const auto times = play<Player>(run, hot_trips, std::chrono::milliseconds(0));
  run.report(percentile(times, 0.5));
  run.report(percentile(times, 0.99));
};

const auto with_gaps = []<class Player>(Run& run) {
  run.report(percentile(play<Player>(run, gap_trips, gap), 0.5));
};

using Players =
    SubjectList<Rally<HeistSubject>, Rally<AsioSubject>, Rally<AsioPoolSubject>, Rally<TbbSubject>,
                Rally<UvSubject>, Rally<EventSubject>, Rally<FiberSubject>, Rally<Moodycamel<1>>,
                Rally<MutexDequeSubject>, Rally<MutexSwapSubject>>;

}  // namespace

void add_pingpong(Registry& registry) {
  const Measurement hot_rows{.workload = "pingpong_hot",
                             .subject = {},
                             .unit = "us",
                             .measure = {},
                             .figures = {"/p50", "/p99"}};
  add_for(Players(), registry, hot_rows, hot);
  add_for(SubjectList<RawRally<SpinningLine>>(), registry, hot_rows, hot);
  const Measurement gap_rows{
      .workload = "pingpong_gap", .subject = {}, .unit = "us", .measure = {}, .figures = {"/p50"}};
  add_for(Players(), registry, gap_rows, with_gaps);
  add_for(SubjectList<RawRally<FutexLine>>(), registry, gap_rows, with_gaps);
}

}  // namespace bench
