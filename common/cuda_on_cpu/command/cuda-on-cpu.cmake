# Toolchain file for CUDA in CMake: cmake -DCMAKE_TOOLCHAIN_FILE=.../cuda-on-cpu.cmake. It searches
# for the command relative to the directory of this file, and in PATH.
find_program(CMAKE_CUDA_COMPILER cuda-on-cpu HINTS ${CMAKE_CURRENT_LIST_DIR}/../../bin ${CMAKE_CURRENT_LIST_DIR}/../../../bin REQUIRED)
# C++ sources that call the runtime find the same headers.
execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --headers OUTPUT_VARIABLE headers OUTPUT_STRIP_TRAILING_WHITESPACE)
set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES ${headers})
set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "There is no code for a GPU")
# find_package(CUDAToolkit) finds the module next to this file, even if a project changes the module
# path.
list(PREPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
if(CMAKE_FIND_PACKAGE_REDIRECTS_DIR)
  file(WRITE ${CMAKE_FIND_PACKAGE_REDIRECTS_DIR}/cudatoolkit-config.cmake "include(\"${CMAKE_CURRENT_LIST_DIR}/FindCUDAToolkit.cmake\")\n")
  file(WRITE ${CMAKE_FIND_PACKAGE_REDIRECTS_DIR}/cudatoolkit-config-version.cmake
    "set(PACKAGE_VERSION 13.0.0)\nif(NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)\n  set(PACKAGE_VERSION_COMPATIBLE TRUE)\nendif()\n")
endif()
