# Builds for Linux on aarch64, with Debian's cross-compiler and the libraries that
# scripts/verification/aarch64_libraries unpacks. Tests run in an emulator.
set(heist_root "${CMAKE_CURRENT_LIST_DIR}/../../build/aarch64-root")
cmake_path(ABSOLUTE_PATH heist_root NORMALIZE)
if(NOT EXISTS "${heist_root}/packages.txt")
  message(FATAL_ERROR "There are no libraries for aarch64 in ${heist_root}. "
    "Run first: scripts/setup aarch64 && scripts/verification/aarch64_libraries")
endif()

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_SYSROOT "${heist_root}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${heist_root}")
set(ENV{PKG_CONFIG_LIBDIR} "${heist_root}/usr/lib/aarch64-linux-gnu/pkgconfig:${heist_root}/usr/share/pkgconfig")
set(CMAKE_CROSSCOMPILING_EMULATOR "${CMAKE_CURRENT_LIST_DIR}/emulate_aarch64" "${heist_root}")
