#include <curl/urlapi.h>

#include <heistctl/address.hpp>
#include <heistctl/failure.hpp>
#include <memory>
#include <string_view>

namespace heistctl {
namespace {

constexpr std::string_view unix_prefix = "unix:";

[[noreturn]] void refuse_address(const std::string& text) {
  throw Failure(ExitCode::usage, "the server '" + text +
                                     "' is none of http://HOST:PORT, https://HOST:PORT and "
                                     "unix:/PATH; give one of them by --server or in "
                                     "HEIST_SERVER");
}

std::string part_of(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, 0) != CURLUE_OK) return {};
  const std::unique_ptr<char, decltype(&curl_free)> owner(text, &curl_free);
  return text;
}

bool has_tls(CURLU* url) { return part_of(url, CURLUPART_SCHEME) == "https"; }

bool names_a_server(CURLU* url) {
  return (has_tls(url) || part_of(url, CURLUPART_SCHEME) == "http") &&
         part_of(url, CURLUPART_PATH) == "/" && part_of(url, CURLUPART_USER).empty() &&
         part_of(url, CURLUPART_QUERY).empty() && part_of(url, CURLUPART_FRAGMENT).empty();
}

}  // namespace

Address parse_address(const std::string& text) {
  if (text.starts_with(unix_prefix)) {
    const auto path = text.substr(unix_prefix.size());
    if (!path.starts_with('/')) refuse_address(text);
    return {.text = text, .url = "http://localhost", .unix_socket = path};
  }
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url(curl_url(), &curl_url_cleanup);
  const auto error = curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0);
  if (error != CURLUE_OK || !names_a_server(url.get())) refuse_address(text);
  return {.text = text,
          .url = text.ends_with('/') ? text.substr(0, text.size() - 1) : text,
          .unix_socket = {},
          .has_tls = has_tls(url.get())};
}

}  // namespace heistctl
