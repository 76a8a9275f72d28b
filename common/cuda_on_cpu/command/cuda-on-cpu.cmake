# CMake's CUDA by cuda-on-cpu: cmake -DCMAKE_TOOLCHAIN_FILE=.../cuda-on-cpu.cmake. The command is looked for where this
# file is installed, and on the PATH.
find_program(CMAKE_CUDA_COMPILER cuda-on-cpu HINTS ${CMAKE_CURRENT_LIST_DIR}/../../bin ${CMAKE_CURRENT_LIST_DIR}/../../../bin REQUIRED)
# Sources of C++ that call the runtime find the same headers.
execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --headers OUTPUT_VARIABLE headers OUTPUT_STRIP_TRAILING_WHITESPACE)
set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES ${headers})
set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "There is no code for a GPU")
# find_package(CUDAToolkit) finds what lies beside this file, whatever a project makes of the path of modules.
list(PREPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
if(CMAKE_FIND_PACKAGE_REDIRECTS_DIR)
  file(WRITE ${CMAKE_FIND_PACKAGE_REDIRECTS_DIR}/cudatoolkit-config.cmake "include(\"${CMAKE_CURRENT_LIST_DIR}/FindCUDAToolkit.cmake\")\n")
  file(WRITE ${CMAKE_FIND_PACKAGE_REDIRECTS_DIR}/cudatoolkit-config-version.cmake
    "set(PACKAGE_VERSION 13.0.0)\nif(NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)\n  set(PACKAGE_VERSION_COMPATIBLE TRUE)\nendif()\n")
endif()
