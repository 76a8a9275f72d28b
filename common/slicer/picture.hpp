/// \file
/// What `slice --report` writes: all that pictures of the nests of a file need, as JSON.

#pragma once

#include <list>
#include <map>
#include <string>
#include <vector>

#include "instance.hpp"
#include "source.hpp"

namespace slicer {

/// Reads sizes that are chosen as in `n=5`.
/// \throws BadInput if one is not written like that, or not from 1 to 64
std::map<std::string, Given> read_sizes(const std::vector<std::string>& words);

/// For each nest its loops, its points, the dependences that no other one implies, and the slices
/// that a pragma asks for, with what each reads and writes.
/// \throws BadInput if there is no nest, if one is beyond affine, or if a size is none of any nest
std::string picture_of(const std::string& file, const Source& source,
                       const std::list<Function>& functions, std::map<std::string, Given> sizes);

}  // namespace slicer
