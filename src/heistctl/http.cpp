#include <curl/curl.h>

#include <array>
#include <exception>
#include <heistctl/failure.hpp>
#include <heistctl/http.hpp>
#include <heistctl/interrupt.hpp>
#include <heistctl/render.hpp>
#include <heistctl/status_line.hpp>
#include <new>
#include <utility>

namespace heistctl {
namespace {

constexpr std::size_t most_kept = std::size_t{16} * 1024 * 1024;
/// A body that would be refused is not sent from this size on: the server is asked before.
constexpr std::uint64_t asks_first = std::uint64_t{64} * 1024;
/// A transfer of so many bytes may take a while.
constexpr curl_off_t shown_from = curl_off_t{1024} * 1024;

/// What the callbacks of one request share. libcurl is C: no exception may pass it.
struct Exchange {
  Exchange(CURL* handle, const Request& asked) : curl(handle), request(asked) {}

  CURL* curl;
  const Request& request;
  Response response;
  std::exception_ptr failure;
  bool has_begun = false;
  StatusLine line{2};

  template <class Step>
  bool guarded(Step step) noexcept {
    try {
      step();
      return true;
    } catch (...) {
      failure = std::current_exception();
      return false;
    }
  }

  [[nodiscard]] long status() const {
    long code = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code);
    return code;
  }
  void begin() {
    if (std::exchange(has_begun, true)) return;
    const char* type = nullptr;
    curl_easy_getinfo(curl, CURLINFO_CONTENT_TYPE, &type);
    request.sink->begin(type == nullptr ? "" : type);
  }
  void take(std::string_view piece) {
    if (request.sink == nullptr || status() != 200) {
      if (response.body.size() + piece.size() > most_kept) throw std::bad_alloc();
      response.body += piece;
      return;
    }
    begin();
    request.sink->write(piece);
  }
};

std::size_t take_piece(char* data, std::size_t /*one*/, std::size_t size, void* exchange) {
  auto& self = *static_cast<Exchange*>(exchange);
  return self.guarded([&] { self.take({data, size}); }) ? size : size + 1;
}

std::size_t give_piece(char* to, std::size_t one, std::size_t size, void* exchange) {
  auto& self = *static_cast<Exchange*>(exchange);
  std::size_t count = 0;
  const bool is_read = self.guarded([&] { count = self.request.upload->read(to, one * size); });
  return is_read ? count : CURL_READFUNC_ABORT;
}

int go_to(void* exchange, curl_off_t position, int /*from_the_beginning*/) {
  auto& self = *static_cast<Exchange*>(exchange);
  const bool is_there =
      self.guarded([&] { self.request.upload->seek(static_cast<std::uint64_t>(position)); });
  return is_there ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

/// libcurl calls it once a second at least.
int look_around(void* exchange, curl_off_t to_get, curl_off_t got, curl_off_t to_send,
                curl_off_t sent) {
  auto& self = *static_cast<Exchange*>(exchange);
  const bool goes_on = self.guarded([&] {
    check_interrupts();
    if (sent < to_send && to_send >= shown_from)
      self.line.show(transfer_line("sending", sent, to_send));
    if (got < to_get && to_get >= shown_from)
      self.line.show(transfer_line("receiving", got, to_get));
  });
  return goes_on ? 0 : 1;
}

class Headers {
 public:
  void add(const std::string& line) {
    auto* const longer = curl_slist_append(list_.get(), line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    static_cast<void>(list_.release());
    list_.reset(longer);
  }
  [[nodiscard]] curl_slist* get() const noexcept { return list_.get(); }

 private:
  std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> list_{nullptr, &curl_slist_free_all};
};

Headers headers_of(const Request& request, const std::string& authorization) {
  Headers headers;
  if (!authorization.empty()) headers.add(authorization);
  if (!request.key.empty()) headers.add("Idempotency-Key: " + request.key);
  if (request.upload == nullptr) return headers;
  headers.add("Content-Type: application/octet-stream");
  headers.add(request.upload->bytes() < asks_first ? "Expect:" : "Expect: 100-continue");
  return headers;
}

void set_method(CURL* curl, const Request& request) {
  if (request.upload == nullptr) {
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    return;
  }
  request.upload->seek(0);
  curl_easy_setopt(curl, CURLOPT_POST, 1L);
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                   static_cast<curl_off_t>(request.upload->bytes()));
}

void set_callbacks(CURL* curl, Exchange& exchange) {
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &take_piece);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &exchange);
  curl_easy_setopt(curl, CURLOPT_READFUNCTION, &give_piece);
  curl_easy_setopt(curl, CURLOPT_READDATA, &exchange);
  curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, &go_to);
  curl_easy_setopt(curl, CURLOPT_SEEKDATA, &exchange);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, &look_around);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &exchange);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
}

