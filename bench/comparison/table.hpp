// The table of all rows, aligned for people or with tabs for programs.
#pragma once

#include <cstdint>
#include <iosfwd>

#include "results.hpp"

namespace bench {

enum class TableStyle : std::uint8_t { aligned, tabs };

void print_table(const Results& results, TableStyle style, std::ostream& out);

}  // namespace bench
