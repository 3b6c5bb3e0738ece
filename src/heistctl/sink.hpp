// Sink: where the bytes of a result go.
#pragma once

#include <string_view>

namespace heistctl {

class Sink {
 public:
  virtual ~Sink() = default;
  /// The first byte of the result comes next; also when it comes once more from its beginning.
  virtual void begin(std::string_view content_type) = 0;
  virtual void write(std::string_view piece) = 0;
  /// All of it has come.
  virtual void end() = 0;
};

}  // namespace heistctl
