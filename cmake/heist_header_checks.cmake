# One generated translation unit for each public header: it compiles only if the header is
# self-contained. The second inclusion finds a missing `#pragma once`.
get_target_property(headers heist HEADER_SET)
set(units)
foreach(header IN LISTS headers)
  file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}/include" "${header}")
  set(unit "${CMAKE_CURRENT_BINARY_DIR}/headers/${name}.cpp")
  file(CONFIGURE OUTPUT "${unit}" CONTENT "#include <${name}>\n#include <${name}> // NOLINT\n")
  list(APPEND units "${unit}")
endforeach()
add_library(heist_header_checks OBJECT ${units})
target_link_libraries(heist_header_checks PRIVATE heist::heist)
heist_own_target(heist_header_checks)
