/// \file
/// The command line of the programs with planted bugs.
///
/// A case is a namespace with one mistake. Its templates take `bug`: true plants the mistake, false
/// is the correct twin. The line where the analysis should find it ends in `// planted: KIND`;
/// where a mistake can be told in several ways, `// planted: KIND or KIND`; where nothing else may
/// be told, `// planted alone: KIND`. Several lines of a case may carry it. Such a line outside of
/// all cases counts for every case of its file.

#pragma once

#include <cstdio>
#include <initializer_list>
#include <string_view>

struct Case {
  const char* name;  ///< of its namespace
  void (*bug)();
  void (*twin)();
};

/// Runs `PROGRAM CASE|all bug|twin`, or lists the cases for `PROGRAM --list`.
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
