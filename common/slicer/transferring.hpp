/// \file
/// Writes loop (4) in place of a nest: what transfers.cpp and the files of its parts have in
/// common.

#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "footprints.hpp"
#include "lines.hpp"
#include "rewriting.hpp"

namespace slicer {

/// Whether a token names a part of something else.
inline bool is_member(const std::vector<Token>& tokens, std::size_t t) {
  return t > 0 && (tokens[t - 1] == "." || tokens[t - 1] == "->" || tokens[t - 1] == "::");
}

class Transfers {
 public:
  Transfers(Rewriting& rewriting, const Marked& marked);

  void write(bool is_template);

 private:
  // --- The parts of the text: transfers.cpp

  /// Puts what was written in place of the nest, behind what it needs.
  void put(const Lines& parts);
  std::vector<std::string> names_to_be() const;
  Extent extent_of(const Cut& cut);
  /// "a, [i_begin, i_end) x [0, n): a box, exact"
  std::string described(const Footprint& array) const;
  void introduce(Lines& lines) const;
  void write_boxes(Lines& lines) const;
  /// The beginning of a part: where its slice lies, as far as it is used.
  void open(Lines& lines, const std::string& part, const std::string& body, bool is_kernel) const;
  /// What a user is to write, in words.
  void leave_open(Lines& lines, const char* what, bool of_sent) const;
  void write_serialise(Lines& lines, bool is_template) const;
  bool has_room_to_make() const;
  /// Room for what is written only; all else lies where it was sent to.
  void write_make_room(Lines& lines) const;
  void write_kernel(Lines& lines, bool is_template) const;
  /// A size is one of the whole array, not of a buffer.
  std::string with_size(std::string nest, const std::string& array) const;
  void write_deserialise(Lines& lines, bool is_template) const;
  void finish(const std::string& part, const Lines& body, Lines& lines, bool is_kernel,
              const std::string& nest = {}) const;
  void write_loop(Lines& lines) const;
  std::string name(const std::string& of) const { return of + suffix_; }
  /// What is left to the user may stay unused.
  std::string unused() const { return is_template_ ? "[[maybe_unused]] " : ""; }

  // --- What a buffer does not allow, and its elements: buffers.cpp

  [[noreturn]] void refuse(int line, const std::string& why) const;
  /// Elements of an array, and sizes of it, are all that the nest may use.
  void check(const Footprint& array);
  /// Other names of arrays, from outside of the nest, would go around the buffers.
  void check_names() const;
  std::string box_of(const Footprint& array, const char* direction) const;
  std::string element_of(const Footprint& array, const std::string& of,
                         const std::vector<std::string>& at, bool is_array) const;
  void hold(const Footprint& array, const std::string& box, Lines& lines) const;
  /// What is declared outside of the nest and named in it.
  std::vector<std::string> names_from_outside() const;
  std::vector<Token> tokens() const { return source_.tokens(marked_.nest); }

  // --- On a GPU: device_transfers.cpp

  void write_on_device(Lines& lines);
  std::string device_box(const Footprint& array) const;
  std::string stream(const std::string& e) const;
  void write_device_boxes(Lines& lines) const;
  void write_sending(Lines& lines) const;
  std::string room_element(const Footprint& array, const std::string& room,
                           const std::vector<std::string>& at) const;
  void write_launch(Lines& lines) const;
  void write_fetching(Lines& lines) const;
  void write_device_loop(Lines& lines) const;

  // --- The kernel of a nest: kernels.cpp

  /// Functions of the host cannot be called from a kernel, but for those of CUDA's own.
  void check_for_device() const;
  std::string written(Range range) const;
  /// What a kernel is given besides rooms of elements: numbers that it names.
  std::vector<std::string> numbers_of_kernel() const;
  /// The parameters of the function's template, as they are written, and their names.
  std::pair<std::string, std::vector<std::string>> template_parameters() const;
  std::string template_arguments() const;
  /// The nest as a kernel: each thread has the iterations from its own on, a grid apart.
  std::string kernel_function() const;
  /// The nest with loops that go a grid further each time.
  std::string nest_of_threads() const;

  Rewriting& rewriting_;
  const Source& source_;
  const Marked& marked_;
  std::string suffix_;
  Footprints footprints_;
  std::size_t columns_;
  std::vector<Footprint> arrays_;
  bool is_template_ = false;
  std::set<std::string> sized_;  ///< arrays of which the nest uses a size
};

}  // namespace slicer
