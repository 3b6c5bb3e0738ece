#include <algorithm>
#include <heist/yield.hpp>
#include <heistd/bulk_reader.hpp>
#include <heistd/limits.hpp>
#include <new>
#include <utility>

namespace heistd {
namespace {

using Clock = std::chrono::steady_clock;

bool is_blank(std::string_view line) noexcept {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

heist::Promise<void> BulkReader::run() {
  const auto self = shared_from_this();
  for (bool has_more = true; has_more && !refusal;) {
    try {
      has_more = read_some();
    } catch (const std::bad_alloc&) {
      refusal = out_of_memory();
    }
    if (has_more && !refusal) co_await heist::yield();
  }
  if (!refusal && items.empty()) {
    refusal = Refusal{400, "bad_line", "there is no job: each line of the body is to be one"};
  }
  if (refusal) items.clear();
  has_ended = true;
}

/// One chunk; false when all has been read.   Errors: std::bad_alloc.
bool BulkReader::read_some() {
  const auto end = Clock::now() + chunk_budget;
  while (!refusal && Clock::now() < end) {
    if (block_ == body_.size()) {
      end_line();
      return false;
    }
    auto& block = body_[block_];
    read_block(std::string_view(block).substr(place_));
    if (place_ < block.size()) continue;
    std::string().swap(block);
    ++block_;
    place_ = 0;
  }
  return true;
}

/// Up to the end of a line, or of the block.
void BulkReader::read_block(std::string_view block) {
  const auto end = block.find('\n');
  const auto part = block.substr(0, end);
  is_too_long_ = is_too_long_ || part.size() > max_bulk_line_bytes - line_.size();
  if (!is_too_long_) line_ += part;
  place_ += part.size();
  if (end == std::string_view::npos) return;
  ++place_;
  end_line();
}

void BulkReader::end_line() {
  if (!is_too_long_ && is_blank(line_)) return line_.clear();
  if (items.size() == max_bulk_jobs) {
    refusal = Refusal{413, "too_many_jobs",
                      "a request has " + std::to_string(max_bulk_jobs) +
                          " jobs at the most: send the others with another one"};
    return;
  }
  if (is_too_long_) {
    items.emplace_back().refusal =
        Refusal{413, "job_too_large",
                "a line has " + std::to_string(max_bulk_line_bytes) +
                    " bytes at the most: send this job by itself, to /jobs/KIND"};
  } else {
    auto key = key_;
    if (key) *key += "/" + std::to_string(items.size());
    items.push_back(read_bulk_item(line_, key));
  }
  line_.clear();
  is_too_long_ = false;
}

}  // namespace heistd
