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
                                     "' is neither http://HOST:PORT nor unix:/PATH; give one of "
                                     "them by --server or in HEIST_SERVER");
}

std::string part_of(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, 0) != CURLUE_OK) return {};
  const std::unique_ptr<char, decltype(&curl_free)> owner(text, &curl_free);
  return text;
}

bool names_a_server(CURLU* url) {
  return part_of(url, CURLUPART_SCHEME) == "http" && part_of(url, CURLUPART_PATH) == "/" &&
         part_of(url, CURLUPART_USER).empty() && part_of(url, CURLUPART_QUERY).empty() &&
         part_of(url, CURLUPART_FRAGMENT).empty();
}

}  // namespace

Address parse_address(const std::string& text) {
  if (text.starts_with(unix_prefix)) {
    const auto path = text.substr(unix_prefix.size());
    if (!path.starts_with('/')) refuse_address(text);
    return {text, "http://localhost", path};
  }
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url(curl_url(), &curl_url_cleanup);
  const auto error = curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0);
  if (error != CURLUE_OK || !names_a_server(url.get())) refuse_address(text);
  return {text, text.ends_with('/') ? text.substr(0, text.size() - 1) : text, ""};
}

}  // namespace heistctl
