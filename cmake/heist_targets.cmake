# How our own targets are compiled: warnings are errors here and never exported.
set(HEIST_WARNINGS
  -Wall -Wextra -Wpedantic -Werror -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Wcast-qual -Wformat=2 -Wundef
  -Wimplicit-fallthrough -Wextra-semi -Wunused -Wvla)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  list(APPEND HEIST_WARNINGS -Wthread-safety)
else()
  list(APPEND HEIST_WARNINGS -Wduplicated-cond -Wduplicated-branches -Wlogical-op)
  # g++ 12 warns falsely about std::string (bug 105651), and in sanitized code about initialisation.
  list(APPEND HEIST_WARNINGS -Wno-restrict)
  if(HEIST_SANITIZE)
    list(APPEND HEIST_WARNINGS -Wno-maybe-uninitialized)
    # It warns of fences inlined from Boost.Asio's headers; ours has none (scripts/check/no_fences).
    list(APPEND HEIST_WARNINGS -Wno-tsan)
  endif()
endif()

# heist_own_target(<target>...): ours, so strict.
function(heist_own_target)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE ${HEIST_WARNINGS})
  endforeach()
endfunction()

# heist_add_programs(<glob> <prefix> <out> <libraries>...): one executable for each matching source;
# <out> receives the targets' names. A new file needs no edit of a CMake file.
function(heist_add_programs glob prefix out)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${glob}")
  set(targets)
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    set(target "${prefix}${name}")
    add_executable(${target} "${source}")
    target_link_libraries(${target} PRIVATE heist::heist ${ARGN})
    heist_own_target(${target})
    list(APPEND targets ${target})
  endforeach()
  set(${out} "${targets}" PARENT_SCOPE)
endfunction()
