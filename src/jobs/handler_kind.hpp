// make_handler_kind: a Kind whose jobs a handler does.
#pragma once

#include <heist/jobs/server.hpp>
#include <heistd/kind.hpp>
#include <source_location>
#include <string>

namespace heistd {

/// A kind whose jobs call the handler. `where` is the place that dumps show.
[[nodiscard]] Kind make_handler_kind(std::string name, heist::jobs::Handler handler,
                                     heist::jobs::KindOptions options, std::source_location where);

}  // namespace heistd
