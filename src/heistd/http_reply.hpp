// How a Reply becomes an HTTP message, and a parser's error a Refusal.
#pragma once

#include <algorithm>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/message.hpp>
#include <heistd/blocks.hpp>
#include <heistd/reply.hpp>
#include <optional>
#include <vector>

namespace heistd {

/// A Beast body that is sent straight from shared blocks, all of them at once.
struct BlocksBody {
  using value_type = Body;

  [[nodiscard]] static std::uint64_t size(const value_type& body) noexcept { return body.size(); }

  class writer {  // NOLINT(readability-identifier-naming): Beast's name for it
   public:
    using const_buffers_type = std::vector<boost::asio::const_buffer>;

    template <bool is_request, class Fields>
    writer(const boost::beast::http::header<is_request, Fields>& /*header*/, const value_type& body)
        : body_(body) {}

    void init(boost::beast::error_code& error) { error = {}; }

    boost::optional<std::pair<const_buffers_type, bool>> get(boost::beast::error_code& error) {
      error = {};
      const_buffers_type buffers;
      const auto add = [&](const std::string& part) {
        if (!part.empty()) buffers.emplace_back(part.data(), part.size());
      };
      add(body_.before);
      if (body_.shared) std::ranges::for_each(*body_.shared, add);
      add(body_.after);
      return std::pair(std::move(buffers), false);
    }

   private:
    const Body& body_;
  };
};

using HttpResponse = boost::beast::http::response<BlocksBody>;

[[nodiscard]] HttpResponse make_response(const Reply& reply, unsigned version, bool keep_alive);

/// What to tell a client whose request could not be read; nothing when there is nobody to tell.
[[nodiscard]] std::optional<Refusal> refusal_of(const boost::beast::error_code& error);

}  // namespace heistd
