// Reply: what a request is answered with.
#pragma once

#include <heistd/blocks.hpp>
#include <heistd/refusal.hpp>
#include <string>
#include <utility>
#include <vector>

namespace heistd {

struct Reply {
  unsigned status = 200;
  std::string content_type = "application/json";
  Body body;
  std::vector<std::pair<std::string, std::string>> headers = {};
};

/// `{"error": {"code", "message", "field"?}}`, with the headers that belong to the status.
[[nodiscard]] Reply make_reply(const Refusal& refusal);

}  // namespace heistd
