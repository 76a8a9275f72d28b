/// \file
/// Replaces a nest by loop (4) of the chapter on slicing. The class is implemented in transfers.cpp
/// and the files named below.

#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "footprints.hpp"
#include "lines.hpp"
#include "rewriting.hpp"

namespace slicer {

/// Whether a token names a member of an object or of a namespace.
inline bool is_member(const std::vector<Token>& tokens, std::size_t t) {
  return t > 0 && (tokens[t - 1] == "." || tokens[t - 1] == "->" || tokens[t - 1] == "::");
}

class Transfers {
 public:
  Transfers(Rewriting& rewriting, const Marked& marked);

  void write(bool is_template);

 private:
  // --- The parts of the text: transfers.cpp

  /// Replaces the nest by the generated code, and adds the declarations that the code needs.
  void put(const Lines& parts);
  std::vector<std::string> names_to_be() const;
  Extent extent_of(const Cut& cut);
  /// Describes a footprint: "a: [i_begin, i_end) × [0, n), exact".
  std::string described(const Footprint& array) const;
  void introduce(Lines& lines) const;
  void write_boxes(Lines& lines) const;
  /// Writes the beginning of a part, including the bounds of the slice that the part uses.
  void open(Lines& lines, const std::string& part, const std::string& body, bool is_kernel) const;
  /// Writes a comment that describes the code that the user has to add.
  void leave_open(Lines& lines, const char* what, bool of_sent) const;
  void write_serialise(Lines& lines, bool is_template) const;
  bool has_room_to_make() const;
  /// Allocates buffers for arrays that are only written. All other arrays are computed in the
  /// buffer of their input.
  void write_make_room(Lines& lines) const;
  void write_kernel(Lines& lines, bool is_template) const;
  /// Returns the text of a nest in which the sizes of an array refer to the entire array instead of
  /// its buffer.
  std::string with_size(std::string nest, const std::string& array) const;
  void write_deserialise(Lines& lines, bool is_template) const;
  void finish(const std::string& part, const Lines& body, Lines& lines, bool is_kernel,
              const std::string& nest = {}) const;
  void write_loop(Lines& lines) const;
  std::string name(const std::string& of) const { return of + suffix_; }
  /// An attribute against the warning that a function is unused. The user of a template need not
  /// call the function.
  std::string unused() const { return is_template_ ? "[[maybe_unused]] " : ""; }

  // --- Restrictions on arrays in buffers, and their elements: buffers.cpp

  [[noreturn]] void refuse(int line, const std::string& why) const;
  /// Checks that the nest uses only elements and sizes of an array.
  void check(const Footprint& array);
  /// Checks that the nest uses no alias that is declared outside of it, because accesses through
  /// such an alias would bypass the buffers.
  void check_names() const;
  std::string box_of(const Footprint& array, const char* direction) const;
  std::string element_of(const Footprint& array, const std::string& of,
                         const std::vector<std::string>& at, bool is_array) const;
  void hold(const Footprint& array, const std::string& box, Lines& lines) const;
  /// The variables that the nest uses and that are declared outside of it.
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

  /// Checks that the kernel calls no function of the host, except for those that CUDA provides.
  void check_for_device() const;
  std::string written(Range range) const;
  /// The scalar arguments of the kernel.
  std::vector<std::string> numbers_of_kernel() const;
  /// The template parameters of the function as text, and their names.
  std::pair<std::string, std::vector<std::string>> template_parameters() const;
  std::string template_arguments() const;
  /// The nest as a kernel with grid-stride loops.
  std::string kernel_function() const;
  /// The text of the nest with grid-stride loops.
  std::string nest_of_threads() const;

  Rewriting& rewriting_;
  const Source& source_;
  const Marked& marked_;
  std::string suffix_;
  Footprints footprints_;
  std::size_t columns_;
  std::vector<Footprint> arrays_;
  bool is_template_ = false;
  std::set<std::string> sized_;  ///< arrays whose size the nest uses
};

}  // namespace slicer
