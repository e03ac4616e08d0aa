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
