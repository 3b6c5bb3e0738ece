#include <heistd/json.hpp>
#include <heistd/memory_reserve.hpp>
#include <heistd/reply.hpp>

namespace heistd {

Reply make_reply(const Refusal& refusal) {
  Reply reply;
  reply.status = refusal.status;
  reply.body = MemoryReserve::guard([&] { return Body{dump(error_json(refusal))}; });
  if (refusal.status == 401) reply.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (refusal.status == 429 || refusal.status == 503) {
    reply.headers.emplace_back("Retry-After", std::to_string(refusal.retry_after.count()));
  }
  if (!refusal.allow.empty()) reply.headers.emplace_back("Allow", refusal.allow);
  return reply;
}

}  // namespace heistd
