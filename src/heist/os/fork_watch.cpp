#include "fork_watch.hpp"

#include <pthread.h>

#include <mutex>
#include <system_error>

namespace HEIST_NAMESPACE::detail {

/// A list of all watches. A fork locks it, so the child finds it unchanged by any thread. It is
/// never destroyed, because static agents may end later.
struct ForkWatch::All {
  void add(ForkWatch& watch) noexcept;
  void remove(ForkWatch& watch) noexcept;
  void note_losses() noexcept;
  static void be_told_of_forks();

  std::mutex mutex;
  ForkWatch* first = nullptr;  ///< guarded by mutex
  bool have_lost = false;      ///< written by a process's only thread
};

constinit ForkWatch::All ForkWatch::all;

void ForkWatch::All::be_told_of_forks() {
  const int error = pthread_atfork([] { all.mutex.lock(); }, [] { all.mutex.unlock(); },
                                   [] {
                                     all.note_losses();
                                     all.mutex.unlock();
                                   });
  if (error != 0) throw std::system_error(error, std::generic_category(), "pthread_atfork");
}

void ForkWatch::All::add(ForkWatch& watch) noexcept {
  const std::lock_guard lock(mutex);
  watch.next_ = first;
  if (first != nullptr) first->previous_ = &watch;
  first = &watch;
}

void ForkWatch::All::remove(ForkWatch& watch) noexcept {
  const std::lock_guard lock(mutex);
  (watch.previous_ == nullptr ? first : watch.previous_->next_) = watch.next_;
  if (watch.next_ != nullptr) watch.next_->previous_ = watch.previous_;
}

void ForkWatch::All::note_losses() noexcept {
  have_lost = have_lost || first != nullptr;
  for (ForkWatch* at = first; at != nullptr; at = at->next_) at->note_loss();
}

ForkWatch::ForkWatch(void* subject, void (*when_lost)(void* subject))
    : subject_(subject), when_lost_(when_lost) {
  [[maybe_unused]] static const bool is_told = (All::be_told_of_forks(), true);
  all.add(*this);
}

ForkWatch::~ForkWatch() { all.remove(*this); }

void ForkWatch::note_loss() noexcept {
  is_lost_ = true;
  when_lost_(subject_);
}

bool ForkWatch::has_lost(const void* subject) noexcept {
  if (!all.have_lost) return false;
  const std::lock_guard lock(all.mutex);
  for (const ForkWatch* at = all.first; at != nullptr; at = at->next_) {
    if (at->is_lost_ && at->subject_ == subject) return true;
  }
  return false;
}

}  // namespace HEIST_NAMESPACE::detail
