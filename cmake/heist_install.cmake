# Installs the library with a find_package(heist) configuration and a pkg-config file.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(heist_config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/heist")

# Shared libraries are what programs need when they run; developers need all else.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME heist_development)
set(libraries LIBRARY COMPONENT heist_runtime NAMELINK_COMPONENT heist_development)
install(TARGETS heist EXPORT heist_targets ${libraries} FILE_SET HEADERS)
install(TARGETS heist_parallel EXPORT heist_parallel_targets ${libraries})
install(TARGETS heist_asio EXPORT heist_asio_targets)
install(TARGETS heist_execution EXPORT heist_execution_targets)
install(TARGETS heist_parallel_scheduler EXPORT heist_parallel_scheduler_targets)
if(TARGET heist_jobs)
  install(TARGETS heist_jobs EXPORT heist_jobs_targets ${libraries})
  install(EXPORT heist_jobs_targets NAMESPACE heist:: FILE heist-jobs-targets.cmake
    DESTINATION "${heist_config_dir}")
endif()
install(FILES "${PROJECT_SOURCE_DIR}/src/parallel_scheduler/parallel_scheduler.cpp"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/heist")
install(EXPORT heist_targets NAMESPACE heist:: FILE heist-targets.cmake
  DESTINATION "${heist_config_dir}")
install(EXPORT heist_parallel_targets NAMESPACE heist:: FILE heist-parallel-targets.cmake
  DESTINATION "${heist_config_dir}")
install(EXPORT heist_asio_targets NAMESPACE heist:: FILE heist-asio-targets.cmake
  DESTINATION "${heist_config_dir}")
install(EXPORT heist_execution_targets NAMESPACE heist:: FILE heist-execution-targets.cmake
  DESTINATION "${heist_config_dir}")
install(EXPORT heist_parallel_scheduler_targets NAMESPACE heist::
  FILE heist-parallel-scheduler-targets.cmake DESTINATION "${heist_config_dir}")
include("${CMAKE_CURRENT_LIST_DIR}/heist_install_gdb.cmake")
foreach(component heist_development heist_runtime)
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT ${component})
endforeach()
if(HEIST_REFERENCE)
  install(DIRECTORY "${heist_reference}/" DESTINATION "${CMAKE_INSTALL_DOCDIR}/reference" COMPONENT heist_development)
endif()

# A static library leaves what it links to its users, a shared one has it.
get_target_property(heist_type heist TYPE)
set(heist_find_allocator)
set(heist_find_openssl)
if(heist_type STREQUAL "STATIC_LIBRARY")
  set(heist_find_openssl "find_dependency(OpenSSL COMPONENTS Crypto SSL)")
endif()
if(heist_type STREQUAL "STATIC_LIBRARY" AND heist_malloc_package)
  list(JOIN heist_malloc_package " " heist_find_allocator)
  set(heist_find_allocator "find_dependency(${heist_find_allocator})")
endif()
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/heist-config.cmake.in"
  "${PROJECT_BINARY_DIR}/heist-config.cmake" INSTALL_DESTINATION "${heist_config_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/heist-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/heist-config.cmake"
  "${PROJECT_BINARY_DIR}/heist-config-version.cmake" DESTINATION "${heist_config_dir}")

# heist_install_pc(<name> <description> <library> <requires> <what it links>): a static library hands what it needs to
# whoever links it; a shared one keeps it. Without a <library> there are only headers.
function(heist_install_pc pc_name pc_description pc_library pc_requires links)
  if(BUILD_SHARED_LIBS)
    set(pc_private "${links}")
  else()
    set(pc_public "${links}")
  endif()
  if(pc_library)
    set(pc_libraries "-L\${libdir} -l${pc_library} ${pc_public}")
  endif()
  file(RELATIVE_PATH pc_to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
  configure_file("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/heist.pc.in" "${PROJECT_BINARY_DIR}/${pc_name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${pc_name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()
heist_install_pc(heist "${PROJECT_DESCRIPTION}" heist "" "${heist_malloc_pc} -pthread")
heist_install_pc(heist-parallel "Parallel loops on the agents of heist" heist_parallel
  "heist = ${PROJECT_VERSION}" "-ltbb")
heist_install_pc(heist-asio "Handlers of Asio at priorities" "" "heist = ${PROJECT_VERSION}" "")
if(TARGET heist_jobs)
  heist_install_pc(heist-jobs "A job server with kinds of jobs of one's own" heist_jobs
    "heist = ${PROJECT_VERSION}" "-lssl -lcrypto -lsqlite3 -lpq -lprometheus-cpp-core -lsystemd")
endif()
heist_install_pc(heist-execution "Senders at priorities" "" "heist = ${PROJECT_VERSION}" "")
