#include <curl/curl.h>

#include <heistctl/target.hpp>
#include <memory>
#include <new>

namespace heistctl {
namespace {

std::string escaped(std::string_view text) {
  if (text.empty()) return {};  // whose length libcurl would ask for
  const std::unique_ptr<char, decltype(&curl_free)> owner(
      curl_easy_escape(nullptr, text.data(), static_cast<int>(text.size())), &curl_free);
  if (!owner) throw std::bad_alloc();
  return owner.get();
}

}  // namespace

Target& Target::part(std::string_view text) {
  text_ += '/' + escaped(text);
  return *this;
}

Target& Target::parameter(std::string_view name, std::string_view value) {
  text_ += has_query_ ? '&' : '?';
  has_query_ = true;
  text_ += escaped(name) + '=' + escaped(value);
  return *this;
}

Target job_target(std::string_view id) {
  Target target("/jobs");
  target.part(id);
  return target;
}

}  // namespace heistctl
