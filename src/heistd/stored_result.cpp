#include <heistd/limits.hpp>
#include <heistd/stored_result.hpp>
#include <memory>
#include <utility>

namespace heistd {
namespace {

/// The description of bytes is this and their type; that of a JSON value is empty.
constexpr std::string_view bytes_of_type = "bytes ";

SharedBlocks blocks_of(const Body& text) {
  Blocks blocks{text.before};
  if (text.shared) blocks.insert(blocks.end(), text.shared->begin(), text.shared->end());
  blocks.push_back(text.after);
  return std::make_shared<const Blocks>(std::move(blocks));
}

Blocks cut(std::string all) {
  Blocks blocks;
  if (all.size() <= block_bytes) {
    blocks.push_back(std::move(all));
    return blocks;
  }
  std::string_view bytes = all;
  for (; !bytes.empty(); bytes.remove_prefix(blocks.back().size())) {
    blocks.emplace_back(bytes.substr(0, block_bytes));
  }
  return blocks;
}

}  // namespace

StoredResult to_stored(const JobResult& result) {
  if (const auto* const bytes = std::get_if<BytesResult>(&result)) {
    return {std::string(bytes_of_type) + bytes->content_type, bytes->data};
  }
  return {"", blocks_of(std::get<JsonResult>(result).text)};
}

bool describes_bytes(std::string_view description) noexcept {
  return description.starts_with(bytes_of_type);
}

JobResult from_stored(std::string_view description, std::string bytes) {
  if (!describes_bytes(description)) return JsonResult{Body{std::move(bytes)}};
  description.remove_prefix(bytes_of_type.size());
  return BytesResult{std::string(description),
                     std::make_shared<const Blocks>(cut(std::move(bytes)))};
}

}  // namespace heistd
