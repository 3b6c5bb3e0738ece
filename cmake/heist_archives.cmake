# `cpack` in the folder of a build makes archives of what that build installs: one of what developers need, one of the
# shared libraries if it has them, and one of heistd and heistctl if it has these. They are unpacked into one folder, anywhere.
set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_FILE_NAME "heist-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL heist_development)
if(BUILD_SHARED_LIBS)
  list(APPEND CPACK_COMPONENTS_ALL heist_runtime)
endif()
if(HEIST_BUILD_HEISTD)
  list(APPEND CPACK_COMPONENTS_ALL heistd)
endif()
set(CPACK_ARCHIVE_HEIST_DEVELOPMENT_FILE_NAME "${CPACK_PACKAGE_FILE_NAME}-development")
set(CPACK_ARCHIVE_HEIST_RUNTIME_FILE_NAME "${CPACK_PACKAGE_FILE_NAME}-runtime")
# The sources as they lie here, without what was built.
set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_IGNORE_FILES "/build/" "/\\.git")
include(CPack)
