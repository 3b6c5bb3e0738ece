// Descriptors: a virtual event descriptor, timer and poll set, for models of the parker.
#pragma once

#include <array>
#include <cstddef>

namespace heist::model {

/// The system's table of descriptors in one execution; a model that uses some makes it first.
///
/// The link of the models sends the system calls of os/parker.cpp here (--wrap). A write to an
/// event, a read of it and a poll that finds it readable are ordered as the system's lock on it
/// does (the parker counts on that); other calls order nothing. An open descriptor is a block of
/// the execution's heap, so the engine reports one that is not closed as a leak, one that is used
/// after it was closed as a use after free, and a use that nothing orders before the close as a
/// race.
class Descriptors {
 public:
  struct File;

  Descriptors() noexcept;
  ~Descriptors();
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

  /// The table that was made last.
  static Descriptors& current() noexcept;
  /// Numbers are not used again.
  [[nodiscard]] int add(File& file);
  [[nodiscard]] File& at(int descriptor) const;

 private:
  static constexpr std::size_t most = 16;
  static inline Descriptors* current_ = nullptr;

  std::array<File*, most> files_{};
  std::size_t count_ = 0;
};

}  // namespace heist::model
