// Which subjects there are, and how a workload is added for a list of them.
#pragma once

#include <string>
#include <utility>

#include "../../subjects/asio.hpp"
#include "../../subjects/boost_fiber.hpp"
#include "../../subjects/heist.hpp"
#include "../../subjects/libevent.hpp"
#include "../../subjects/libuv.hpp"
#include "../../subjects/mutex_deque.hpp"
#include "../../subjects/mutex_swap.hpp"
#include "../../subjects/tbb.hpp"
#include "../registry.hpp"

namespace bench {

template <class... Subjects>
struct SubjectList {};

/// Everything with one worker to which any thread may post.
using PostSubjects =
    SubjectList<HeistSubject, AsioSubject, AsioPoolSubject, TbbSubject, TbbPrioritySubject,
                UvSubject, EventSubject, FiberSubject, MutexDequeSubject, MutexSwapSubject>;

/// Posts from a task of the same subject, in the way that the subject has for it.
template <class Subject, class F>
void post_inside(Subject& subject, F&& f) {
  if constexpr (requires { subject.post_inside(std::forward<F>(f)); }) {
    subject.post_inside(std::forward<F>(f));
  } else {
    subject.post(std::forward<F>(f));
  }
}

/// Adds the workload for each subject; `function` is called as function.template
/// operator()<Subject>(run).
template <class... Subjects, class Function>
void add_for(SubjectList<Subjects...> /*subjects*/, Registry& registry, const Measurement& common,
             Function function) {
  const auto add = [&]<class Subject>() {
    Measurement measurement = common;
    measurement.subject = Subject::name;
    measurement.measure = [function](Run& run) { function.template operator()<Subject>(run); };
    registry.add(std::move(measurement));
  };
  (add.template operator()<Subjects>(), ...);
}

}  // namespace bench
