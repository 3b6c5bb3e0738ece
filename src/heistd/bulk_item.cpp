#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <heistd/bulk_item.hpp>
#include <heistd/limits.hpp>
#include <heistd/request_digest.hpp>
#include <nlohmann/json.hpp>
#include <utility>

namespace heistd {
namespace {

using ParsedJson = nlohmann::json;

/// What a line may say of a job of any kind, as a query does.
constexpr std::array<std::string_view, 7> of_all_kinds = {
    "after", "delay", "max_attempts", "priority", "signal", "timeout", "ttl"};
/// These it says in its own way, or not at all.
constexpr std::array<std::string_view, 6> of_lines = {
    "base64", "idempotency_key", "kind", "parameters", "text", "wait"};

template <class Names>
bool is_one_of(const Names& names, std::string_view name) noexcept {
  return std::ranges::find(names, name) != names.end();
}

/// The first complaint stays.
void refuse(BulkItem& item, Refusal refusal) {
  if (!item.refusal) item.refusal = std::move(refusal);
}

void refuse(BulkItem& item, std::string_view name, std::string message) {
  refuse(item, bad_parameter(name, std::move(message)));
}

/// As a query would have it.
std::optional<std::string> text_of(const ParsedJson& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return std::string(value.get<bool>() ? "1" : "0");
  if (value.is_number()) return value.dump();
  return std::nullopt;
}

void read_parameter(BulkItem& item, const std::string& name, const ParsedJson& value) {
  if (auto text = text_of(value)) {
    item.target.query.emplace_back(name, std::move(*text));
  } else {
    refuse(item, name, "must be a text, a number, true or false");
  }
}

/// Those of the kind.
void read_parameters(BulkItem& item, const ParsedJson& parameters) {
  if (!parameters.is_object()) return refuse(item, "parameters", "must be an object");
  for (const auto& [name, value] : parameters.items()) {
    if (is_one_of(of_all_kinds, name) || name == "wait") {
      refuse(item, name, "is no parameter of the kind: it stands beside \"parameters\"");
    }
    read_parameter(item, name, value);
  }
}

/// A text that is wanted by that name; nothing, and perhaps a complaint, when there is none.
std::optional<std::string> read_text(BulkItem& item, const ParsedJson& line, const char* name) {
  const auto found = line.find(name);
  if (found == line.end()) return std::nullopt;
  if (found->is_string()) return found->get<std::string>();
  refuse(item, name, "must be a text");
  return std::nullopt;
}

/// OpenSSL decodes groups of four letters; it takes a '=' anywhere, and counts those at the end.
std::optional<std::string> decode_base64(const std::string& text) {
  const auto padding = text.size() - std::min(text.find_last_not_of('=') + 1, text.size());
  const bool is_whole = text.size() % 4 == 0 && padding <= 2 &&
                        std::min(text.find('='), text.size()) == text.size() - padding &&
                        text.find_first_of(" \t\r\n") == std::string::npos;
  if (!is_whole) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  const auto size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                    reinterpret_cast<const unsigned char*>(text.data()),
                                    static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  bytes.resize(bytes.size() - padding);
  return bytes;
}

void read_payload(BulkItem& item, const ParsedJson& line) {
  auto text = read_text(item, line, "text");
  const auto base64 = read_text(item, line, "base64");
  if (text && base64) refuse(item, "base64", "a job has one upload: text, or base64");
  if (base64) text = decode_base64(*base64);
  if (base64 && !text) refuse(item, "base64", "must be base64 with its padding (RFC 4648, 4)");
  if (!text) return;
  for (std::string_view rest = *text; !rest.empty();
       rest.remove_prefix(item.payload.back().size())) {
    item.payload.emplace_back(rest.substr(0, block_bytes));
  }
}

/// A job with another text, though of the same meaning, is another one.
void read_key(BulkItem& item, std::string_view line, const std::optional<std::string>& key) {
  if (!key) return;
  if (!is_idempotency_key(*key)) {
    return refuse(item, "idempotency_key", "must be 1 to 255 characters of ASCII, without spaces");
  }
  RequestDigest digest(*key, "/jobs");
  digest.add(line);
  item.key = digest.finish();
}

void read_names(BulkItem& item, const ParsedJson& line) {
  for (const auto& [name, value] : line.items()) {
    if (is_one_of(of_all_kinds, name)) {
      read_parameter(item, name, value);
    } else if (name == "wait") {
      refuse(item, name, "cannot be had for many jobs at once: ask for each with GET /jobs/ID");
    } else if (!is_one_of(of_lines, name)) {
      refuse(item, name, "is not known here; what the kind takes stands in \"parameters\"");
    }
  }
}

}  // namespace

BulkItem read_bulk_item(std::string_view text, const std::optional<std::string>& key) {
  BulkItem item;
  const auto line = ParsedJson::parse(text, nullptr, false);
  if (!line.is_object()) {
    refuse(item, {400, "bad_line", "the line is no object in JSON"});
    return item;
  }
  auto kind = read_text(item, line, "kind");
  if (!kind) refuse(item, "kind", "the kind of the job is missing");
  item.kind = std::move(kind).value_or("");
  read_names(item, line);
  const auto parameters = line.find("parameters");
  if (parameters != line.end()) read_parameters(item, *parameters);
  read_payload(item, line);
  const auto own_key = read_text(item, line, "idempotency_key");
  read_key(item, text, own_key ? own_key : key);
  return item;
}

}  // namespace heistd
