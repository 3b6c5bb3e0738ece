// How traces and reports name things.
#pragma once

#include <atomic>
#include <heist/detail/sync.hpp>
#include <string>

namespace heist::model {

using namespace detail;

/// Function, file and line of an address in the program (by way of addr2line).
[[nodiscard]] std::string describe(const void* code);
[[nodiscard]] const char* name_of(std::memory_order order) noexcept;
/// "inbox.hpp:45".
[[nodiscard]] std::string place_of(const Where& where);

}  // namespace heist::model
