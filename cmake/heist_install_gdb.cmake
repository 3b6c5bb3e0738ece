# Installs the commands and printers of gdb: all of them in share/heist/gdb, and for a shared library the file by which
# gdb loads them. gdb looks for that file below share/gdb/auto-load, at the library's own path.
set(heist_gdb_dir "${CMAKE_INSTALL_DATADIR}/heist/gdb")
install(FILES "${PROJECT_SOURCE_DIR}/src/gdb/heist.py" DESTINATION "${heist_gdb_dir}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/src/gdb/heist_gdb" DESTINATION "${heist_gdb_dir}"
  FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)
if(BUILD_SHARED_LIBS)
  file(RELATIVE_PATH heist_libdir_to_gdb "/${CMAKE_INSTALL_LIBDIR}" "/${heist_gdb_dir}")
  configure_file("${PROJECT_SOURCE_DIR}/src/gdb/auto_load.py.in" "${PROJECT_BINARY_DIR}/auto_load.py" @ONLY)
  # The prefix is only known when this is installed. Archives, which may be unpacked anywhere, leave this component out.
  install(FILES "${PROJECT_BINARY_DIR}/auto_load.py"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/gdb/auto-load\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}"
    RENAME "libheist.so.${PROJECT_VERSION}-gdb.py" COMPONENT heist_auto_load)
endif()
