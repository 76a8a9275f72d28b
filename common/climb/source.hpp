/// \file
/// The sources of the stages, and what changed between two of them.

#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace staircase {

/// Lines of code that a step adds and removes; blank lines and comments do not count.
struct LinesChanged {
  int added = 0;
  int removed = 0;
};

/// Counts the lines that differ between two source files.
/// \throws BadInput if one of them cannot be read.
LinesChanged lines_changed(const std::filesystem::path& before, const std::filesystem::path& after);

/// The unified diff of two source files behind their header comments, with terminal colours if
/// wanted. Lines are numbered as in the files.
/// \throws BadInput if one of them cannot be read.
std::string unified_diff(const std::filesystem::path& before, const std::filesystem::path& after,
                         bool colour);

/// The header comment of a stage, without its slashes.
/// \throws BadInput if the file cannot be read.
std::string header_comment(const std::filesystem::path& source);

/// The stage that a stage continues, if its header comment names one behind `From:`.
/// \throws BadInput if the file cannot be read.
std::optional<std::string> continued_stage(const std::filesystem::path& source);

/// What a stage's `main` says of it: its title, or its idea.
/// \throws BadInput if the source cannot be read or does not say it
std::string said_in(const std::filesystem::path& source, const std::string& field);

}  // namespace staircase
