// as_utf_8: text of a program for a file that has to be UTF-8.
#pragma once

#include <heist/version.hpp>
#include <string>
#include <string_view>

namespace HEIST_NAMESPACE::detail {

/// The text, with U+FFFD in place of each byte that is no part of a character. Labels may be of
/// another encoding, and the system cuts the names of threads after a number of bytes.
[[nodiscard]] std::string as_utf_8(std::string_view text);

}  // namespace HEIST_NAMESPACE::detail
