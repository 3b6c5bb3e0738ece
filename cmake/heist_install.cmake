# Installs the library with a find_package(heist) configuration and a pkg-config file.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(heist_config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/heist")

install(TARGETS heist EXPORT heist_targets FILE_SET HEADERS)
install(EXPORT heist_targets NAMESPACE heist:: FILE heist-targets.cmake
  DESTINATION "${heist_config_dir}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/heist-config.cmake.in"
  "${PROJECT_BINARY_DIR}/heist-config.cmake" INSTALL_DESTINATION "${heist_config_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/heist-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/heist-config.cmake"
  "${PROJECT_BINARY_DIR}/heist-config-version.cmake" DESTINATION "${heist_config_dir}")

# A static library hands what it needs to whoever links it; a shared one keeps it.
if(BUILD_SHARED_LIBS)
  set(heist_pc_private "-ltbbmalloc -pthread")
else()
  set(heist_pc_public "-ltbbmalloc -pthread")
endif()
file(RELATIVE_PATH heist_pc_to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" heist_pc_to_prefix "${heist_pc_to_prefix}")
configure_file("${CMAKE_CURRENT_LIST_DIR}/heist.pc.in" "${PROJECT_BINARY_DIR}/heist.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/heist.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
