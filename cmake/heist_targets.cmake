# How our own targets are compiled while we develop: warnings are errors then, and never exported. Whoever only builds
# the library may have a compiler that warns of something else.
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

# heist_own_target(<target>...): ours, so strict in HEIST_DEV_MODE.
function(heist_own_target)
  if(NOT HEIST_DEV_MODE)
    return()
  endif()
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE ${HEIST_WARNINGS})
    get_target_property(is_unity ${target} UNITY_BUILD)
    if(is_unity)
      # Names of one file shadow those of another that is compiled with it.
      target_compile_options(${target} PRIVATE -Wno-shadow)
    endif()
  endforeach()
endfunction()

# heist_harden(<target>...): what faces a network. An overflow of a buffer on the stack, or of one whose
# size the compiler knows, ends the program; nothing of it stands at a fixed address, and its table of
# functions cannot be written.
include(CheckPIESupported)
check_pie_supported()
function(heist_harden)
  foreach(target IN LISTS ARGN)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_options(${target} PRIVATE -fstack-protector-strong)
    target_link_options(${target} PRIVATE LINKER:-z,relro,-z,now)
    if(NOT HEIST_SANITIZE) # the sanitizers replace the same functions; it needs an optimising compiler
      target_compile_options(${target} PRIVATE
        $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
    endif()
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
