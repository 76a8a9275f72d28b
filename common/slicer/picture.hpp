/// \file
/// The JSON that `slice --report` writes: all data for figures of the nests of a file.

#pragma once

#include <list>
#include <map>
#include <string>
#include <vector>

#include "instance.hpp"
#include "source.hpp"

namespace slicer {

/// Reads sizes of the form `n=5`.
/// \throws BadInput if a word has another form or a size is not between 1 and 64
std::map<std::string, Given> read_sizes(const std::vector<std::string>& words);

/// Writes for each nest its loops, its iterations, and the dependences that other dependences do
/// not imply. Also writes the slices that a pragma requests, with the elements that each slice
/// reads and writes.
/// \throws BadInput if there is no nest, if a nest is not affine, or if a size in `sizes` does not
/// occur in any nest
std::string picture_of(const std::string& file, const Source& source,
                       const std::list<Function>& functions, std::map<std::string, Given> sizes);

}  // namespace slicer
