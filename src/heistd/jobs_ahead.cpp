#include <algorithm>
#include <heistd/jobs_ahead.hpp>
#include <utility>

namespace heistd {

JobsAhead::Asking::Asking(std::shared_ptr<JobsAhead> all, TimePoint runnable_at) noexcept
    : all_(std::move(all)), runnable_at_(runnable_at) {
  enter();
}

void JobsAhead::Asking::enter() noexcept {
  if (state_ == State::delayed) {
    all_->delayed_.insert(*this);
    return;
  }
  ++all_->asking_;
  if (state_ == State::asked) return;
  ++all_->unheard_;
  resumes_ = all_->resumes_;
  if (was_paused_) ++all_->maybe_held_;
}

void JobsAhead::Asking::leave() noexcept {
  if (state_ == State::delayed) {
    all_->delayed_.erase(Delayed::s_iterator_to(*this));
    return;
  }
  --all_->asking_;
  if (state_ == State::asked) return;
  --all_->unheard_;
  was_paused_ = is_maybe_held();
  if (was_paused_) --all_->maybe_held_;
}

void JobsAhead::Asking::become(State state) noexcept {
  leave();
  state_ = state;
  enter();
}

void JobsAhead::Asking::note_asked() noexcept { become(State::asked); }

void JobsAhead::Asking::move(std::shared_ptr<JobsAhead> to) noexcept {
  leave();
  all_ = std::move(to);
  enter();
}

JobsAhead::Held::Held(std::shared_ptr<JobsAhead> all, TimePoint turn) noexcept
    : all_(std::move(all)), turn_(turn) {
  enter();
}

void JobsAhead::Held::enter() noexcept {
  all_->by_turn_.insert(*this);
  if (!is_posted_) ++all_->held_;
}

void JobsAhead::Held::leave() noexcept {
  all_->by_turn_.erase(ByTurn::s_iterator_to(*this));
  if (!is_posted_) --all_->held_;
}

void JobsAhead::Held::note_held() noexcept {
  posted_at_ = TimePoint::max();
  if (std::exchange(is_posted_, false)) ++all_->held_;
}

void JobsAhead::Held::note_posted(TimePoint now) noexcept {
  posted_at_ = now;
  if (!std::exchange(is_posted_, true)) --all_->held_;
}

void JobsAhead::Held::move(std::shared_ptr<JobsAhead> to, TimePoint turn) noexcept {
  leave();
  all_ = std::move(to);
  turn_ = turn;
  enter();
}

bool JobsAhead::any_behind(TimePoint turn, TimePoint posted_at) const noexcept {
  const auto end = by_turn_.lower_bound(turn);
  return std::any_of(by_turn_.begin(), end,
                     [posted_at](const Held& job) { return job.posted_at_ > posted_at; });
}

bool JobsAhead::any_asking(TimePoint now) noexcept {
  end_delays(now);
  return asking_ > 0;
}

void JobsAhead::end_delays(TimePoint now) noexcept {
  while (!delayed_.empty() && delayed_.begin()->runnable_at_ <= now) {
    delayed_.begin()->become(Asking::State::posted);
  }
}

void JobsAhead::note_resume(TimePoint now) noexcept {
  end_delays(now);
  ++resumes_;
  maybe_held_ = unheard_;
}

}  // namespace heistd
