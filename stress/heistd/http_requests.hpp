// Random requests to heistd: good ones, and what becomes of them when they are damaged.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "../support/stress_run.hpp"

namespace heistd {

using heist::stress::Random;

inline std::string_view any_of(Random& random, std::initializer_list<std::string_view> texts) {
  return texts.begin()[random.below(texts.size())];
}

/// Makes requests; those of jobs mostly name one that exists.
class HttpRequests {
 public:
  explicit HttpRequests(Random& random) noexcept : random_(random) {}

  /// From a reply.
  void note_job(std::string path) {
    jobs_.push_back(std::move(path));
    if (jobs_.size() > most_jobs) jobs_.erase(jobs_.begin());
  }

  /// One or several, all good, in one row.
  std::string good() {
    std::string bytes;
    for (auto left = 1 + random_.below(4); left > 0; --left) bytes += request();
    return bytes;
  }
  /// Damaged in a few places.
  std::string damaged() {
    auto bytes = good();
    for (auto left = 1 + random_.below(6); left > 0; --left) damage(bytes);
    return bytes;
  }

 private:
  static constexpr std::size_t most_jobs = 32;
  static constexpr std::size_t body_bytes = 40'000;

  std::string request() {
    switch (random_.below(6)) {
      case 0:
        return with_head("GET", std::string(any_of(random_, {"/healthz", "/stats", "/", "/jobs"})));
      case 1:
        return with_head(any_of(random_, {"GET", "HEAD", "DELETE"}), job());
      case 2:
        return with_head(any_of(random_, {"PUT", "DELETE"}), signal());
      default:
        return upload();
    }
  }
  std::string job() {
    static constexpr std::string_view none = "/jobs/0123456789abcdef0123456789abcdef";
    std::string path(jobs_.empty() ? none : jobs_[random_.below(jobs_.size())]);
    return random_.one_in(3) ? path + "/result" : path;
  }
  std::string signal() {
    std::string path = "/signals/" + name();
    return random_.one_in(2) ? path + "?priority=" + priority() : path;
  }
  std::string name() { return std::string(any_of(random_, {"a", "b.c-d_e", "0"})); }
  std::string priority() {
    return std::string(any_of(random_, {"background", "user-visible", "user-blocking"}));
  }

  std::string upload() {
    const auto kind = any_of(random_, {"digest", "compress", "search"});
    auto target = "/jobs/" + std::string(kind) + "?";
    if (kind == "search") target += "pattern=" + pattern() + "&";
    if (random_.one_in(3)) target += "priority=" + priority() + "&";
    if (random_.one_in(3)) target += "signal=" + name() + "&";
    if (random_.one_in(4)) target += "delay=" + std::to_string(random_.below(20)) + "&";
    target += any_of(random_, {"wait=0", "wait=1"});
    const auto body = random_body();
    if (random_.one_in(3)) {
      return with_head("POST", target, "Transfer-Encoding: chunked\r\n") + in_chunks(body);
    }
    std::string fields = "Content-Length: " + std::to_string(body.size()) + "\r\n";
    if (random_.one_in(8)) fields += "Expect: 100-continue\r\n";
    return with_head("POST", target, fields) + body;
  }
  std::string pattern() {
    return std::string(
        any_of(random_, {"a", "%5Ba-z%5D%2B", "a(b", "(-{0,30}){127}", "%5CpL", "^$"}));
  }
  std::string random_body() {
    std::string body(random_.one_in(4) ? random_.below(body_bytes) : random_.below(50), '\0');
    std::ranges::generate(body, [this] { return "ab \n\xc3\r\0"[random_.below(7)]; });
    return body;
  }
  std::string in_chunks(std::string_view body) {
    std::string bytes;
    while (!body.empty()) {
      const auto part = body.substr(0, 1 + random_.below(body.size()));
      std::array<char, 20> size{};
      std::snprintf(size.data(), size.size(), "%zx", part.size());
      bytes.append(size.data())
          .append(random_.one_in(8) ? ";a=b\r\n" : "\r\n")
          .append(part)
          .append("\r\n");
      body.remove_prefix(part.size());
    }
    return bytes + "0\r\n\r\n";
  }
  std::string with_head(std::string_view method, const std::string& target,
                        const std::string& fields = {}) {
    std::string head(method);
    head += " " + target + (random_.one_in(6) ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n");
    head += any_of(random_, {"Host: localhost\r\n", "Host: 127.0.0.1:80\r\n", "Host: [::1]\r\n",
                             "host: localhost\r\n"});
    head += any_of(random_, {"", "", "", "Authorization: Bearer secret\r\n",
                             "Authorization: Bearer wrong\r\n", "Connection: close\r\n",
                             "Origin: http://elsewhere\r\n", "Sec-Fetch-Site: same-origin\r\n"});
    return head + fields + "\r\n";
  }

  void damage(std::string& bytes) {
    // Most of it in heads, which are short.
    const auto reach = random_.one_in(4) ? bytes.size() : std::min<std::size_t>(bytes.size(), 300);
    const auto at = random_.below(reach + 1);
    const auto size = std::min<std::size_t>(bytes.size() - at, 1 + random_.below(20));
    switch (random_.below(8)) {
      case 0:
        if (at < bytes.size()) bytes[at] = static_cast<char>(random_());
        break;
      case 1:
        bytes.erase(at, size);
        break;
      case 2:
        bytes.insert(at, bytes.substr(at, size));
        break;
      case 3:
        bytes.insert(at, any_of(random_, {"\r\n", "\n", "\r", " ", ":", "%", "\r\n\r\n",
                                          std::string_view("\0", 1), "\xff"}));
        break;
      case 4:
        replace_number(bytes, at);
        break;
      case 5:
        bytes.insert(at, std::string(random_.below(9000), any_of(random_, {"a", "\r", "%"})[0]));
        break;
      case 6:
        bytes.insert(at, request());
        break;
      default:
        bytes.resize(at);
    }
  }
  void replace_number(std::string& bytes, std::size_t at) {
    static constexpr std::string_view digits = "0123456789";
    const auto first = bytes.find_first_of(digits, at);
    if (first == std::string::npos) return;
    const auto end = std::min(bytes.size(), bytes.find_first_not_of(digits, first));
    bytes.replace(first, end - first,
                  any_of(random_, {"0", "-1", "1", "4294967296", "18446744073709551615",
                                   "18446744073709551616", "99999999999999999999999999",
                                   "ffffffffffffffff", "2147483648"}));
  }

  Random& random_;
  std::vector<std::string> jobs_;
};

}  // namespace heistd
