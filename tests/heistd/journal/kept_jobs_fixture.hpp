// KeptJobs: the API with a journal, without sockets, disks or threads.
#pragma once

#include <heistd/job_keeper.hpp>
#include <string>
#include <utility>
#include <variant>

#include "heistd/api_fixture.hpp"
#include "journal_fixture.hpp"

namespace heistd {

class KeptJobs : public ApiFixture {
 protected:
  explicit KeptJobs(Limits its_limits = {}) : ApiFixture(its_limits) {}

  using Outcome = Api::Outcome;

  /// What a request comes to before the journal has answered.
  Outcome begin(std::string_view method, std::string_view target, std::string_view body = {}) {
    RequestHead head{method, target, authorization, body.size(), false};
    if (!key.empty()) head.idempotency_key = key;
    auto step = kept_api.begin(head);
    if (std::holds_alternative<Checking>(step)) {
      run_all();
      step = kept_api.begin(head);
    }
    if (auto* reply = std::get_if<Reply>(&step)) return std::move(*reply);
    if (auto* storing = std::get_if<Storing>(&step)) return std::move(*storing);
    auto& upload = std::get<Upload>(step);
    feed(upload, body);
    return kept_api.finish(std::move(upload));
  }
  Answer end(Outcome outcome) {
    while (const auto* storing = std::get_if<Storing>(&outcome)) {
      run_network();
      auto next = storing->then();
      outcome = std::move(next);
    }
    return answer(std::get<Reply>(outcome));
  }
  Answer ask(std::string_view method, std::string_view target, std::string_view body = {}) {
    return end(begin(method, target, body));
  }
  /// The id of a job that was posted.
  JobId post_kept(std::string_view target) {
    const auto accepted = ask("POST", target, "bytes");
    EXPECT_EQ(accepted.status, 202U) << accepted.body;
    return accepted.header("Location").substr(std::string_view("/jobs/").size());
  }
  /// Lets agents and network go on until neither has anything to do.
  void run_kept() {
    for (int turn = 0; turn < 8; ++turn) run_all();
  }
  std::string state_of(const JobId& id) { return ask("GET", "/jobs/" + id).json()["state"]; }
  StoredJob stored(const JobId& id) { return said(journal.find(id)).value(); }

  std::string key;
  MemoryJournal journal;
  JobKeeper keeper{journal, network.get_executor()};
  JobService kept{loop.scheduler(), network.get_executor(), &keeper};
  Api kept_api{kinds, clients, kept, observer, limits};
};

}  // namespace heistd
