// KeptJobs: the API with a journal, without sockets, disks or threads.
#pragma once

#include <algorithm>
#include <heistd/job_keeper.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "heistd/api_fixture.hpp"
#include "journal_fixture.hpp"

namespace heistd {

/// Cannot do some of what it is asked for, or gives first starts away, if it is told to.
struct TestedJournal : MemoryJournal {
  Answer<JobJournal::Ended> abort(JobId id, StoredError why) override {
    if (fails-- > 0) {
      return Answer<JobJournal::Ended>::resolved(JournalError{JournalFault::disk_full, {}});
    }
    return MemoryJournal::abort(std::move(id), std::move(why));
  }
  Answer<JobJournal::Ended> fail(JobId id, Attempt attempt, StoredError error,
                                 std::optional<std::chrono::milliseconds> retry_after) override {
    auto answer = MemoryJournal::fail(id, attempt, std::move(error), retry_after);
    if (forgets_dead) said(purge(id));
    return answer;
  }
  Answer<JobJournal::Ended> drop_signal(std::string client, std::string name) override {
    if (keeps_signals) {
      return Answer<JobJournal::Ended>::resolved(JournalError{JournalFault::disk_full, {}});
    }
    return MemoryJournal::drop_signal(std::move(client), std::move(name));
  }
  Answer<std::optional<Started>> start(JobId id, heist::TaskPriority priority) override {
    started.push_back(id);
    return MemoryJournal::start(std::move(id), priority);
  }
  Answer<std::vector<StoredJob>> load_ended(std::string client, EndPlace before,
                                            std::size_t most) override {
    auto answer = MemoryJournal::load_ended(std::move(client), before, most);
    loaded_ended += said(answer).size();
    return answer;
  }
  Answer<std::string> read_result(JobId id, ByteRange range) override {
    largest_read = std::max(largest_read, range.size);
    return MemoryJournal::read_result(std::move(id), range);
  }
  std::optional<FirstStarted> take_first_start(const JobId& id) override {
    if (!starts_at_once) return std::nullopt;
    return FirstStarted{said(read_payload(id, {0, block_bytes})),
                        std::make_unique<First>(*this, id)};
  }

  int fails = 0;
  bool forgets_dead = false;   ///< as if it had no room for them
  bool keeps_signals = false;  ///< that are to be dropped, as if the disk were full
  bool starts_at_once = false;
  bool is_full = false;            ///< first starts cannot be counted
  std::vector<JobId> started;      ///< in this order
  std::size_t loaded_ended = 0;    ///< records of finished jobs
  std::uint64_t largest_read = 0;  ///< of a result, at once

 private:
  struct First : FirstAttempt {
    First(TestedJournal& its_journal, JobId its_id) : journal(its_journal), id(std::move(its_id)) {}
    void count() override {
      if (journal.is_full) throw std::runtime_error("the disk is full");
      said(journal.start(id, any_priority));
    }
    void take_back() noexcept override {
      std::erase(journal.started, id);
      said(journal.release(id, first_attempt));
    }

    TestedJournal& journal;
    const JobId id;
  };
};

class KeptJobs : public ApiFixture {
 protected:
  explicit KeptJobs(Limits its_limits = {}) : ApiFixture(its_limits) {}

  using Outcome = Api::Outcome;

  /// What a request comes to before the journal has answered.
  Outcome begin(std::string_view method, std::string_view target, std::string_view body = {}) {
    RequestHead head{method, target, authorization, body.size(), false};
    if (!key.empty()) head.idempotency_key = key;
    auto step = heistd::begin(kept_api, head);
    if (const auto* const checking = std::get_if<Checking>(&step)) {
      const auto refusal = checking->refusal;
      run_all();
      if (refusal && *refusal) return make_reply(**refusal);
      step = heistd::begin(kept_api, head, Unchecked::accept);
    }
    if (auto* reply = std::get_if<Reply>(&step)) return std::move(*reply);
    if (auto* storing = std::get_if<Storing>(&step)) return std::move(*storing);
    auto& upload = std::get<Upload>(step);
    feed(upload, body);
    return kept_api.finish(std::move(upload));
  }
  Answer end(const Outcome& outcome) {
    if (const auto* reply = std::get_if<Reply>(&outcome)) return whole(*reply);
    run_network();
    return end(std::get<Storing>(outcome).then());
  }
  /// With what is read while it is sent.
  Answer whole(const Reply& reply) {
    auto all = answer(reply);
    while (reply.rest && reply.rest->bytes() > 0) {
      const auto next = reply.rest->next();
      run_network();
      all.body += next.get().value();
    }
    return all;
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
  std::vector<JobId> post_many(std::size_t count, std::string_view target) {
    std::vector<JobId> ids;
    for (std::size_t i = 0; i < count; ++i) ids.push_back(post_kept(target));
    return ids;
  }
  /// Lets agents and network go on until neither has anything to do.
  void run_kept() {
    for (int turn = 0; turn < 8; ++turn) run_all();
  }
  /// A job that an earlier server has begun, and this one has posted.
  void post_suspect() {
    auto suspect = new_job(1);
    suspect.client = anonymous.name;
    suspect.max_attempts = 3;
    said(journal.submit(suspect));
    said(journal.start(suspect.id, any_priority));
    said(journal.reclaim([](Attempt) { return std::chrono::milliseconds(0); }));
    kept.restore(anonymous, *kinds.find("digest"), stored(suspect.id));
    kept.post_waiting(anonymous);
    run_network();
    ASSERT_NE(anonymous.jobs.find(suspect.id), nullptr);
  }
  std::string state_of(const JobId& id) { return ask("GET", "/jobs/" + id).json()["state"]; }
  StoredJob stored(const JobId& id) { return said(journal.find(id)).value(); }

  /// Has a job run to its end, of which the network has not heard.
  void run_to_its_end(const JobId& id) {
    run_all();
    loop.run_until_idle();
    EXPECT_EQ(stored(id).state, StoredState::running);
  }
  static void fill_signals(Client& client, std::size_t names) {
    for (std::size_t i = 0; i < names; ++i) {
      client.signals.restore("s" + std::to_string(i), heist::TaskPriority::background);
    }
  }

  std::string key;
  TestedJournal journal;
  JobKeeper keeper{journal, network.get_executor()};
  JobService kept{loop.scheduler(), network.get_executor(), &keeper};
  Api kept_api{kinds, clients, kept, observer, limits};
};

}  // namespace heistd
