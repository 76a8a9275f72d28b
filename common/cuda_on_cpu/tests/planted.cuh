/// \file
/// The command line of the programs with seeded bugs.
///
/// A case is a namespace with one bug. Its templates have a parameter `bug`: true selects the bug,
/// false the correct counterpart. A line at which the analysis should find the bug ends in `//
/// planted: KIND`; with several possible reports, in `// planted: KIND or KIND`; if no other report
/// is permitted, in `// planted alone: KIND`. Several lines of a case may be marked. A marked line
/// outside all cases counts for every case of its file.

#pragma once

#include <cstdio>
#include <initializer_list>
#include <string_view>

struct Case {
  const char* name;  ///< name of the namespace
  void (*bug)();
  void (*twin)();
};

/// Runs `PROGRAM CASE|all bug|twin`, in which `twin` is the correct counterpart. `PROGRAM --list`
/// lists the cases.
inline int run_cases(int argc, char** argv, std::initializer_list<Case> cases) {
  const std::string_view name = argc > 1 ? argv[1] : "", version = argc > 2 ? argv[2] : "";
  if (argc == 2 && name == "--list") {
    for (const Case& each : cases) std::puts(each.name);
    return 0;
  }
  bool found = false;
  if (argc == 3 && (version == "bug" || version == "twin"))
    for (const Case& each : cases)
      if (name == "all" || name == each.name) {
        (version == "bug" ? each.bug : each.twin)();
        found = true;
      }
  if (!found) std::fprintf(stderr, "usage: %s CASE|all bug|twin, or --list\n", argv[0]);
  return found ? 0 : 2;
}
