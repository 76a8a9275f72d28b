/// \file
/// Turns preprocessed CUDA C++ into plain C++ for the CPU device.
///
///     kernel<T><<<grid, block>>>(a, b)   becomes a call of cuda_on_cpu::launch, or, in code of the
///                                        device, of launch_child,
///     __shared__ T x[n]                  becomes a variable of the OS thread that runs the block,
///     extern __shared__ T x[]            becomes the block's dynamic shared memory,
///     __cluster_dims__(x, y, z)          moves to the launches of the kernel,
///     __launch_bounds__(n)               is told to the runtime,
///     __device__, __managed__            go; the names of variables are listed,
///     a << b in code of the device       shifts as a GPU does,
///     memcpy(a, b, n)                    is told by the function that calls it, under analysis,
///     while (flag == 0) {}               lets others run, where `flag` is volatile,
///     (void*)kernel                      keeps its type where the runtime takes a kernel, and
///     notes
///                                        the types of its parameters elsewhere,
///     asm("...")                         becomes calls of functions,
///     __global__ void k() {}             gets an entry behind it, in the image of a module.
///
/// No line is added or dropped: the preprocessor's line markers keep debuggers on the lines of the
/// .cu file.

#pragma once

#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "source.hpp"

namespace cuda_on_cpu::rewriter {

/// What is not understood, in a sentence that begins with file and line.
struct Refused : std::runtime_error {
  using runtime_error::runtime_error;
};

/// What is promised of kernels, by name: the text in the parentheses.
using Promises = std::map<std::string, std::string, std::less<>>;

using Names = std::set<std::string, std::less<>>;

/// The plain C++ for a preprocessed source.
/// \param guards whether the program is analysed: variables in shared memory get guards behind
/// them, calls that drop an error are marked, functions of the host ask who calls them, those of
/// the device say what escapes the analysis, and memory is asked for where a kernel gets it from
/// the device
/// \param is_header whether others will include it, who then say what its kernels promise and what
/// its variables are called
/// \throws Refused
std::string rewrite(std::string text, bool guards, bool is_header = false);

/// Lets the source of a module's image tell its kernels to who loads it: an entry behind each of
/// them, for those that `rewrite` will make of it.
std::string with_entries(std::string text);

/// Marks all that the source itself declares as the device's, but kernels: what stands in
/// namespaces, and functions of classes.
std::string with_device_marks(std::string text);

/// Gives variables of the device internal linkage, as nvcc does where code of the device is not
/// linked (-rdc=false), unless the source declares one as external. Functions of the device that
/// several sources may define, inline ones and templates, become internal, too, if they use such a
/// variable: each source calls its own. Members of classes stay as they are.
std::string with_internal_linkage(std::string text);

/// What marks a variable or a function as the device's: the attribute at a token.
enum class Mark { none, device, managed, constant, constant_section };
Mark mark_at(const Source& source, std::size_t i);

/// The variables that the declaration with such a mark declares; none if it declares a function.
std::vector<std::string> marked_variables(const Source& source, std::size_t mark);

/// Texts that are inserted after tokens.
using Additions = std::map<std::size_t, std::string>;

/// Kernels with plain parameters that a source defines completely in one scope. A variable behind
/// the last definition contains the addresses of all kernels of one name.
struct Overloads {
  struct Kernel {
    std::size_t last;   ///< token of the last definition
    std::size_t count;  ///< of kernels
    std::string variable = {};
    bool is_used = false;  ///< by a launch
  };
  std::map<std::string, Kernel> known = {};
};
Overloads find_overloads(const Source& source);

/// Rewrites the launch whose '<<<' is a token; kernels may have been promised clusters.
/// \param of_device whether it stands in code of the device
void rewrite_launch(Source& source, std::size_t launch, const Promises& clusters,
                    Overloads& overloads, bool of_device);

/// Rewrites the declaration that holds the __shared__ at a token.
void rewrite_shared(Source& source, std::size_t i, bool guards);

/// Code that is inserted after the kernels whose address a source takes, by the tokens that end the
/// kernels. It registers the types of their parameters for launches by address.
Additions find_noted_kernels(const Source& source);

/// Looks at the kernels' parameters.
/// \throws Refused where one is a reference
void check_kernels(const Source& source);

/// The functions that only the host may call, by the tokens that open their bodies: those at
/// namespace scope that no word marks as the device's, nor another one of their name.
using HostFunctions = std::map<std::size_t, std::string>;
HostFunctions find_host_functions(const Source& source);

/// Lets their bodies begin with a question who calls them.
void mark_host_functions(Source& source, const HostFunctions& functions);

/// The tokens that open and close a function's body.
struct Body {
  std::size_t open, close;
};

/// The bodies that __device__ and __global__ mark, lambdas' among them; in their order, none within
/// another.
std::vector<Body> find_device_bodies(const Source& source);

/// Whether a token is in one of some bodies, which are in their order.
bool is_in(const std::vector<Body>& bodies, std::size_t i);

/// The names of fields of bits, in whatever class.
Names find_bit_fields(const Source& source);

/// Lets shifts whose width is not known to be small do as a GPU does, but for those of fields of
/// bits.
void rewrite_shifts(Source& source, const Body& body, const Names& bit_fields);

/// The names of what is declared volatile, wherever.
Names find_volatiles(const Source& source);

/// Lets loops that only wait for something volatile say so, that others of the block may run.
void rewrite_waits(Source& source, const Body& body, const Names& volatiles);

/// Lets loops of the host, from a token on and outside of these bodies, say that they look at
/// something volatile: at what a kernel may write.
void rewrite_looks(Source& source, std::size_t first, const std::vector<Body>& bodies,
                   const Names& volatiles);

/// What nvcc would make of CUB's headers, those of the toolkit: other headers of the system pass as
/// they are.
std::string with_cub(std::string text);

/// What a kernel's body says where it begins, and any body that calls what is not analysed; of a
/// source in which no call is rewritten yet.
std::string mark_of_unseen(const Source& source, const Body& body);

/// Replaces the asm at a token by calls of the functions that do what its instructions do.
void rewrite_ptx(Source& source, std::size_t i);

}  // namespace cuda_on_cpu::rewriter
