# CMake's CUDA by cuda-on-cpu: cmake -DCMAKE_TOOLCHAIN_FILE=.../cuda-on-cpu.cmake. The command is looked for where this
# file is installed, and on the PATH.
find_program(CMAKE_CUDA_COMPILER cuda-on-cpu HINTS ${CMAKE_CURRENT_LIST_DIR}/../../bin ${CMAKE_CURRENT_LIST_DIR}/../../../bin REQUIRED)
# Sources of C++ that call the runtime find the same headers.
execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --headers OUTPUT_VARIABLE headers OUTPUT_STRIP_TRAILING_WHITESPACE)
set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES ${headers})
set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "There is no code for a GPU")
