// What models are written with.
//
// A model is a program of a few virtual threads on the shipped code. HEIST_MODEL_PROGRAM(name,
// bound) { ... } defines one; its body is thread 0. It is run in all executions that have at most
// `bound` preemptions, each time from its start. After join_all() has said that a thread is frozen,
// it returns.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

namespace heist::model {

/// Starts a virtual thread.
void spawn(std::function<void()> body);
/// Waits for all threads the caller has spawned. False: a thread of the program is frozen, and what
/// it was to do is not done.
bool join_all();
/// Ends the execution, and the search, when it does not hold.
void check(bool holds, std::string_view promise);

/// While it lives, what its thread does is not watched: for notes that outlast the execution.
class Unwatched {
 public:
  Unwatched();
  ~Unwatched();
  Unwatched(const Unwatched&) = delete;
  Unwatched& operator=(const Unwatched&) = delete;
};

/// While it lives, its thread is in this operation of the library, by its key in docs/progress.md:
/// --freeze tells how many of the places where it freezes a thread are in it.
class Operation {
 public:
  explicit Operation(const char* key);
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

 private:
  const char* outer_;
};

struct Program {
  std::string_view name;
  int bound;
  void (*body)();
  bool blocks;
};

/// All models of the executable, in no particular order.
std::vector<Program>& programs();

struct Registered {
  explicit Registered(const Program& program) { programs().push_back(program); }
};

}  // namespace heist::model

/// A model in which no thread ever waits for another one but by join_all(): it is also run with
/// each of its threads frozen at each step.
#define HEIST_MODEL_PROGRAM(name, bound) HEIST_ANY_MODEL_PROGRAM(name, bound, false)
/// One in which threads sleep until others act.
#define HEIST_BLOCKING_MODEL_PROGRAM(name, bound) HEIST_ANY_MODEL_PROGRAM(name, bound, true)

#define HEIST_ANY_MODEL_PROGRAM(name, bound, blocks)             \
  static void name();                                            \
  static const heist::model::Registered registered_##name(       \
      heist::model::Program{#name, (bound), &(name), (blocks)}); \
  static void name()
