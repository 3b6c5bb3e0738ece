// What there is: the kinds of the server, a client's signals, and the events of its jobs.
#include <heistd/api.hpp>
#include <heistd/json.hpp>
#include <heistd/memory_reserve.hpp>
#include <heistd/network_reserve.hpp>
#include <heistd/query.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace heistd {
namespace {

/// `{"NAME": [...]}`: what `make(entry)` gives for each entry.   Errors: std::bad_alloc.
template <class Entries, class Make>
Reply array_reply(std::string_view name, const Entries& entries, Make make) {
  std::string text = "{\"" + std::string(name) + "\":[";
  std::string_view separator;
  for (const auto& entry : entries) {
    text += separator;
    text += MemoryReserve::guard([&] { return line(make(entry)); });
    separator = ",";
  }
  Reply reply;
  reply.body = {text + "]}\n"};
  return reply;
}

}  // namespace

/// A stream is a request that waits, and no client may have all requests wait.
Result<Api::Step> Api::listen(const RequestHead& head, const Target& target, Client& client) {
  if (auto refusal = QueryReader(target).finish()) return std::move(*refusal);
  auto share = client.take_wait();
  if (!share) return share.error();
  clients_.has_listeners = true;  // before events may be kept for them
  Listening listening{client.events.listen(head.last_event_id)};
  listening.stream->share = std::move(*share);
  return Step(std::move(listening));
}

Reply Api::kinds_reply(const Client& client) const {
  const NetworkReserve::Withheld only_what_is_left;
  return array_reply("kinds", kinds_.all(),
                     [&client](const auto& entry) { return kind_json(entry.second, client); });
}

Reply Api::signals_reply(const Client& client) {
  const NetworkReserve::Withheld only_what_is_left;
  return array_reply("signals", client.signals.all(),
                     [](const auto& entry) { return signal_json(entry.first, *entry.second); });
}

}  // namespace heistd
