# How all native code of Farheap is compiled.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)

# The same bytes from any directory.
get_filename_component(farheap_checkout ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)
add_compile_options(-ffile-prefix-map=${farheap_checkout}=.)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

set(FARHEAP_SANITIZE "" CACHE STRING "Sanitizers for native code: address,undefined or thread")

find_package(Threads REQUIRED)

function(farheap_native_target target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Werror -O2 -g)
  target_link_libraries(${target} PRIVATE Threads::Threads)
  if(FARHEAP_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${FARHEAP_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=${FARHEAP_SANITIZE})
  endif()
endfunction()

function(farheap_old_library name soname list)
  add_library(${name} SHARED EXCLUDE_FROM_ALL ${farheap_checkout}/cmake/old_library.c)
  target_compile_definitions(${name} PRIVATE FARHEAP_OLD_LIBRARY=${list})
  set_target_properties(${name} PROPERTIES NO_SONAME ON)
  target_link_options(${name} PRIVATE -nostdlib -Wl,-soname,${soname}
    -Wl,--version-script,${farheap_checkout}/cmake/old_library.map)
endfunction()

farheap_old_library(farheap_old_dl libdl.so.2 FARHEAP_LIBDL)
farheap_old_library(farheap_old_pthread libpthread.so.0 FARHEAP_LIBPTHREAD)

# What is shipped loads on older systems than the one that builds.
function(farheap_shipped target)
  if(NOT FARHEAP_SANITIZE)
    target_compile_options(${target} PRIVATE -include ${farheap_checkout}/cmake/glibc_symbols.h)
    add_dependencies(${target} farheap_old_dl farheap_old_pthread)
    # By name: a user's machine has none of this one's directories.
    target_link_options(${target} PRIVATE
      -Wl,--push-state,--no-as-needed,$<TARGET_FILE:farheap_old_pthread>,--pop-state)
  endif()
endfunction()
