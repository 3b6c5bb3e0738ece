// LastWord: inside a callback, counts that the callback was destroyed.
#pragma once

#include <utility>

namespace bench {

/// `Count` has add(1).
template <class Count>
class LastWord {
 public:
  explicit LastWord(Count& gone) noexcept : gone_(&gone) {}
  LastWord(LastWord&& other) noexcept : gone_(std::exchange(other.gone_, nullptr)) {}
  LastWord& operator=(LastWord&&) = delete;
  ~LastWord() {
    if (gone_ != nullptr) gone_->add(1);
  }

 private:
  Count* gone_;
};

}  // namespace bench
