// In which order the tasks that start jobs are done.
#include <gmock/gmock.h>

#include <functional>
#include <heistd/journal/starter_thread.hpp>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace heistd {
namespace {

using heist::TaskPriority;

class TaskThatRuns : public JournalTask {
 public:
  explicit TaskThatRuns(std::function<void()> run) : run_(std::move(run)) {}
  void apply() override { run_(); }
  void refuse(JournalError error) noexcept override { ADD_FAILURE() << describe(error); }
  void answer() noexcept override {}

 private:
  std::function<void()> run_;
};

/// Its work has a mistake.
class TaskWithASlip : public JournalTask {
 public:
  explicit TaskWithASlip(std::vector<std::string>& said) noexcept : said_(said) {}
  void apply() override { throw std::out_of_range("no such entry"); }
  void refuse(JournalError error) noexcept override { said_.push_back(describe(error)); }
  void answer() noexcept override { said_.emplace_back("answered"); }

 private:
  std::vector<std::string>& said_;
};

/// The thread waits in its first task until the test lets it go on.
class StarterThreadTest : public testing::Test {
 protected:
  StarterThreadTest() {
    post(TaskPriority::background, [this] {
      begun.count_down();
      go_on.wait();
    });
    begun.wait();
  }
  void post(TaskPriority priority, std::function<void()> run) {
    starter.post(priority, std::make_unique<TaskThatRuns>(std::move(run)));
  }
  void post(TaskPriority priority, const std::string& name) {
    post(priority, [this, name] { done.push_back(name); });
  }
  void do_all() {
    std::latch all_are_done(1);
    post(TaskPriority::background, [&] { all_are_done.count_down(); });
    go_on.count_down();
    all_are_done.wait();
  }

  std::latch begun{1};
  std::latch go_on{1};
  std::vector<std::string> done;  ///< the thread's
  StarterThread starter;
};

// Rule: JRN-2
TEST_F(StarterThreadTest, post_then_the_most_urgent_is_done_first_and_equal_ones_as_they_came) {
  post(TaskPriority::background, "background 1");
  post(TaskPriority::user_visible, "visible 1");
  post(TaskPriority::user_blocking, [this] {
    done.emplace_back("blocking 1");
    post(TaskPriority::user_blocking, "blocking 2");
  });
  post(TaskPriority::background, "background 2");
  post(TaskPriority::user_visible, "visible 2");
  do_all();
  EXPECT_THAT(done, testing::ElementsAre("blocking 1", "blocking 2", "visible 1", "visible 2",
                                         "background 1", "background 2"));
}

TEST_F(StarterThreadTest, post_when_a_task_has_a_mistake_then_it_is_refused_and_others_go_on) {
  starter.post(TaskPriority::user_blocking, std::make_unique<TaskWithASlip>(done));
  post(TaskPriority::user_visible, "another one");
  do_all();
  EXPECT_THAT(done,
              testing::ElementsAre(testing::HasSubstr("no such entry"), "answered", "another one"));
}

}  // namespace
}  // namespace heistd