/// A server that is silent for a minute is given up. If the request may take long, only a server is
/// whose system does not answer any more.
void set_patience(CURL* curl, const Request& request) {
  if (request.may_take_long) {
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    return;
  }
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, 60L);
}

void set_connection(CURL* curl, const Address& address, const Request& request) {
  curl_easy_setopt(curl, CURLOPT_URL, (address.url + request.target).c_str());
  if (!address.unix_socket.empty()) {
    curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, address.unix_socket.c_str());
  }
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, address.has_tls ? "https" : "http");
  curl_easy_setopt(curl, CURLOPT_PROXY, "");  // a token is for nobody in between
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 10L);
  set_patience(curl, request);
  // libcurl repeats by itself what it has sent over a connection that the server was closing.
  curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, request.is_repeatable() ? 0L : 1L);
}

/// libcurl checks the certificate and the name in it unless it is told otherwise.
void set_authority(CURL* curl, const std::string& ca_file) {
  curl_easy_setopt(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (ca_file.empty()) return;
  curl_easy_setopt(curl, CURLOPT_CAINFO, ca_file.c_str());
  curl_easy_setopt(curl, CURLOPT_CAPATH, nullptr);
}

/// Trying again would not help.
void check_proof(CURLcode code, const Address& address, const std::string& ca_file,
                 const std::string& why) {
  if (code == CURLE_PEER_FAILED_VERIFICATION) {
    throw Failure(ExitCode::unreachable,
                  address.text + " does not prove that it is the server of this name: " + why +
                      ". Nothing was sent. --ca names a file with the authority of its "
                      "certificate; --server has to have a name that stands in it.");
  }
  if (code == CURLE_SSL_CACERT_BADFILE) {
    throw Failure(ExitCode::local,
                  "--ca " + ca_file + ": " + why +
                      ". It has to be a file that can be read, with certificates in PEM format.");
  }
}

bool has_sent(CURL* curl) noexcept {
  long bytes = 0;
  curl_easy_getinfo(curl, CURLINFO_REQUEST_SIZE, &bytes);
  return bytes > 0;
}

}  // namespace

struct Http::Handle {
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl{curl_easy_init(), &curl_easy_cleanup};
};

Http::Http(Address address, const std::string& token, std::string ca_file)
    : address_(std::move(address)),
      authorization_(token.empty() ? "" : "Authorization: Bearer " + token),
      ca_file_(std::move(ca_file)),
      handle_(std::make_unique<Handle>()) {
  if (!handle_->curl) throw std::bad_alloc();
}

Http::~Http() = default;

std::variant<Response, Lost> Http::send(const Request& request) {
  auto* const curl = handle_->curl.get();
  curl_easy_reset(curl);
  Exchange exchange(curl, request);
  const auto headers = headers_of(request, authorization_);
  std::array<char, CURL_ERROR_SIZE> why{};
  set_connection(curl, address_, request);
  set_authority(curl, ca_file_);
  set_method(curl, request);
  set_callbacks(curl, exchange);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why.data());
  const auto code = curl_easy_perform(curl);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, nullptr);
  if (exchange.failure) std::rethrow_exception(exchange.failure);
  if (code != CURLE_OK) {
    const std::string reason = why[0] == '\0' ? curl_easy_strerror(code) : why.data();
    check_proof(code, address_, ca_file_, reason);
    return Lost{has_sent(curl), reason};
  }
  exchange.response.status = exchange.status();
  if (request.sink != nullptr && exchange.response.status == 200) exchange.begin();
  curl_off_t seconds = 0;
  curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &seconds);
  if (seconds > 0) exchange.response.retry_after = std::chrono::seconds(seconds);
  return std::move(exchange.response);
}

}  // namespace heistctl
