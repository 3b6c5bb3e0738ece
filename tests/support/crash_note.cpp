#include "support/crash_note.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

// A function of the sanitizers. Other builds do not have it.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());  // NOLINT

namespace heist::test {

namespace {

std::array<char, 101> text;
std::size_t length = 0;

void print() { static_cast<void>(!write(STDERR_FILENO, text.data(), length)); }

extern "C" void print_on_signal(int signal) {
  print();
  static_cast<void>(std::signal(signal, SIG_DFL));
  static_cast<void>(std::raise(signal));
}

void install() {
  static_cast<void>(std::signal(SIGABRT, print_on_signal));
  if (__sanitizer_set_death_callback != nullptr) return __sanitizer_set_death_callback(print);
  static_cast<void>(std::signal(SIGSEGV, print_on_signal));
}

}  // namespace

void note_for_crashes(std::string_view note) {
  if (length == 0) install();
  length = std::min(note.size(), text.size() - 1);
  std::copy_n(note.begin(), length, text.begin());
  text[length++] = '\n';
}

}  // namespace heist::test
