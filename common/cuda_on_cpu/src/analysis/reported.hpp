/// \file
/// The findings and counts of a report, with their source lines.

#pragma once

#include <string>
#include <vector>

#include "../runtime/symbols.hpp"
#include "findings.hpp"

namespace cuda_on_cpu::analysis {

/// A finding with its source line and the source line of the other access.
struct ReportedFinding {
  Finding finding;
  Line line, other_line;
};

/// The counts of a kernel's accesses by source line.
struct Counted {
  KernelTotals kernel;
  std::vector<std::pair<Line, Site>> sites;
  std::uint32_t number;  ///< index of the kernel in `Record::kernels`
};

std::string access_name(const Site& site);

/// The file name without its directory, and the line number, as in "file.cu:12".
std::string place_text(const Line& line);

/// A summary in three sentences: the errors, the access with the largest cost beyond the ideal
/// cost, and the line to inspect first.
std::string summary_of(const std::vector<ReportedFinding>& findings,
                       const std::vector<Counted>& counted);

/// The findings in SARIF 2.1.0, a format that editors and code hosts show next to the source lines.
std::string sarif_of(const std::vector<ReportedFinding>& findings);

}  // namespace cuda_on_cpu::analysis
