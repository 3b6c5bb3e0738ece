#include <algorithm>
#include <heistd/client.hpp>
#include <heistd/turns.hpp>

namespace heistd {
namespace {

/// How long a turn of a client of weight 1 takes; those of all weights are nearly whole numbers.
constexpr std::uint64_t whole_turn = std::uint64_t{1} << 32U;

Lane lane_of(const JobLine& line) noexcept {
  return {line.priority(), line.kind.at_a_time > 0 ? &line.kind : nullptr};
}

bool has_turns(const JobLine& line) noexcept {
  return !line.being_read.empty() || !line.jobs.empty();
}

/// In which jobs that were held back come first.   Errors: std::bad_alloc.
std::vector<Lane> lanes_of_held(const Client& client) {
  std::vector<Lane> lanes;
  for (const auto& [key, line] : client.waiting.lines()) {
    const auto lane = lane_of(*line);
    if (line->has_held() && std::ranges::find(lanes, lane) == lanes.end()) lanes.push_back(lane);
  }
  return lanes;
}

}  // namespace

void Turns::add(Client& client) {
  if (std::ranges::find(clients_, &client) == clients_.end()) clients_.push_back(&client);
}

Client* Turns::find(std::string_view name) const noexcept {
  const auto found = std::ranges::find(
      clients_, name, [](const auto* client) -> const auto& { return client->name; });
  return found == clients_.end() ? nullptr : *found;
}

/// Jobs that are being read come before the others, and those that were held back before all.
bool Turns::must_wait(const Client& client, const JobLine& line) const noexcept {
  const auto lane = lane_of(line);
  if (line.is_paused() || posted(lane) >= places(lane)) return true;
  if (!client.may_start(lane.priority)) return true;
  if (client.waiting.any_due(lane.priority, WaitingJobs::TimePoint::clock::now())) return true;
  return std::ranges::any_of(client.waiting.lines(), [&lane](const auto& entry) {
    const auto& other = *entry.second;
    return (has_turns(other) || other.ahead.any_held()) && lane_of(other) == lane &&
           !other.is_held_up();
  });
}

bool Turns::is_behind_held(const Client& client, const JobLine& line) noexcept {
  const auto lane = lane_of(line);
  return std::ranges::any_of(client.waiting.lines(), [&lane](const auto& entry) {
    const auto& other = *entry.second;
    return other.has_held() && lane_of(other) == lane;
  });
}

bool Turns::is_ahead_of_held(const Client& client, const Job& job,
                             WaitingJobs::TimePoint posted_at) noexcept {
  const Lane lane{job.priority(), job.kind.at_a_time > 0 ? &job.kind : nullptr};
  const auto turn = job.unfinished->turn;
  return std::ranges::any_of(client.waiting.lines(), [&](const auto& entry) {
    const auto& line = *entry.second;
    return lane_of(line) == lane && !line.is_held_up() && line.ahead.any_behind(turn, posted_at);
  });
}

std::size_t Turns::posted(const Lane& lane) const noexcept {
  std::size_t posted = 0;
  for (const auto* const client : clients_) {
    for (const auto& [key, line] : client->waiting.lines()) {
      if (line->posted > 0 && lane_of(*line) == lane) posted += line->posted;
    }
  }
  return posted;
}

std::uint64_t Turns::begin_of_turn(const Client& client, const Lane& lane) const noexcept {
  const auto found = ends_.find(lane);
  if (found == ends_.end()) return 0;
  const auto& [now, of_clients] = found->second;
  const auto end = of_clients.find(&client);
  return end == of_clients.end() ? now : std::max(now, end->second);
}

void Turns::note_posted(const Client& client, const JobLine& line) {
  const auto lane = lane_of(line);
  const auto begin = begin_of_turn(client, lane);
  auto& ends = ends_[lane];
  ends.of_clients[&client] = begin + whole_turn / client.limits().weight;
  ends.now = begin;
}

std::optional<Turns::Turn> Turns::take() {
  if (!any_in_line()) return std::nullopt;
  const auto all = choices();
  const auto found = std::ranges::find_if(all, [](const Choice& choice) {
    return choice.line != nullptr && choice.posted < places(choice.lane);
  });
  if (found == all.end()) return std::nullopt;
  note_posted(*found->client, *found->line);
  return Turn{found->client, found->client->waiting.take(*found->line)};
}

/// The most urgent ones first.
std::vector<Turns::Choice> Turns::choices() {
  std::vector<Choice> choices;
  for (auto* const client : clients_) {
    client->waiting.drop_unused_lines();
    const auto may_start = client->levels_to_start();
    const auto held = lanes_of_held(*client);
    for (const auto& [key, line] : client->waiting.lines()) {
      const bool may_go = may_start.at(static_cast<std::size_t>(line->priority())) &&
                          std::ranges::find(held, lane_of(*line)) == held.end();
      consider(*client, *line, may_go, choices);
    }
  }
  std::ranges::sort(choices, std::ranges::greater(),
                    [](const Choice& choice) { return choice.lane.priority; });
  return choices;
}

void Turns::consider(Client& client, JobLine& line, bool may_go,
                     std::vector<Choice>& choices) const {
  const auto lane = lane_of(line);
  auto choice = std::ranges::find(choices, lane, &Choice::lane);
  if (choice == choices.end()) choice = choices.insert(choice, {lane});
  choice->posted += line.posted;
  if (!may_go || line.jobs.empty() || line.is_held_up()) return;
  const bool is_first = choice->line == nullptr ||
                        (choice->client == &client
                             ? line.jobs.front().turn < choice->line->jobs.front().turn
                             : begin_of_turn(client, lane) < begin_of_turn(*choice->client, lane));
  if (is_first) choice->client = &client, choice->line = &line;
}

bool Turns::any_in_line() const noexcept {
  return std::ranges::any_of(clients_, [](const Client* client) {
    return client->waiting.size() > 0 &&
           std::ranges::any_of(client->waiting.lines(), [](const auto& entry) {
             const auto& line = *entry.second;
             return !line.jobs.empty() && !line.is_held_up();
           });
  });
}

}  // namespace heistd
