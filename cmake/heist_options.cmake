# Options, and the build settings of this tree. Nothing in here reaches users of an installed heist.
include(CMakeDependentOption)

option(HEIST_DEV_MODE "Build heistd, tests, stress programs, examples and benchmarks" OFF)
option(HEIST_INSTALL "Give this project rules to install" ${PROJECT_IS_TOP_LEVEL})
option(HEIST_REFERENCE "Make the HTML reference with Doxygen, and install it" OFF)
option(HEIST_USDT "Probes for bpftrace and others at each post, start, end and steal (sys/sdt.h); three instructions for a task" OFF)
option(HEIST_BUILD_HEISTD "Build the job server, and heist::jobs for programs with kinds of their own" ${HEIST_DEV_MODE})
cmake_dependent_option(HEIST_BUILD_BENCH "Build the benchmarks (Google Benchmark)" OFF
  HEIST_DEV_MODE OFF)
option(HEIST_BUILD_ALL "Also build what only scripts/verify runs: examples, header checks, stress programs without a sanitizer" OFF)
set(HEIST_MALLOC tbb CACHE STRING "Allocator of nodes that are too large for the pool: tbb, system or mimalloc")
set_property(CACHE HEIST_MALLOC PROPERTY STRINGS tbb system mimalloc)
option(HEIST_WEAKENED "Let the environment variable HEIST_WEAKEN weaken one named edge" OFF)
set(HEIST_SANITIZE "" CACHE STRING "Sanitizers of this build: empty, thread, or address,undefined")
option(HEIST_TBB_IS_SANITIZED "The oneTBB that tests load was built with the thread sanitizer" OFF)
# What runs oneTBB's tasks gives false reports otherwise: see scripts/verification/tsan_parallel.
set(heist_runs_tbb ON)
if(HEIST_SANITIZE STREQUAL "thread" AND NOT HEIST_TBB_IS_SANITIZED)
  set(heist_runs_tbb OFF)
endif()

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(HEIST_CCACHE ccache)
if(HEIST_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  # Without that, ccache compiles what uses a precompiled header each time.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${HEIST_CCACHE}")
endif()

if(HEIST_SANITIZE)
  set(heist_sanitize_flags "-fsanitize=${HEIST_SANITIZE}" -fno-omit-frame-pointer)
  if(HEIST_SANITIZE MATCHES "undefined")
    list(APPEND heist_sanitize_flags -fno-sanitize-recover=all)
  endif()
  add_compile_options(${heist_sanitize_flags})
  add_link_options(${heist_sanitize_flags})
  if(HEIST_SANITIZE MATCHES "address|thread")
    string(TOUPPER "${CMAKE_MATCH_0}" heist_sanitizer)
    add_compile_definitions("HEIST_SANITIZER_${heist_sanitizer}")
  endif()
endif()
