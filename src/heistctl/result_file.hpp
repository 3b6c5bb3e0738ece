// ResultFile and ResultOutput: a result that is written to a file, or to the standard output.
#pragma once

#include <heistctl/descriptor.hpp>
#include <heistctl/sink.hpp>
#include <string>

namespace heistctl {

/// The file has its name once it is whole; until then it lies beside it with another name, which is
/// removed if something goes wrong. A file that was there is replaced.
class ResultFile : public Sink {
 public:
  /// Errors, here and later: a Failure when the file cannot be written.
  explicit ResultFile(std::string path);
  ~ResultFile() override;
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;

  void begin(std::string_view content_type) override;
  void write(std::string_view piece) override;
  void end() override;

 private:
  std::string path_;
  std::string temporary_path_;
  Descriptor file_;
};

/// Only text goes to a terminal.
class ResultOutput : public Sink {
 public:
  void begin(std::string_view content_type) override;
  void write(std::string_view piece) override;
  void end() override {}

 private:
  bool has_written_ = false;
};

}  // namespace heistctl
