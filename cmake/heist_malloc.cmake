# The allocator of large nodes, as HEIST_MALLOC chooses it (docs/adr/0063-allocator-at-configure-time.md). Sets
# heist_malloc_definitions   what src/heist/memory/backing.hpp looks at
# heist_malloc_library       what the library links
# heist_malloc_package       what users of a static library have to find first (arguments of find_package)
# heist_malloc_pc            the same for pkg-config
set(heist_malloc_library)
set(heist_malloc_package)
set(heist_malloc_pc)
string(TOUPPER "HEIST_MALLOC_${HEIST_MALLOC}" heist_malloc_definitions)
if(HEIST_MALLOC STREQUAL "tbb")
  find_package(TBB REQUIRED COMPONENTS tbbmalloc)
  set(heist_malloc_library TBB::tbbmalloc)
  set(heist_malloc_package TBB COMPONENTS tbbmalloc)
  set(heist_malloc_pc -ltbbmalloc)
elseif(HEIST_MALLOC STREQUAL "mimalloc")
  find_package(mimalloc 2.0 QUIET)
  if(NOT mimalloc_FOUND)
    message(FATAL_ERROR "HEIST_MALLOC=mimalloc needs mimalloc 2.0 with its CMake files, which were not found "
      "(Debian: libmimalloc-dev). Install it, name its prefix in CMAKE_PREFIX_PATH, or choose tbb or system.")
  endif()
  set(heist_malloc_library mimalloc)
  set(heist_malloc_package mimalloc 2.0)
  set(heist_malloc_pc -lmimalloc)
elseif(NOT HEIST_MALLOC STREQUAL "system")
  message(FATAL_ERROR "HEIST_MALLOC is \"${HEIST_MALLOC}\", which is no allocator that heist knows. "
    "Use tbb (oneTBB's, the default), system (the C library's) or mimalloc.")
endif()
