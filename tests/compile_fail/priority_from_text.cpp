// EXPECT: could not convert|no viable conversion|cannot convert|no matching
// WPT:PRI-08. Text goes through parse_task_priority, which may say no.
#include <heist/scheduler.hpp>

void post(const heist::Scheduler& scheduler) {
#ifdef HEIST_EXPECT_OK
  scheduler.post([] {}, {.priority = heist::parse_task_priority("background")});
#else
  scheduler.post([] {}, {.priority = "background"});
#endif
}
