/// \file
/// What the report tells, with the lines of the source.

#pragma once

#include <string>
#include <vector>

#include "../runtime/symbols.hpp"
#include "findings.hpp"

namespace cuda_on_cpu::analysis {

/// A finding, its line and that of what it collided with.
struct Told {
  Finding finding;
  Line line, other_line;
};

/// What a kernel did, line by line.
struct Counted {
  KernelTotals kernel;
  std::vector<std::pair<Line, Site>> sites;
};

std::string access_name(const Site& site);

/// File and line, without the file's directory.
std::string place_text(const Line& line);

/// Three sentences: what was found, which access wastes most, where to look first.
std::string summary_of(const std::vector<Told>& told, const std::vector<Counted>& counted);

/// The findings in the format that editors and code hosts show at their lines (SARIF 2.1.0).
std::string sarif_of(const std::vector<Told>& told);

}  // namespace cuda_on_cpu::analysis
