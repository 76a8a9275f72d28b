#include "passes.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <vector>

#include "rewrite.hpp"
#include "source.hpp"

namespace cuda_on_cpu::rewriter {
namespace {

bool opens_body(const Source& source, std::size_t i) {
  if (!source.is_sign(i, "{")) return false;
  const std::size_t before = source.previous(i);
  for (const auto token : {")", "const", "noexcept", "override", "final", "mutable"})
    if (source.is(before, token)) return true;
  return false;
}

std::vector<Body> bodies_of(const Source& source) {
  std::vector<Body> bodies;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (!opens_body(source, i)) continue;
    bodies.push_back({i, source.close_of(i)});
    i = bodies.back().close;
  }
  return bodies;
}

/// Tokens first to last - 1 without blanks, each followed by a line break.
std::string words(const Source& source, std::size_t first, std::size_t last) {
  std::string text;
  for (std::size_t i = first; i < last; ++i)
    if (!source.is_blank(i)) (text += source[i]) += '\n';
  return text;
}

/// Whether two sources are equal except for the bodies of functions.
bool have_same_frame(const Source& one, const std::vector<Body>& of_one, const Source& other,
                     const std::vector<Body>& of_other) {
  if (of_one.size() != of_other.size()) return false;
  std::size_t first = 0, first_of_other = 0;
  for (std::size_t n = 0; n < of_one.size(); ++n) {
    if (words(one, first, of_one[n].open) != words(other, first_of_other, of_other[n].open))
      return false;
    first = of_one[n].close;
    first_of_other = of_other[n].close;
  }
  return words(one, first, one.size()) == words(other, first_of_other, other.size());
}

/// A line marker for the text after a token.
std::string marker_for(const Source& source, std::size_t i) {
  const std::string place = source.place_of(i);
  const auto colon = place.rfind(':');
  return "\n# " + place.substr(colon + 1) + " \"" + place.substr(0, colon) + "\"\n";
}

}  // namespace

bool sources_mention(std::string_view text, std::string_view word) {
  std::set<std::string> files;
  for (std::size_t line = 0, end = 0; line < text.size(); line = end + 1) {
    end = std::min(text.find('\n', line), text.size());
    LineMarker marker{};
    if (read_marker(text.substr(line, end - line), marker) && !marker.is_system)
      files.emplace(marker.file);
  }
  for (const auto& name : files) {
    if (!std::filesystem::is_regular_file(name)) continue;
    std::ifstream file(name);
    const std::string content(std::istreambuf_iterator<char>(file), {});
    if (content.find(word) != content.npos) return true;
  }
  return false;
}

std::string merged(const std::string& device_text, const std::string& host_text) {
  Source device(device_text);
  const Source host(host_text);
  const auto bodies = bodies_of(device), of_host = bodies_of(host);
  if (!have_same_frame(device, bodies, host, of_host)) return device_text;
  for (std::size_t n = 0; n < bodies.size(); ++n) {
    const auto [open, close] = bodies[n];
    const auto [host_open, host_close] = of_host[n];
    if (words(device, open, close) == words(host, host_open, host_close)) continue;
    device.replace(open, close + 1,
                   "{ if (::cuda_on_cpu::is_on_device()) " + device.text(open, close + 1) +
                       " else " + marker_for(host, host_open) +
                       host.text(host_open, host_close + 1) + marker_for(device, close) + '}');
  }
  return device.text(0, device.size());
}

}  // namespace cuda_on_cpu::rewriter
