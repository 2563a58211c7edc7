# The one set of compile options of the engine, the patcher and the tests. Lives in the engine
# because the engine must also build from a scratch copy that holds nothing else.
include_guard()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

option(ENGINE_WERROR "Treat warnings as errors" ON)
option(ENGINE_SANITIZE "Build with the address and undefined-behaviour sanitizers" OFF)
set(ENGINE_CUDA "AUTO" CACHE STRING "CUDA backend: AUTO (if nvcc is there), ON (required), OFF")
set_property(CACHE ENGINE_CUDA PROPERTY STRINGS AUTO ON OFF)

# Every target of the project links this one, in place of directory-wide options that would also
# reach third-party code.
add_library(project_options INTERFACE)
# Contraction would fuse a*b+c where the numerics contract says two roundings.
target_compile_options(
  project_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wnon-virtual-dtor;-ffp-contract=off>)
if(ENGINE_WERROR)
  target_compile_options(project_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(ENGINE_SANITIZE)
  set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(project_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${sanitizers}>)
  target_link_options(project_options INTERFACE ${sanitizers})
endif()

option(UNITY "Compile the files of a room as one: a build from nothing takes a third. OFF shows that each stands alone" ON)

# compile_as_one(TARGET): its sources are one translation unit; those of one folder, where it has several.
function(compile_as_one target)
  if(NOT UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder FILENAME folder)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP "of_${folder}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

include(CheckLanguage)
set(ENGINE_HAS_CUDA OFF)
if(NOT ENGINE_CUDA STREQUAL "OFF")
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_ARCHITECTURES 90a)
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
    enable_language(CUDA)
    # CMake 3.25 does not know that this nvcc takes C++20.
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    endif()
    set(ENGINE_HAS_CUDA ON)
    # -fmad=false for the same reason as -ffp-contract=off.
    target_compile_options(project_options INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false>)
    if(ENGINE_WERROR)
      target_compile_options(
        project_options INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=-Wall>)
    endif()
  elseif(ENGINE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "ENGINE_CUDA=ON, but no CUDA compiler was found. Put nvcc on PATH, set "
                        "CUDACXX, or configure with -DENGINE_CUDA=OFF.")
  endif()
endif()
