# One generated translation unit for each header that is installed, public or of heist/detail: it
# compiles only if the header is self-contained. The second inclusion finds a missing `#pragma once`.
get_target_property(headers heist HEADER_SET)
set(units)
foreach(header IN LISTS headers)
  file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}/include" "${header}")
  set(unit "${CMAKE_CURRENT_BINARY_DIR}/headers/${name}.cpp")
  file(CONFIGURE OUTPUT "${unit}" CONTENT "#include <${name}>\n#include <${name}> // NOLINT\n")
  list(APPEND units "${unit}")
endforeach()
add_library(heist_header_checks OBJECT ${units})
# Those that need a library of senders get the stand-in of the tests.
set(sender_units ${units})
list(FILTER sender_units INCLUDE REGEX "/heist/(execution|bulk|parallel_scheduler)")
set_source_files_properties(${sender_units} PROPERTIES COMPILE_OPTIONS
  "-include;${PROJECT_SOURCE_DIR}/tests/support/senders.hpp;-DHEIST_EXECUTION_NAMESPACE=heist::support::senders")
target_link_libraries(heist_header_checks PRIVATE heist::heist)
set_target_properties(heist_header_checks PROPERTIES UNITY_BUILD OFF)
heist_own_target(heist_header_checks)
add_dependencies(heist_users heist_header_checks)
