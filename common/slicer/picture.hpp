/// \file
/// The JSON of `slice --report`: all data for figures of the nests of a file.

#pragma once

#include <list>
#include <map>
#include <string>
#include <vector>

#include "instance.hpp"
#include "source.hpp"

namespace slicer {

/// Reads sizes of the form `n=5`.
/// \throws BadInput if one has another form or is not between 1 and 64
std::map<std::string, Given> read_sizes(const std::vector<std::string>& words);

/// Writes for each nest its loops, its iterations, and the dependences that do not follow from
/// other dependences. Also writes the slices that a pragma requests, with the elements that each
/// slice reads and writes.
/// \throws BadInput if there is no nest, if a nest is not affine, or if no nest has a given size
std::string picture_of(const std::string& file, const Source& source,
                       const std::list<Function>& functions, std::map<std::string, Given> sizes);

}  // namespace slicer
