#include <heist/detail/access.hpp>
#include <jobs/handler_kind.hpp>
#include <jobs/handler_work.hpp>
#include <mutex>
#include <set>
#include <utility>

namespace heistd {
namespace {

/// A label's text lasts as long as the program, as those who look at it may come at any time.
heist::TaskLabel lasting_label(const std::string& name, std::source_location where) {
  static std::mutex mutex;
  // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): never destroyed, see above
  static auto& names = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  return heist::detail::Access::make<heist::TaskLabel>(where, names.insert(name).first->c_str());
}

}  // namespace

Kind make_handler_kind(std::string name, heist::jobs::Handler handler,
                       heist::jobs::KindOptions options, std::source_location where) {
  Kind kind;
  kind.label = lasting_label(name, where);
  kind.name = std::move(name);
  kind.parameters = std::move(options.parameters);
  kind.working_bytes = [memory = options.memory](std::size_t /*body_bytes*/) { return memory; };
  kind.make_work = [handler = std::move(handler),
                    most = options.max_result_bytes](JobInput input) -> std::unique_ptr<JobWork> {
    return std::make_unique<HandlerWork>(handler, most, std::move(input));
  };
  return kind;
}

}  // namespace heistd
