// When a journal is asked to forget old jobs.
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <heistd/trim_pulse.hpp>

#include "journal_fixture.hpp"

namespace heistd {
namespace {

/// Has so many parts to forget.
struct SlowlyTrimmed : MemoryJournal {
  using MemoryJournal::MemoryJournal;
  Answer<std::size_t> trim() override {
    ++trims;
    if (parts == 0) return MemoryJournal::trim();
    --parts;
    return Answer<std::size_t>::resolved(std::size_t{trimmed_at_a_time});
  }

  int trims = 0;
  int parts = 0;
};

class TrimPulseTest : public testing::Test {
 protected:
  void beat_after(std::chrono::milliseconds time) {
    now += time;
    EXPECT_TRUE(pulse.beat(now));
    hear();
  }
  void hear() {
    network.restart();
    network.poll();
  }

  SystemTime time{std::chrono::hours(24 * 365 * 50)};
  SlowlyTrimmed journal{{.finished_age = std::chrono::seconds(100)}, [this] { return time; }};
  boost::asio::io_context network;
  JobKeeper keeper{journal, network.get_executor()};
  TrimPulse pulse{&keeper, std::chrono::seconds(100), network};
  TrimPulse::Clock::time_point now = TrimPulse::Clock::now();
};

TEST_F(TrimPulseTest, beat_when_nothing_ends_then_old_jobs_go_all_the_same) {
  said(journal.submit(new_job(1)));
  said(journal.start(id_of(1), any_priority));
  said(journal.complete(id_of(1), first_attempt, {}));
  beat_after({});
  EXPECT_NE(said(journal.find(id_of(1))), std::nullopt);
  time += std::chrono::seconds(101);
  beat_after(pulse.interval() - milliseconds(1));
  EXPECT_NE(said(journal.find(id_of(1))), std::nullopt) << "it is not asked all the time";
  beat_after(milliseconds(1));
  EXPECT_EQ(said(journal.find(id_of(1))), std::nullopt);
}

TEST_F(TrimPulseTest, beat_when_that_was_a_part_of_them_then_the_rest_goes_at_once) {
  journal.parts = 3;
  for (int events = 0; events < 6; ++events) beat_after({});
  EXPECT_EQ(journal.trims, 4) << "the last one has found none";
}

TEST_F(TrimPulseTest, beat_when_less_than_a_part_went_then_it_is_not_asked_again_at_once) {
  said(journal.submit(new_job(1)));
  said(journal.abort(id_of(1), aborted_because("the test")));
  time += std::chrono::seconds(101);
  beat_after({});
  EXPECT_EQ(said(journal.find(id_of(1))), std::nullopt);
  beat_after({});
  EXPECT_EQ(journal.trims, 1);
}

TEST(TrimPulseIntervalTest, interval_then_a_tenth_of_the_age_within_bounds) {
  boost::asio::io_context network;
  const auto of = [&network](std::chrono::milliseconds age) {
    return TrimPulse(nullptr, age, network).interval();
  };
  EXPECT_EQ(of(std::chrono::seconds(1)), std::chrono::seconds(1));
  EXPECT_EQ(of(std::chrono::seconds(100)), std::chrono::seconds(10));
  EXPECT_EQ(of(std::chrono::hours(24)), std::chrono::minutes(1));
}

}  // namespace
}  // namespace heistd
