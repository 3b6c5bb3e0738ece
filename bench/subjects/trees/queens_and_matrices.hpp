// The problems of the rows nqueens and matmul, without the tasks that solve them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

/// Queens in the first rows of a board, none of which attacks another one.
class Queens {
 public:
  static constexpr std::size_t most = 12;

  explicit Queens(int size) noexcept : size_(static_cast<std::size_t>(size)) {}

  [[nodiscard]] bool are_all() const noexcept { return rows_ == size_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool may_add(std::size_t column) const noexcept {
    for (std::size_t row = 0; row < rows_; ++row) {
      const std::size_t other = columns_[row];
      const std::size_t apart = rows_ - row;
      if (column == other || column + apart == other || column == other + apart) return false;
    }
    return true;
  }
  /// These, and one in the next row.
  [[nodiscard]] Queens with(std::size_t column) const noexcept {
    Queens more = *this;
    more.columns_[more.rows_++] = static_cast<std::uint8_t>(column);
    return more;
  }

 private:
  std::size_t size_;
  std::size_t rows_ = 0;
  std::array<std::uint8_t, most> columns_{};
};

/// A square part of a matrix, in rows of `stride` numbers.
struct Square {
  double* first;
  std::size_t size;
  std::size_t stride;

  [[nodiscard]] Square quarter(std::size_t row, std::size_t column) const noexcept {
    const std::size_t half = size / 2;
    return {first + row * half * stride + column * half, half, stride};
  }
};

/// to += a * b.
struct Product {
  static constexpr std::size_t small_size = 32;

  Square to;
  Square a;
  Square b;

  [[nodiscard]] bool is_small() const noexcept { return to.size <= small_size; }
  /// Of the eight parts of a product the `index`th of the first four, or of the last four. Each of
  /// four adds to a quarter of its own.
  [[nodiscard]] Product part(std::size_t half, std::size_t index) const noexcept {
    const std::size_t row = index / 2;
    const std::size_t column = index % 2;
    return {to.quarter(row, column), a.quarter(row, half), b.quarter(half, column)};
  }
  void multiply() const noexcept {
    for (std::size_t row = 0; row < to.size; ++row) {
      for (std::size_t k = 0; k < to.size; ++k) {
        const double factor = a.first[row * a.stride + k];
        for (std::size_t column = 0; column < to.size; ++column) {
          to.first[row * to.stride + column] += factor * b.first[k * b.stride + column];
        }
      }
    }
  }
};

/// Two matrices of small whole numbers, and the place of their product.
class Matrices {
 public:
  explicit Matrices(std::size_t size) : size_(size), to_(size * size), a_(to_), b_(to_) {
    for (std::size_t i = 0; i < to_.size(); ++i) {
      a_[i] = double(i % 7);
      b_[i] = double(i % 5);
    }
  }

  [[nodiscard]] Product product() noexcept {
    std::fill(to_.begin(), to_.end(), 0.0);
    return {{to_.data(), size_, size_}, {a_.data(), size_, size_}, {b_.data(), size_, size_}};
  }
  /// The sum of all numbers of the product.
  [[nodiscard]] double sum() const noexcept {
    double sum = 0;
    for (const double number : to_) sum += number;
    return sum;
  }
  /// The same from the columns of one matrix and the rows of the other one.
  [[nodiscard]] double expected_sum() const noexcept {
    double sum = 0;
    for (std::size_t k = 0; k < size_; ++k) {
      double column = 0;
      double row = 0;
      for (std::size_t i = 0; i < size_; ++i) {
        column += a_[i * size_ + k];
        row += b_[k * size_ + i];
      }
      sum += column * row;
    }
    return sum;
  }

 private:
  std::size_t size_;
  std::vector<double> to_;
  std::vector<double> a_;
  std::vector<double> b_;
};

}  // namespace bench
