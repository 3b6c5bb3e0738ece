// Paged: objects that have a page of memory each. It counts how many of them some work touches, so
// that a bound on an operation's cost can be tested without a clock.
#pragma once

#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction is POSIX's
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

namespace heist::support {

/// Pages that may be locked. The first touch of a page unlocks it, and is counted. There is one
/// such object at a time, on one thread.
class CountedPages {
 public:
  explicit CountedPages(std::size_t count) : bytes_(count * page_bytes()) {
    void* const memory =
        ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    begin_ = static_cast<std::byte*>(memory);
  }
  CountedPages(const CountedPages&) = delete;
  CountedPages& operator=(const CountedPages&) = delete;
  ~CountedPages() { ::munmap(begin_, bytes_); }

  [[nodiscard]] void* page(std::size_t number) const { return begin_ + number * page_bytes(); }

  /// How many pages `work()` reads or writes.
  template <class Work>
  std::size_t touched_by(Work&& work) {
    struct sigaction former{};
    begin_counting(former);
    std::forward<Work>(work)();
    ::sigaction(SIGSEGV, &former, nullptr);
    ::mprotect(begin_, bytes_, PROT_READ | PROT_WRITE);
    active = nullptr;
    return touched_;
  }

 private:
  static std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

  void begin_counting(struct sigaction& former) {
    touched_ = 0;
    active = this;
    struct sigaction mine{};
    mine.sa_sigaction = &on_touch;
    mine.sa_flags = SA_SIGINFO;
    ::sigaction(SIGSEGV, &mine, &former);
    ::mprotect(begin_, bytes_, PROT_NONE);
  }
  static void on_touch(int /*signal*/, siginfo_t* info, void* /*context*/) {
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    const auto begin = reinterpret_cast<std::uintptr_t>(active->begin_);
    if (address < begin || address >= begin + active->bytes_) {
      ::signal(SIGSEGV, SIG_DFL);  // a real fault happens again, and ends the program
      return;
    }
    active->touched_ = active->touched_ + 1;
    const std::size_t page = (address - begin) / page_bytes();
    ::mprotect(active->begin_ + page * page_bytes(), page_bytes(), PROT_READ | PROT_WRITE);
  }

  static inline CountedPages* active = nullptr;

  std::size_t bytes_;
  std::byte* begin_ = nullptr;
  volatile std::size_t touched_ = 0;
};

/// Objects that lie in CountedPages.
template <class T>
class Paged {
 public:
  explicit Paged(std::size_t most) : pages_(most), most_(most) {}
  Paged(const Paged&) = delete;
  Paged& operator=(const Paged&) = delete;
  ~Paged() {
    for (T* object : objects_) object->~T();
  }

  template <class... Args>
  T& make(Args&&... args) {
    if (objects_.size() == most_) throw std::length_error("Paged is full");
    T* const made = new (pages_.page(objects_.size())) T(std::forward<Args>(args)...);
    objects_.push_back(made);
    return *made;
  }
  [[nodiscard]] T& operator[](std::size_t index) const { return *objects_[index]; }
  [[nodiscard]] std::size_t size() const { return objects_.size(); }

  /// How many of the objects `work()` reads or writes.
  template <class Work>
  std::size_t touched_by(Work&& work) {
    return pages_.touched_by(std::forward<Work>(work));
  }

 private:
  CountedPages pages_;
  std::size_t most_;
  std::vector<T*> objects_;
};

}  // namespace heist::support
