/// \file
/// Reads the sources of stages, and compares two sources.

#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace staircase {

/// The numbers of lines of code that a stage adds and removes, compared with the stage that
/// this stage continues. Blank lines, comments, titles and ideas do not count.
struct LinesChanged {
  int added = 0;
  int removed = 0;
};

/// Counts the lines that differ between two source files.
/// \throws BadInput if a file cannot be read
LinesChanged lines_changed(const std::filesystem::path& before, const std::filesystem::path& after);

/// The unified diff of two source files without their header comments. Line numbers refer to the
/// complete files.
/// \param colour whether to add colours for a terminal
/// \throws BadInput if a file cannot be read
std::string unified_diff(const std::filesystem::path& before, const std::filesystem::path& after,
                         bool colour);

/// The header comment of a stage, without slashes.
/// \throws BadInput if the file cannot be read
std::string header_comment(const std::filesystem::path& source);

/// The name of the stage that a stage continues, from the line `From:` of the header comment. The
/// result is empty if there is no such line.
/// \throws BadInput if the file cannot be read
std::optional<std::string> continued_stage(const std::filesystem::path& source);

/// The text of a field that the `main` of a stage sets: `.title = "…"` or `.idea = "…"`.
/// \param field "title" or "idea"
/// \throws BadInput if the source cannot be read or does not set the field
std::string field_of(const std::filesystem::path& source, const std::string& field);

}  // namespace staircase
