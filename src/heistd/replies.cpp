#include <heistd/job_text.hpp>
#include <heistd/memory_reserve.hpp>
#include <heistd/replies.hpp>
#include <string>
#include <utility>

namespace heistd {

Reply json_reply(unsigned status, const Json& json) {
  Reply reply;
  reply.status = status;
  reply.body = {dump(json)};
  return reply;
}

Reply job_reply(unsigned status, const Job& job) {
  Reply reply;
  reply.status = status;
  reply.body = MemoryReserve::guard([&job] { return job_line(job); });
  return reply;
}

Reply summary_reply(unsigned status, const JobSummary& job) {
  Reply reply;
  reply.status = status;
  reply.body = {MemoryReserve::guard([&job] { return waiting_line(job); })};
  return reply;
}

Reply with_location(Reply reply, std::string_view id) {
  reply.headers.emplace_back("Location", "/jobs/" + std::string(id));
  return reply;
}

}  // namespace heistd
