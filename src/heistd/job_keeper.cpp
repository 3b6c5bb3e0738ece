#include <boost/asio/steady_timer.hpp>
#include <heistd/job_keeper.hpp>
#include <heistd/limits.hpp>
#include <heistd/stored_result.hpp>
#include <memory>
#include <new>

namespace heistd {
namespace {

namespace asio = boost::asio;

/// How long it takes to ask a journal again that could not do something.
constexpr std::chrono::seconds retry_pause{1};

/// Something that a journal is asked for until it has done it. It lives as long as that takes.
class Endeavour : public std::enable_shared_from_this<Endeavour> {
 public:
  Endeavour(JobKeeper& keeper, const JobKeeper::Network& network)
      : keeper_(keeper), timer_(network) {}
  Endeavour(const Endeavour&) = delete;
  Endeavour& operator=(const Endeavour&) = delete;
  virtual ~Endeavour() = default;

  /// Asks for what is to come next.
  void go() noexcept {
    try {
      ask();
    } catch (const std::bad_alloc&) {
      go_later();
    }
  }

 protected:
  virtual void ask() = 0;
  /// Gives back what is asked for again later: others may wait for the memory that it takes, and
  /// have some for which this waits.
  virtual void let_go() noexcept {}

  /// Goes on with what the journal gives; if it cannot, asks again later.
  template <class T, class Next>
  void when(const heist::Promise<JournalResult<T>>& answer, Next next) {
    keeper_.when(answer, [self = shared_from_this(), next](JournalResult<T> result) mutable {
      if (!result) return self->go_later();
      next(std::move(*result));
    });
  }
  [[nodiscard]] JobJournal& journal() const noexcept { return keeper_.journal(); }
  [[nodiscard]] bool is_closed() const noexcept { return keeper_.is_closed(); }

 private:
  // NOLINTNEXTLINE(bugprone-exception-escape): a timer that is set anew has no error to throw.
  void go_later() noexcept {
    let_go();
    timer_.expires_after(retry_pause);
    timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
      if (!error) self->go();
    });
  }

  JobKeeper& keeper_;
  asio::steady_timer timer_;
};

/// Counts an attempt, which brings the first block of the payload, and reads the others.
class Opening final : public Endeavour {
 public:
  Opening(JobKeeper& keeper, const JobKeeper::Network& network, JobKeeper::Starting job,
          JobKeeper::Opened opened)
      : Endeavour(keeper, network), job_(std::move(job)), opened_(std::move(opened)) {}

 private:
  void ask() override {
    if (!attempt_) {
      when(journal().start(job_.id, job_.priority),
           [this](std::optional<JobJournal::Started> started) { on_start(std::move(started)); });
    } else if (is_closed()) {
      release();
    } else if (offset_ < job_.bytes) {
      when(journal().read_payload(job_.id, {offset_, block_bytes}),
           [this](std::string block) { on_block(std::move(block)); });
    } else {
      opened_(OpenedJob{*attempt_, std::move(payload_)});
    }
  }
  void let_go() noexcept override {
    payload_ = {};
    offset_ = 0;
  }
  void on_start(std::optional<JobJournal::Started> started) {
    if (!started) return opened_(std::nullopt);
    attempt_ = started->attempt;
    if (started->block.empty()) return go();
    on_block(std::move(started->block));
  }
  void release() {
    when(journal().release(job_.id, *attempt_),
         [this](JobJournal::Effect /*effect*/) { opened_(std::nullopt); });
  }
  void on_block(std::string block) {
    if (block.empty()) return opened_(std::nullopt);  // the job was aborted meanwhile
    offset_ += block.size();
    payload_.push_back(std::move(block));
    go();
  }

  const JobKeeper::Starting job_;
  std::optional<Attempt> attempt_;
  std::uint64_t offset_ = 0;  ///< of the next block
  Blocks payload_;
  JobKeeper::Opened opened_;
};

/// A result, or the error of an attempt that no other one would change.
using StoredEnd = std::variant<StoredResult, StoredError>;

StoredError to_stored(const JobFailure& failure) { return {failure.code(), failure.what()}; }

StoredEnd stored_end(const JobOutcome& outcome) {
  if (const auto* result = std::get_if<std::shared_ptr<const JobResult>>(&outcome)) {
    return to_stored(**result);
  }
  if (const auto* failure = std::get_if<JobFailure>(&outcome)) return to_stored(*failure);
  return StoredError{"out_of_memory", "the server had no memory left for this"};
}

class Ending final : public Endeavour {
 public:
  Ending(JobKeeper& keeper, const JobKeeper::Network& network, JobId id, Attempt attempt,
         StoredEnd end, JobKeeper::Stored stored)
      : Endeavour(keeper, network),
        id_(std::move(id)),
        attempt_(attempt),
        end_(std::move(end)),
        stored_(std::move(stored)) {}

