// ApiFixture: the API on a loop that the test drives, without sockets or threads.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <heist/dump.hpp>
#include <heist/event_loop.hpp>
#include <heistd/api.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "work_helpers.hpp"

namespace heistd {

/// What a connection does with a request's head.
inline Api::Step begin(Api& api, const RequestHead& head, Unchecked unchecked = Unchecked::check) {
  auto routing = api.route(head);
  if (auto* const reply = std::get_if<Reply>(&routing)) return std::move(*reply);
  return api.begin(head, std::get<Routed>(routing), unchecked);
}

/// The test's thread is the network's and the agent's in turn.
class ApiFixture : public testing::Test {
 protected:
  using Json = nlohmann::json;

  struct Answer {
    unsigned status = 0;
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers;
    std::optional<Waiting> waiting;  ///< instead of all that: it waits for a job
    std::shared_ptr<Observation> observation = nullptr;  ///< or for this

    [[nodiscard]] Json json() const { return Json::parse(body); }
    [[nodiscard]] std::string error() const { return json()["error"]["code"]; }
    [[nodiscard]] std::string field() const { return json()["error"].value("field", ""); }
    [[nodiscard]] std::string header(std::string_view name) const {
      const auto found = std::ranges::find(headers, name, [](auto& entry) { return entry.first; });
      return found == headers.end() ? "" : found->second;
    }
  };

  explicit ApiFixture(Limits its_limits = {}, KindTable its_kinds = builtin_kinds())
      : limits(its_limits), kinds(std::move(its_kinds)) {}

  Answer call(std::string_view method, std::string_view target, std::string_view body = {}) {
    RequestHead head{method, target, authorization, body.size(), false};
    head.request_id = request_id;
    auto step = begin(api, head);
    if (std::holds_alternative<Checking>(step)) {
      run_all();
      step = begin(api, head);
    }
    if (auto* reply = std::get_if<Reply>(&step)) return answer(*reply);
    Answer waits;
    if (auto* observing = std::get_if<Observing>(&step)) {
      waits.observation = observing->observation;
      return waits;
    }
    if (auto* waiting = std::get_if<Waiting>(&step)) {
      waits.waiting = std::move(*waiting);
      return waits;
    }
    auto& upload = std::get<Upload>(step);
    feed(upload, body);
    auto end = api.finish(std::move(upload));
    if (auto* reply = std::get_if<Reply>(&end)) return answer(*reply);
    waits.waiting = std::get<Waiting>(std::move(end));
    return waits;
  }

  /// Posts a job that is to be accepted; its path.
  std::string post(std::string_view target, std::string_view body = "bytes") {
    const auto accepted = call("POST", target, body);
    EXPECT_EQ(accepted.status, 202U) << accepted.body;
    return accepted.header("Location");
  }

  std::string state(const std::string& job) { return call("GET", job).json()["state"]; }

  /// Runs one task, or all; then the network hears of what ended.
  void run_one() { loop.run_one(), run_network(); }
  void run_all() { loop.run_until_idle(), run_network(); }
  void run_network() {
    while (step_network()) {
    }
  }
  /// One step of the network; false when there is none to do.
  bool step_network() {
    network.restart();
    return network.poll_one() > 0;
  }

  /// Waits for the reply that a thread makes.
  Answer made(const Answer& waits) {
    while (!waits.observation->reply) {
      network.restart();
      network.run_one();
    }
    return answer(*waits.observation->reply);
  }

  static Answer answer(const Reply& reply) {
    return {reply.status, join(reply.body), reply.headers, {}};
  }

  /// As if the loop were the only agent of a cluster.
  static heist::ClusterMetrics metrics_of(heist::EventLoop& loop) {
    heist::ClusterMetrics metrics;
    metrics.agents.push_back(loop.metrics());
    metrics.levels = metrics.agents[0].levels;
    return metrics;
  }

  Limits limits;
  KindTable kinds;
  std::optional<std::string_view> authorization;
  std::string_view request_id;
  boost::asio::io_context network;
  heist::EventLoop loop{{.clock = heist::LoopClock::virtual_time}};
  ClientTable clients{{{"alice", "a", heist::TaskPriority::user_visible},
                       {"bob", "b", heist::TaskPriority::background}},
                      heist::TaskPriority::user_blocking,
                      limits};
  JobService service{loop.scheduler(), network.get_executor()};
  Observer observer{{.dump = [this] { return heist::dump(loop); },
                     .metrics = [this] { return metrics_of(loop); },
                     .disk = [] { return std::nullopt; }},
                    1,
                    BlockDisposal(loop.scheduler()),
                    network.get_executor()};
  Api api{kinds, clients, service, observer, limits};
  Client& anonymous = **clients.authenticate(std::nullopt);

  static void feed(Upload& upload, std::string_view body) {
    while (!body.empty()) {
      const auto room = upload.room();
      const auto part = body.substr(0, room.size());
      std::ranges::copy(part, room.begin());
      EXPECT_EQ(upload.commit(part.size()), std::nullopt);
      body.remove_prefix(part.size());
    }
  }
};

}  // namespace heistd
