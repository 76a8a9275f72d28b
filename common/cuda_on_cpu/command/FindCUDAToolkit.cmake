# Replaces find_package(CUDAToolkit) in builds that use the toolchain file of the CPU device.
# CUDA::cublas and its siblings name the host libraries that replace those of the toolkit, and the
# CPU device itself. CMake links programs with the C++ compiler. Programs that are compiled with
# --analyze are linked with the analysing device.
separate_arguments(flags UNIX_COMMAND "${CMAKE_CUDA_FLAGS}")
list(FILTER flags INCLUDE REGEX "^--?analyze$")
execute_process(COMMAND ${CMAKE_CUDA_COMPILER} ${flags} --libraries OUTPUT_VARIABLE lines OUTPUT_STRIP_TRAILING_WHITESPACE)
execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --headers OUTPUT_VARIABLE headers OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REPLACE "\n" ";" lines "${lines}")
list(POP_FRONT lines device)
separate_arguments(device UNIX_COMMAND "${device}")
list(POP_FRONT device ignored archive)

set(CUDAToolkit_VERSION 13.0.0)
set(CUDAToolkit_VERSION_MAJOR 13)
set(CUDAToolkit_VERSION_MINOR 0)
set(CUDAToolkit_VERSION_PATCH 0)
set(CUDAToolkit_NVCC_EXECUTABLE ${CMAKE_CUDA_COMPILER})
set(CUDAToolkit_INCLUDE_DIRS ${headers})
get_filename_component(CUDAToolkit_BIN_DIR ${CMAKE_CUDA_COMPILER} DIRECTORY)
get_filename_component(CUDAToolkit_LIBRARY_DIR ${archive} DIRECTORY)
get_filename_component(CUDAToolkit_LIBRARY_ROOT ${headers} DIRECTORY)
set(CUDAToolkit_TARGET_DIR ${CUDAToolkit_LIBRARY_ROOT})
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CUDAToolkit REQUIRED_VARS CUDAToolkit_NVCC_EXECUTABLE CUDAToolkit_INCLUDE_DIRS VERSION_VAR CUDAToolkit_VERSION)

if(NOT TARGET CUDA::toolkit)
  add_library(CUDA::toolkit INTERFACE IMPORTED)
  set_target_properties(CUDA::toolkit PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${headers})
  add_library(CUDA::nvtx3 INTERFACE IMPORTED)
  set_target_properties(CUDA::nvtx3 PROPERTIES INTERFACE_LINK_LIBRARIES CUDA::toolkit)
  # Link the whole device, because modules may refer to any of its functions.
  add_library(CUDA::cuda_on_cpu INTERFACE IMPORTED)
  set_target_properties(CUDA::cuda_on_cpu PROPERTIES
    INTERFACE_LINK_OPTIONS "-rdynamic;-Wl,--whole-archive,${archive},--no-whole-archive"
    INTERFACE_LINK_LIBRARIES "CUDA::toolkit;${device};$<$<LINK_LANGUAGE:C>:-lstdc++>;$<$<LINK_LANGUAGE:C>:-lm>")
endif()
foreach(line IN LISTS lines)
  separate_arguments(libraries UNIX_COMMAND "${line}")
  list(POP_FRONT libraries library)
  set(name ${library})
  if(name STREQUAL "cuda")
    set(name cuda_driver)
  elseif(name STREQUAL "nvidia-ml")
    set(name nvml)
  endif()
  string(REPLACE "-" "_" name ${name})
  if(TARGET CUDA::${name})
    continue()
  endif()
  add_library(CUDA::${name} INTERFACE IMPORTED)
  set_target_properties(CUDA::${name} PROPERTIES
    INTERFACE_LINK_LIBRARIES "CUDA::cuda_on_cpu;${libraries}")
  # A program that compiles kernels at run time contains the path of the command.
  if(library MATCHES "^nvrtc(_static)?$")
    set(source ${CMAKE_BINARY_DIR}/CMakeFiles/cuda_on_cpu_command.cpp)
    file(WRITE ${source}.new "extern \"C\" {\nextern const char cuda_on_cpu_command[] __attribute__((weak));\n"
      "const char cuda_on_cpu_command[] = \"${CMAKE_CUDA_COMPILER}\";\n}\n")
    configure_file(${source}.new ${source} COPYONLY)
    set_target_properties(CUDA::${name} PROPERTIES INTERFACE_SOURCES ${source})
  endif()
endforeach()
