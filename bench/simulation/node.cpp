#include "node.hpp"
#include <utility>

namespace simulation {

Node::Node(World& world, Figures& figures, Database& database, const Setting& setting)
    : world_(world),
      figures_(figures),
      database_(database),
      setting_(setting),
      agents_(world, figures, setting.agents, [this](const Job& ended) {
        ended_.push_back(ended);
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
        return jobs.size();
      },
      unless_lost([this](std::size_t stored) {
        is_submitting_ = false;
        unclaimed_ += stored;
        claim();
        send_accepted();
      }));
}

void Node::send_ended() {
  if (!ending_.empty() || ended_.empty()) return;
  ending_ = std::exchange(ended_, {});
  database_.call(
      "complete", ending_.size(), [] { return 0; }, unless_lost([this](int /*none*/) {
        figures_.ended += ending_.size();
        ending_.clear();
        send_ended();
      }));
}

void Node::claim() {
  claims_again_ = true;
  if (is_claiming_ || is_down_) return;
  is_claiming_ = true;
  claims_again_ = false;
  const auto unclaimed = std::exchange(unclaimed_, 0);
  database_.claim(setting_.agents, agents_.held(),
                  unless_lost([this, unclaimed](const std::vector<Job>& claimed) {
                    is_claiming_ = false;
                    on_claimed(claimed);
                    if (claimed.size() < unclaimed) tell();
                    if (claims_again_) claim();
                  }));
}

void Node::on_claimed(const std::vector<Job>& claimed) {
  if (!claimed.empty()) pauses_ = false;
  for (const auto& job : claimed) agents_.add(job);
}

/// At once, and then after a pause.
void Node::tell() {
  tells_again_ = true;
  if (is_telling_) return;
  is_telling_ = true;
  tells_again_ = false;
  world_.after(between_hints, [this] {
    is_telling_ = false;
    if (tells_again_) tell();
  });
  database_.call(
      "hint", database_.nodes().size(), [] { return 0; },
      [this](int /*none*/) {
        for (auto* const node : database_.nodes()) {
          if (node != this) node->hear_hint();
        }
      });
}

bool Node::heeds_hint() {
  if (is_down_ || setting_.heeding == 0) return !is_down_;
  return world_.random_part() * static_cast<double>(database_.nodes().size()) < setting_.heeding;
}

void Node::hear_hint() {
  if (!heeds_hint()) return;
  hears_late_ = pauses_;
  if (std::exchange(pauses_, true)) return;
  world_.after(between_hints, [this] {
    pauses_ = false;
    if (std::exchange(hears_late_, false)) hear_hint();
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
  if (world_.now() - renewed_ > lease / 2) lose_all();
  database_.call(
      "renew", 0, [] { return 0; },
      unless_lost([this, sent = world_.now()](int /*none*/) { renewed_ = sent; }));
}

/// Also what has ended, and of which nobody knows whether that was stored.
void Node::lose_all() {
  ++life_;
  is_submitting_ = is_claiming_ = false;
  unclaimed_ = 0;
  auto lost = agents_.take_all();
  for (auto* const ended : {&ended_, &ending_}) {
    lost.insert(lost.end(), ended->begin(), ended->end());
    ended->clear();
  }
  world_.after(lease, [this, lost = std::move(lost)] { database_.take_back(lost); });
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
