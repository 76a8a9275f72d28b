/// \file
/// Turns preprocessed CUDA C++ into plain C++ for the CPU device.
///
///     kernel<T><<<grid, block>>>(a, b)   becomes a call of cuda_on_cpu::launch, or of launch_child
///                                        in device code.
///     __shared__ T x[n]                  becomes a thread-local variable of the operating-system
///                                        thread that runs the thread block.
///     extern __shared__ T x[]            becomes the dynamic shared memory of the thread block.
///     __cluster_dims__(x, y, z)          moves to the launches of the kernel.
///     __launch_bounds__(n)               is registered with the runtime.
///     __device__, __managed__            are removed; the names of variables are listed.
///     a << b in device code              shifts as on a GPU.
///     memcpy(a, b, n)                    becomes, under analysis, a call that logs its accesses.
///     while (flag == 0) {}               lets other threads run if `flag` is volatile.
///     (void*)kernel                      keeps the kernel's type in arguments of the runtime;
///                                        elsewhere the types of its parameters are registered.
///     Class<T>::member<n>(a)             becomes Class<T>::template member<n>(a).
///     asm("...")                         becomes calls of functions.
///     __global__ void k() {}             is followed by an entry, in the image of a module.
///
/// No line is added or removed. The line markers of the preprocessor let debuggers find the lines
/// of the .cu file.

#pragma once

#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "source.hpp"

namespace cuda_on_cpu::rewriter {

/// A construct that the rewriter does not support. The message is a sentence that begins with file
/// and line.
struct Refused : std::runtime_error {
  using runtime_error::runtime_error;
};

/// Maps the name of a kernel to the arguments of __launch_bounds__ or __cluster_dims__.
using Promises = std::map<std::string, std::string, std::less<>>;

using Names = std::set<std::string, std::less<>>;

/// Rewrites a preprocessed source as plain C++.
/// \param guards whether the program is analysed. Variables in shared memory are then followed by
/// guards. Calls that drop an error are marked. Host functions check that the host calls them, and
/// device functions that call code outside the analysis report this when they begin. Kernels
/// allocate memory from the heap of the device.
/// \param is_header whether other sources will include the result. Each including source then
/// registers the launch bounds and the names of variables.
/// \throws Refused
std::string rewrite(std::string text, bool guards, bool is_header = false);

/// Adds an entry after each kernel in the source of a module's image. The program that loads the
/// module finds its kernels through these entries. `rewrite` has to be called afterwards.
std::string with_entries(std::string text);

/// Marks all declarations of the source, except kernels, as belonging to the device: declarations
/// in namespaces, and member functions of classes.
std::string with_device_marks(std::string text);

/// Gives device variables internal linkage, as nvcc does without linking of device code
/// (-rdc=false), unless the source declares a variable as external. Inline functions and templates
/// of the device that use such a variable become internal, too, so that each source calls its own
/// version. Members of classes do not change.
std::string with_internal_linkage(std::string text);

/// The kind of device mark that the attribute at a token represents.
enum class Mark { none, device, managed, constant, constant_section };
Mark mark_at(const Source& source, std::size_t i);

/// The variables of the declaration with a device mark; none if it declares a function.
std::vector<std::string> marked_variables(const Source& source, std::size_t mark);

/// Maps the index of a token to the text to insert after the token.
using Additions = std::map<std::size_t, std::string>;

/// Kernels whose overloads a source defines in a single scope, without templates, default arguments
/// and separate declarations. After the last definition, the rewriter inserts a variable that
/// contains the addresses of all kernels with the same name.
struct Overloads {
  struct Kernel {
    std::size_t last;   ///< token at the end of the last definition
    std::size_t count;  ///< number of kernels with this name
    std::string variable = {};
    bool is_used = false;  ///< whether a launch uses the variable
  };
  std::map<std::string, Kernel> known = {};
};
Overloads find_overloads(const Source& source);

/// Rewrites the launch whose '<<<' is the given token. `clusters` contains the cluster sizes of
/// kernels.
/// \param of_device whether the launch is in device code
void rewrite_launch(Source& source, std::size_t launch, const Promises& clusters,
                    Overloads& overloads, bool of_device);

/// Rewrites the declaration that contains the __shared__ at a token.
void rewrite_shared(Source& source, std::size_t i, bool guards);

/// Code to insert after each kernel whose address the source takes; the key is the kernel's last
/// token. The code registers the types of the parameters for launches by address.
Additions find_noted_kernels(const Source& source);

/// Checks the parameters of all kernels.
/// \throws Refused if a parameter is a reference
void check_kernels(const Source& source);

/// Names of functions that only the host may call; the key is the token that opens the body. A host
/// function is at namespace scope, and no function of the same name has a device mark.
using HostFunctions = std::map<std::size_t, std::string>;
HostFunctions find_host_functions(const Source& source);

/// Inserts a check of the caller at the beginning of host functions.
void mark_host_functions(Source& source, const HostFunctions& functions);

/// The tokens that open and close a function's body.
struct Body {
  std::size_t open, close;
};

/// The bodies that __device__ and __global__ mark, including those of lambdas, in the order of the
/// source. Nested bodies are not listed separately.
std::vector<Body> find_device_bodies(const Source& source);

/// Whether a token is in one of several bodies, which are sorted.
bool is_in(const std::vector<Body>& bodies, std::size_t i);

/// The names of all bit fields of all classes.
Names find_bit_fields(const Source& source);

/// Rewrites shifts so that they behave as on a GPU. Shifts by small constants and shifts of bit
/// fields stay as they are.
void rewrite_shifts(Source& source, const Body& body, const Names& bit_fields);

/// The names of all variables that are declared volatile.
Names find_volatiles(const Source& source);

/// Marks device loops that only wait for a volatile variable, so that other threads of the block
/// can run.
void rewrite_waits(Source& source, const Body& body, const Names& volatiles);

/// Marks host loops that read a volatile variable, which a kernel may write. Only loops after token
/// `first` and outside the given bodies are marked.
void rewrite_looks(Source& source, std::size_t first, const std::vector<Body>& bodies,
                   const Names& volatiles);

/// Inserts the keyword `template` before the member template at token i if the code calls it, as in
/// `Class<T>::member<n>(a)` or `object.member<n>(a)`. Unlike nvcc, compilers of C++ require this
/// keyword if the class depends on a template parameter, and accept it otherwise.
void add_template_keyword(Source& source, std::size_t i, bool in_device_body);

/// Inserts the keyword `struct` into `using Name = Name<int>`, whose first token is i. g++ requires
/// it in a class that uses the name for the template before, unlike nvcc.
void keep_meaning(Source& source, std::size_t i);

/// Rewrites the toolkit's CUB headers for the CPU device. Other system headers do not change.
std::string with_cub(std::string text);

/// Calls to insert at the beginning of a body: one for the body of a kernel, and one for a body
/// that calls code that is not analysed. The calls of the source must not have been rewritten yet.
std::string mark_of_unseen(const Source& source, const Body& body);

/// Replaces the asm statement at a token by function calls with the same effect.
void rewrite_ptx(Source& source, std::size_t i);

}  // namespace cuda_on_cpu::rewriter