 private:
  void ask() override {
    when(tell(), [this](JobJournal::Effect effect) { stored_(effect); });
  }
  JobJournal::Answer<JobJournal::Ended> tell() const {
    if (const auto* result = std::get_if<StoredResult>(&end_)) {
      return journal().complete(id_, attempt_, *result);
    }
    return journal().fail(id_, attempt_, std::get<StoredError>(end_), std::nullopt);
  }

  const JobId id_;
  const Attempt attempt_;
  const StoredEnd end_;
  const JobKeeper::Stored stored_;
};

/// Gives an attempt back.
class Releasing final : public Endeavour {
 public:
  Releasing(JobKeeper& keeper, const JobKeeper::Network& network, JobId id, Attempt attempt,
            JobKeeper::Released released)
      : Endeavour(keeper, network),
        id_(std::move(id)),
        attempt_(attempt),
        released_(std::move(released)) {}

 private:
  void ask() override {
    when(journal().release(id_, attempt_), [this](JobJournal::Effect /*effect*/) {
      if (released_) released_();
    });
  }

  const JobId id_;
  const Attempt attempt_;
  const JobKeeper::Released released_;
};

/// Changes a job, or not, and reads what has become of it if somebody wants to know.
class Rereading final : public Endeavour {
 public:
  using Change = std::function<JobJournal::Answer<JobJournal::Ended>()>;

  Rereading(JobKeeper& keeper, const JobKeeper::Network& network, JobId id, Change change,
            JobKeeper::Retried retold)
      : Endeavour(keeper, network),
        id_(std::move(id)),
        change_(std::move(change)),
        retold_(std::move(retold)) {}

 private:
  void ask() override {
    if (change_) {
      when(change_(), [this](JobJournal::Effect effect) {
        effect_ = effect;
        change_ = nullptr;
        go();
      });
    } else if (!retold_) {
      return;
    } else if (!is_found_) {
      when(journal().find(id_), [this](std::optional<StoredJob> job) {
        is_found_ = true;
        job_ = std::move(job);
        go();
      });
    } else {
      retold_(job_, effect_);
    }
  }

  const JobId id_;
  Change change_;  ///< until it is done
  const JobKeeper::Retried retold_;
  JobJournal::Effect effect_ = JobJournal::Effect::late;  ///< of the change, once it is done
  bool is_found_ = false;
  std::optional<StoredJob> job_;
};

JobKeeper::Retried told(JobKeeper::Retold retold) {
  if (!retold) return nullptr;
  return [retold = std::move(retold)](const std::optional<StoredJob>& job,
                                      JobJournal::Effect /*effect*/) { retold(job); };
}

}  // namespace

void JobKeeper::open(Starting job, Opened opened) {
  auto told = [this, opened = std::move(opened)](std::optional<OpenedJob> job) {
    --under_way_;
    opened(std::move(job));
  };
  const auto opening = std::make_shared<Opening>(*this, network_, std::move(job), std::move(told));
  ++under_way_;
  opening->go();
}

void JobKeeper::end(const JobId& id, Attempt attempt, const JobOutcome& outcome, Stored stored) {
  auto told = [this, stored = std::move(stored)](JobJournal::Effect effect) {
    --under_way_;
    stored(effect);
  };
  const auto ending =
      std::make_shared<Ending>(*this, network_, id, attempt, stored_end(outcome), std::move(told));
  ++under_way_;
  ending->go();
}

void JobKeeper::retry(const JobId& id, Attempt attempt, const JobFailure& why,
                      std::chrono::milliseconds pause, Retried retried) {
  auto counted = [this, retried = std::move(retried)](const std::optional<StoredJob>& job,
                                                      JobJournal::Effect effect) {
    retried(job, effect);
    --under_way_;
  };
  auto fail = [this, id, attempt, error = to_stored(why), pause] {
    return journal_.fail(id, attempt, error, pause);
  };
  const auto rereading =
      std::make_shared<Rereading>(*this, network_, id, std::move(fail), std::move(counted));
  ++under_way_;
  rereading->go();
}

void JobKeeper::reread(const JobId& id, Retold retold) {
  std::make_shared<Rereading>(*this, network_, id, nullptr, told(std::move(retold)))->go();
}

void JobKeeper::abort(const JobId& id, StoredError why, Retold retold) {
  auto abort = [this, id, why = std::move(why)] { return journal_.abort(id, why); };
  Retried counted;
  if (retold) {
    counted = [this, retold = std::move(retold)](const std::optional<StoredJob>& job,
                                                 JobJournal::Effect /*effect*/) {
      retold(job);
      --under_way_;
    };
  }
  const bool counts = counted != nullptr;
  const auto rereading =
      std::make_shared<Rereading>(*this, network_, id, std::move(abort), std::move(counted));
  if (counts) ++under_way_;
  rereading->go();
}

void JobKeeper::release(const JobId& id, Attempt attempt, Released released) {
  std::make_shared<Releasing>(*this, network_, id, attempt, std::move(released))->go();
}

}  // namespace heistd
