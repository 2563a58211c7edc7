# Tree-sitter and its grammars, compiled from the source packages that .ci/setup fetched. The
# generated parsers are 4 to 31 MB of C tables each: -O1 costs seconds where -O2 costs minutes and
# parses no faster to speak of.
set(third_party ${PROJECT_SOURCE_DIR}/build/third_party CACHE PATH "Where .ci/setup put the sources")
set(core_dir ${third_party}/tree-sitter-0.25.2/tree_sitter/core/lib)
if(NOT EXISTS ${core_dir}/src/lib.c)
  message(FATAL_ERROR "The Tree-sitter sources are not in ${third_party}; run .ci/setup first.")
endif()

add_library(tree_sitter STATIC ${core_dir}/src/lib.c)
target_include_directories(tree_sitter SYSTEM PUBLIC ${core_dir}/include PRIVATE ${core_dir}/src)
target_compile_definitions(tree_sitter PRIVATE _POSIX_C_SOURCE=200112L _DEFAULT_SOURCE)
target_compile_options(tree_sitter PRIVATE -w -O2)

# add_grammar(NAME VERSION HEADERS): HEADERS is the package whose tree_sitter/parser.h is used.
function(add_grammar name version headers)
  set(src ${third_party}/tree_sitter_${name}-${version}/src)
  set(sources ${src}/parser.c)
  if(EXISTS ${src}/scanner.c)
    list(APPEND sources ${src}/scanner.c)
  endif()
  add_library(tree_sitter_${name} STATIC ${sources})
  target_include_directories(tree_sitter_${name} PRIVATE ${third_party}/tree_sitter_${headers}/src)
  target_compile_options(tree_sitter_${name} PRIVATE -w -O1 -g0)
endfunction()
add_grammar(c 0.24.2 c-0.24.2)
add_grammar(cuda 0.21.2 cuda-0.21.2)
add_grammar(cpp 0.23.4 cuda-0.21.2)
# The C++ package ships no headers and was generated for ABI 14; in the ABI 15 header two of the names
# that it uses are spelt differently and nothing that it sets has moved.
target_compile_definitions(tree_sitter_cpp PRIVATE TSFieldMapSlice=TSMapSlice version=abi_version)
