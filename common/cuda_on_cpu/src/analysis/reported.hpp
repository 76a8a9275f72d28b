/// \file
/// The findings and counts of a report, with the lines of the source.

#pragma once

#include <string>
#include <vector>

#include "../runtime/symbols.hpp"
#include "findings.hpp"

namespace cuda_on_cpu::analysis {

/// A finding, its line, and the line of the other access.
struct ReportedFinding {
  Finding finding;
  Line line, other_line;
};

/// The accesses of a kernel, line by line.
struct Counted {
  KernelTotals kernel;
  std::vector<std::pair<Line, Site>> sites;
};

std::string access_name(const Site& site);

/// File and line, without the file's directory.
std::string place_text(const Line& line);

/// Three sentences: what was found, which access wastes most, where to look first.
std::string summary_of(const std::vector<ReportedFinding>& findings,
                       const std::vector<Counted>& counted);

/// The findings in the format that editors and code hosts show at their lines (SARIF 2.1.0).
std::string sarif_of(const std::vector<ReportedFinding>& findings);

}  // namespace cuda_on_cpu::analysis
