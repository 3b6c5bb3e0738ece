#include "node.hpp"
#include <utility>

namespace simulation {

Node::Node(World& world, Figures& figures, Database& database, const Setting& setting)
    : world_(world),
      figures_(figures),
      database_(database),
      setting_(setting),
      agents_(world, figures, setting.agents, [this](const Job& /*ended*/) {
        ++figures_.ended;
        ++ended_;
        send_ended();
        claim();
      }) {
  database_.add(*this);
  world_.after(time_of(seconds_of(heartbeat) * world_.random_part()), [this] {
    renewed_ = world_.now();
    world_.now_and_every(heartbeat, [this] { beat(); });
    world_.now_and_every(between_renewals, [this] { renew(); });
  });
}

/// What is answered to a server that is not there any more is lost.
template <class Answer>
auto Node::unless_lost(Answer answer) {
  return [this, life = life_, answer = std::move(answer)](auto& given) mutable {
    if (life_ == life) return answer(given);
    if constexpr (std::is_same_v<decltype(given), std::vector<Job>&>) {
      world_.after(lease, [this, given] { database_.take_back(given); });
    }
  };
}

void Node::submit(const Job& submitted) {
  auto job = submitted;
  job.accepted = world_.now();
  if (is_down_ || database_.is_away()) {
    ++figures_.refused;
    return;
  }
  accepted_.push_back(job);
  send_accepted();
}

void Node::send_accepted() {
  if (is_submitting_ || accepted_.empty()) return;
  is_submitting_ = true;
  auto jobs = std::exchange(accepted_, {});
  const auto size = jobs.size();
  database_.call(
      "submit", size,
      [this, jobs = std::move(jobs)]() mutable {
        for (auto& job : jobs)
          figures_.accept_times.push_back(seconds_of(world_.now() - job.accepted));
        database_.accept(jobs);
        return jobs;
      },
      unless_lost([this](const std::vector<Job>& stored) {
        is_submitting_ = false;
        for (auto& job : stored) ++unclaimed_.at(job.level);
        claim();
        send_accepted();
      }));
}

void Node::send_ended() {
  if (is_completing_ || ended_ == 0) return;
  is_completing_ = true;
  const auto size = std::exchange(ended_, 0);
  database_.call(
      "complete", size, [size] { return size; }, unless_lost([this](std::size_t /*stored*/) {
        is_completing_ = false;
        send_ended();
      }));
}

void Node::claim() {
  claims_again_ = true;
  if (is_claiming_ || is_down_) return;
  is_claiming_ = true;
  claims_again_ = false;
  const auto unclaimed = std::exchange(unclaimed_, {});
  database_.claim(setting_.agents, agents_.held(),
                  unless_lost([this, unclaimed](const std::vector<Job>& claimed) {
                    is_claiming_ = false;
                    on_claimed(claimed);
                    tell_of_rest(claimed, unclaimed);
                    if (claims_again_) claim();
                  }));
}

/// What was accepted here, and this claim has not brought, is for others.
void Node::tell_of_rest(const std::vector<Job>& claimed,
                        std::array<std::size_t, levels> unclaimed) {
  for (const auto& job : claimed) {
    if (unclaimed.at(job.level) > 0) --unclaimed.at(job.level);
  }
  for (std::size_t level = levels; level-- > 0;) {
    if (unclaimed.at(level) > 0) return tell(level);
  }
}

void Node::on_claimed(const std::vector<Job>& claimed) {
  if (!claimed.empty()) pauses_ = false;
  for (const auto& job : claimed) agents_.add(job);
}

/// At once, and then after a pause.
void Node::tell(std::size_t level) {
  tells_again_ = true;
  told_level_ = std::max(told_level_, level);
  if (is_telling_) return;
  is_telling_ = true;
  tells_again_ = false;
  world_.after(between_hints, [this] {
    is_telling_ = false;
    if (tells_again_) tell(told_level_);
  });
  database_.call(
      "hint", database_.nodes().size(),
      [most_urgent = std::exchange(told_level_, background)] { return most_urgent; },
      [this](std::size_t most_urgent) {
        for (auto* const node : database_.nodes()) {
          if (node != this) node->hear_hint(most_urgent);
        }
      });
}

bool Node::heeds(std::size_t level) {
  if (is_down_ || setting_.heeding == 0 || level == user_blocking) return !is_down_;
  return world_.random_part() * static_cast<double>(database_.nodes().size()) < setting_.heeding;
}

void Node::hear_hint(std::size_t level) {
  if (!heeds(level)) return;
  hears_late_ = pauses_;
  heard_level_ = level;
  if (std::exchange(pauses_, true)) return;
  world_.after(between_hints, [this] {
    pauses_ = false;
    if (std::exchange(hears_late_, false)) hear_hint(heard_level_);
  });
  claim();
}

void Node::beat() {
  if (is_down_) return;
  claim();
  if (agents_.is_empty()) return;
  database_.call("look", setting_.agents, [] { return 0; }, [](int /*none*/) {});
}

/// A server that has not renewed within half of its lease gives its work up.
void Node::renew() {
  if (is_down_) return;
  if (world_.now() - renewed_ > lease / 2 && !agents_.is_empty()) lose_all();
  database_.call(
      "renew", 0, [] { return 0; },
      unless_lost([this, sent = world_.now()](int /*none*/) { renewed_ = sent; }));
}

void Node::lose_all() {
  ++life_;
  is_submitting_ = is_completing_ = is_claiming_ = false;
  ended_ = 0;
  unclaimed_ = {};
  world_.after(lease, [this, jobs = agents_.take_all()] { database_.take_back(jobs); });
}

void Node::die() {
  if (is_down_) return;
  lose_all();
  is_down_ = true;
  accepted_.clear();
  world_.after(until_it_is_back, [this] {
    is_down_ = false;
    renewed_ = world_.now();
    claim();
  });
}

}  // namespace simulation
