# heist_reference: the HTML reference of the public headers, in <build>/reference/html.
find_package(Doxygen 1.9 REQUIRED)

set(heist_reference "${PROJECT_BINARY_DIR}/reference")
file(WRITE "${PROJECT_BINARY_DIR}/Doxyfile" "@INCLUDE = ${PROJECT_SOURCE_DIR}/docs/reference/Doxyfile
OUTPUT_DIRECTORY = ${heist_reference}
GENERATE_TAGFILE = ${heist_reference}/heist.tag
")
file(GLOB_RECURSE heist_reference_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/reference/*"
  "${PROJECT_SOURCE_DIR}/include/heist/*.hpp")
add_custom_command(OUTPUT "${heist_reference}/heist.tag"
  COMMAND "${CMAKE_COMMAND}" -E make_directory "${heist_reference}"
  COMMAND Doxygen::doxygen "${PROJECT_BINARY_DIR}/Doxyfile"
  DEPENDS ${heist_reference_sources}
  WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" # Doxyfile's paths begin there
  COMMENT "Making the reference" VERBATIM)
add_custom_target(heist_reference ALL DEPENDS "${heist_reference}/heist.tag")
