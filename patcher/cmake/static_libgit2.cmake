# libgit2 from its archive for the program: the shared one brings eleven more libraries, which cost a
# dry run a tenth of its time before it begins. They serve the network, which is never used: what asks
# for Kerberos, of which Debian has no archive, and what reads the system's certificates at every start
# are answered by no_network.c. Where an archive is missing or they do not fit together, the shared library serves; it is the same code.
#
# link_static_libgit2(TARGET)
function(link_static_libgit2 target)
  if(ENGINE_SANITIZE)
    return()
  endif()
  set(archives)
  foreach(name git2 ssh2 mbedtls mbedx509 mbedcrypto http_parser pcre2-8 crypto z)
    find_library(archive_of_${name} lib${name}.a)
    mark_as_advanced(archive_of_${name})
    if(NOT archive_of_${name})
      message(STATUS "lib${name}.a is not there: libgit2 is linked as a shared library")
      return()
    endif()
    list(APPEND archives ${archive_of_${name}})
  endforeach()
  set(stub ${CMAKE_CURRENT_SOURCE_DIR}/cmake/no_network.c)
  set(wrap -Wl,--wrap=git_mbedtls_stream_global_init)
  set(probe ${CMAKE_CURRENT_BINARY_DIR}/static_libgit2.c)
  file(WRITE ${probe} "#include <git2.h>\nint main(void) { return git_libgit2_init() < 1; }\n")
  try_compile(
    PATCHER_STATIC_LIBGIT2 ${CMAKE_CURRENT_BINARY_DIR}/static_libgit2 SOURCES ${probe} ${stub}
    LINK_OPTIONS ${wrap} LINK_LIBRARIES ${archives})
  if(NOT PATCHER_STATIC_LIBGIT2)
    message(STATUS "The archives do not link: libgit2 is linked as a shared library")
    return()
  endif()
  target_sources(${target} PRIVATE ${stub})
  # Before the shared library, which then nothing needs.
  target_link_options(${target} PRIVATE -Wl,--as-needed ${wrap})
  target_link_libraries(${target} PRIVATE ${archives})
endfunction()
