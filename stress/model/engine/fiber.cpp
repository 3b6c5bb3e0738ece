#include "fiber.hpp"

#include <cxxabi.h>
#include <link.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <algorithm>

#include <cstdint>
#include <cstring>
#include <new>
#include <span>

namespace heist::model {

namespace {

constexpr std::size_t stack_bytes = std::size_t{512} << 10;

/// The thread-local variables of the program itself (not of its shared libraries).
struct ThreadLocals {
  std::span<std::byte> variables;      ///< of the one real thread
  std::span<const std::byte> initial;  ///< what the first of them start with; the rest is zero
};

int find_thread_locals(dl_phdr_info* info, std::size_t /*size*/, void* result) {
  auto& found = *static_cast<ThreadLocals*>(result);
  for (const auto& header : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
    if (header.p_type != PT_TLS) continue;
    found.variables = {static_cast<std::byte*>(info->dlpi_tls_data), header.p_memsz};
    found.initial = {reinterpret_cast<const std::byte*>(info->dlpi_addr + header.p_vaddr),
                     header.p_filesz};
  }
  return 1;  // the program comes first; no further object is wanted
}

const ThreadLocals& thread_locals() {
  static const ThreadLocals found = [] {
    ThreadLocals result;
    dl_iterate_phdr(find_thread_locals, &result);
    return result;
  }();
  return found;
}

}  // namespace

Fiber::Fiber() : thread_locals_(thread_locals().variables.size()) {}

Fiber::Fiber(Body body) : body_(body), thread_locals_(thread_locals().variables.size()) {
  void* memory =
      mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  stack_ = static_cast<std::byte*>(memory);
  restart();
}

Fiber::~Fiber() {
  if (stack_ != nullptr) munmap(stack_, stack_bytes);
}

void Fiber::forget_thread_locals() {
  const auto initial = thread_locals().initial;
  std::fill(thread_locals_.begin(), thread_locals_.end(), std::byte{0});
  std::copy(initial.begin(), initial.end(), thread_locals_.begin());
}

bool Fiber::is_thread_local(const void* address) noexcept {
  const auto variables = thread_locals().variables;
  return address >= variables.data() && address < variables.data() + variables.size();
}

void Fiber::restart() {
  forget_thread_locals();
  exceptions_ = {};
  ucontext_t start;
  getcontext(&start);
  start.uc_stack.ss_sp = stack_;
  start.uc_stack.ss_size = stack_bytes;
  start.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  // makecontext passes ints.
  makecontext(&start, reinterpret_cast<void (*)()>(&Fiber::enter), 2,
              static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
  if (_setjmp(creator_) == 0) setcontext(&start);
}

void Fiber::enter(unsigned high, unsigned low) {
  auto& self = *reinterpret_cast<Fiber*>(std::uintptr_t{high} << 32 | low);
  if (_setjmp(self.at_) == 0) _longjmp(self.creator_, 1);
  for (;;) self.body_();
}

void Fiber::leave_to(Fiber& to) {
  if (_setjmp(at_) == 0) _longjmp(to.at_, 1);
}

void Fiber::resume(Fiber& from) {
  const auto variables = thread_locals().variables;
  void* exceptions = abi::__cxa_get_globals();
  std::memcpy(from.thread_locals_.data(), variables.data(), variables.size());
  std::memcpy(&from.exceptions_, exceptions, sizeof exceptions_);
  std::memcpy(variables.data(), thread_locals_.data(), variables.size());
  std::memcpy(exceptions, &exceptions_, sizeof exceptions_);
  from.leave_to(*this);
}

}  // namespace heist::model
