// handler_kind: a Kind whose jobs a handler does.
#pragma once

#include <heist/jobs/server.hpp>
#include <heistd/kind_table.hpp>
#include <source_location>
#include <string>

namespace heistd {

/// Adds a kind whose jobs call the handler. `where` is the place that dumps show.
///
/// Errors: std::invalid_argument, as KindTable::add().
void add_handler_kind(KindTable& kinds, std::string name, heist::jobs::Handler handler,
                      heist::jobs::KindOptions options, std::source_location where);

}  // namespace heistd
