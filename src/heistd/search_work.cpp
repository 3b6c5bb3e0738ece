// The lines of the upload that match a pattern.
#include <heistd/job_work.hpp>
#include <heistd/limits.hpp>
#include <heistd/line_reader.hpp>
#include <string_view>
#include <utility>

namespace heistd {
namespace {

using Clock = std::chrono::steady_clock;

class SearchWork final : public JobWork {
 public:
  SearchWork(Blocks body, std::shared_ptr<const LinePattern> pattern)
      : reader_(std::move(body)), pattern_(std::move(pattern)) {}

  bool step(std::chrono::nanoseconds budget) override {
    const auto deadline = Clock::now() + budget;
    if (reader_.block_done() && reader_.has_more_blocks()) reader_.open_block();
    while (const auto line = reader_.read()) {
      match(*line);
      if (Clock::now() >= deadline) break;
    }
    if (!reader_.block_done() || reader_.has_more_blocks()) return false;
    if (const auto line = reader_.read_last()) match(*line);
    return true;
  }

  JobResult take_result() override {
    result_.searched = reader_.line_count();
    return std::move(result_);
  }

 private:
  void match(std::string_view line) {
    if (!pattern_->matches(line)) return;
    ++result_.matched;
    // Once one line did not fit no later one is kept: what is kept is the beginning.
    full_ = full_ || result_.lines.size() == max_matched_lines ||
            kept_bytes_ + line.size() > max_matched_bytes;
    if (full_) return;
    kept_bytes_ += line.size();
    result_.lines.push_back({reader_.line_count(), std::string(line)});
  }

  LineReader reader_;
  std::shared_ptr<const LinePattern> pattern_;
  SearchResult result_;
  std::size_t kept_bytes_ = 0;
  bool full_ = false;
};

}  // namespace

std::unique_ptr<JobWork> make_search_work(Blocks body, std::shared_ptr<const LinePattern> pattern) {
  return std::make_unique<SearchWork>(std::move(body), std::move(pattern));
}

}  // namespace heistd
