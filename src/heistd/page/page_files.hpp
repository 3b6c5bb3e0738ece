// The files of the page, which are parts of the program.
#pragma once

#include <string_view>

namespace heistd {

struct PageFile {
  std::string_view name;  ///< its path; that of the page itself is empty
  std::string_view content_type;
  std::string_view text;
};

/// What a browser lets the page do: show its own files and ask this server, and nothing else. No
/// text becomes markup or script (`require-trusted-types-for`).
inline constexpr std::string_view page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'";

/// The file of that name, or null.
[[nodiscard]] const PageFile* find_page_file(std::string_view name) noexcept;

}  // namespace heistd
