// The only user of Boost.URL, whose sources are compiled here.
#include <boost/url/src.hpp>
//
#include <algorithm>
#include <boost/url/encode.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/rfc/pchars.hpp>
#include <boost/url/url_view.hpp>
#include <heistd/target.hpp>

namespace heistd {
namespace {

namespace urls = boost::urls;

/// As browsers do: what the query should have encoded, such as "[", is taken for itself.
std::string encode_query(std::string_view text) {
  static constexpr auto plain = urls::pchars + urls::grammar::lut_chars("/?");
  const auto query = std::min(text.find('?'), text.size());
  std::string encoded(text.substr(0, query));
  for (const char& character : text.substr(query)) {
    const std::string_view piece(&character, 1);
    encoded += plain(static_cast<unsigned char>(character)) || character == '%'
                   ? std::string(piece)
                   : urls::encode(piece, plain);
  }
  return encoded;
}

urls::result<urls::url_view> parse_url(std::string_view text) {
  return text.starts_with('/') ? urls::parse_origin_form(text) : urls::parse_absolute_uri(text);
}

std::string decode(urls::pct_string_view text, bool plus_is_space) {
  urls::encoding_opts options;
  options.space_as_plus = plus_is_space;
  std::string decoded;
  text.decode(options, urls::string_token::assign_to(decoded));
  return decoded;
}

Refusal bad_target() {
  return {400, "bad_target", "the request target is no valid path and query"};
}

}  // namespace

Result<Target> parse_target(std::string_view text) {
  const auto encoded = encode_query(text);
  const auto url = parse_url(encoded);
  if (!url || (url->has_scheme() && url->scheme_id() != urls::scheme::http)) return bad_target();
  Target target;
  for (const auto segment : url->encoded_segments()) target.path.push_back(decode(segment, false));
  for (const auto param : url->encoded_params()) {
    target.query.emplace_back(decode(param.key, true), decode(param.value, true));
  }
  return target;
}

}  // namespace heistd
