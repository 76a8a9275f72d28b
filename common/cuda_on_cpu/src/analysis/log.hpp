/// \file
/// What the lanes of a warp access, until all have come so far and it can be checked.
///
/// A lane notes an access and runs on. Only where it meets others, at a barrier or an atomic, or
/// where its log is full, does it wait until the warp has made its requests.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../machine/block.hpp"

namespace cuda_on_cpu::analysis {

/// What an access does, in one word: compilers take a structure of four bytes apart.
class AccessForm {
 public:
  AccessForm() = default;
  /// \param checked or to be checked together with those of the other lanes
  constexpr AccessForm(std::size_t bytes, unsigned kind, unsigned space, bool checked)
      : word_(static_cast<std::uint32_t>(bytes) | kind << 8 | space << 16 |
              unsigned{checked} << 24) {}

  unsigned bytes() const { return word_ & 0xFF; }
  unsigned kind() const { return word_ >> 8 & 0xFF; }
  unsigned space() const { return word_ >> 16 & 0xFF; }
  bool checked() const { return word_ >> 24 != 0; }
  bool has(std::size_t bytes, unsigned kind) const {
    return static_cast<std::uint16_t>(word_) == (bytes | kind << 8);
  }
  std::uint32_t word() const { return word_; }
  bool operator==(const AccessForm&) const = default;

 private:
  std::uint32_t word_;
};

/// An access of each lane of a warp.
struct Accesses {
  std::uintptr_t address[warp_size];
  std::uint64_t order[warp_size];   ///< depth of the stack frame, and how low the instruction is:
                                    ///< most go first
  std::uint64_t number[warp_size];  ///< in the order in which accesses were asked for
  AccessForm form[warp_size];
  std::uint32_t changes;  ///< lanes that changed what they wrote to, as a mask
};

/// The accesses of a warp's lanes that are not checked yet, each lane's from its oldest on.
struct AccessLog {
  static constexpr unsigned most = 16;
  static constexpr unsigned most_pieces = 7;  ///< of a structure: a copy of more would not fit
  static constexpr std::size_t most_bytes_written = 64;

  Accesses rows[most];
  std::uint8_t begin[warp_size];               ///< the row of a lane's oldest access
  std::uint8_t end[warp_size];                 ///< the row after a lane's newest access
  std::uint8_t writing[warp_size];             ///< the bytes that a lane is about to write
  std::uint8_t written[warp_size];             ///< the row of this access, or of its first piece
  char before[warp_size][most_bytes_written];  ///< the old contents
  bool has_kept;                               ///< whether a lane has stored what was there
  bool is_used;                                ///< since it was cleared

  /// A block begins.
  void clear() {
    rewind();
    std::memset(writing, 0, sizeof writing);
    for (Accesses& row : rows) std::memset(row.number, 0, sizeof row.number);
    has_kept = false;
  }

  /// All accesses are checked.
  void rewind() {
    std::memset(begin, 0, sizeof begin);
    std::memset(end, 0, sizeof end);
  }

  /// Whether a lane can log its next access immediately. After a write, a row stays free for a
  /// read, because both may belong to one copy.
  bool is_open(unsigned lane, unsigned kind) const {
    return !is_full(lane, kind) && writing[lane] == 0;
  }
  bool is_full(unsigned lane, unsigned kind) const {
    return end[lane] + (kind == 1 ? 1u : 0u) >= most;
  }

  /// A lane is about to write where its newest access goes.
  [[gnu::always_inline]] void note_before(unsigned lane, const void* address, std::size_t bytes) {
    writing[lane] = static_cast<std::uint8_t>(bytes);
    written[lane] = static_cast<std::uint8_t>(end[lane] - 1);
    std::memcpy(before[lane], address, bytes);
  }

  /// A lane is about to write the next piece of the structure of its newest access.
  void note_before_piece(unsigned lane, const void* address, std::size_t bytes) {
    if (writing[lane] == 0) return note_before(lane, address, bytes);
    std::memcpy(before[lane] + writing[lane], address, bytes);
    writing[lane] = static_cast<std::uint8_t>(writing[lane] + bytes);
  }

  /// Whether a lane may be about to copy a structure. The compiler reports such a copy as a write
  /// and then as a read, both piece by piece, and the copy itself follows.
  bool may_copy(unsigned lane, AccessForm read) const {
    if (writing[lane] == 0) return false;
    const unsigned bytes = bytes_of_piece(lane);
    return read.has(bytes, 0) && end[lane] < written[lane] + 2 * (writing[lane] / bytes);
  }

  /// A lane has to wait before what it was about to write is there: it counts as new.
  void note_change(unsigned lane) {
    const unsigned pieces = writing[lane] / bytes_of_piece(lane);
    for (unsigned row = written[lane]; row < written[lane] + pieces; ++row)
      rows[row].changes |= 1u << lane;
    writing[lane] = 0;
  }

  /// Records whether a lane is about to write the value that is already there, in one piece.
  void note_value(unsigned lane, bool is_same) {
    set_change(rows[written[lane]], lane, is_same);
    writing[lane] = 0;
  }

  /// Whether what a lane's oldest access wrote is what another lane wrote that is checked before
  /// it: lanes run one after the other, and the order of requests may be another one. Then it is
  /// the other one that stored what was there.
  /// \param request the lanes that are checked together with this one, the lower ones before it
  bool was_stored_again(unsigned lane, std::uint32_t request) const;

  /// The instruction by which a lane last accessed some bytes, if it read them and its latest
  /// accesses include this one; otherwise 0.
  /// \returns the order of the access, which contains the instruction
  std::uint64_t last_read(unsigned lane, const void* address, std::size_t bytes) const {
    const Accesses* last = nullptr;
    for (const Accesses& row : rows)
      if (row.number[lane] != 0 && row.address[lane] == reinterpret_cast<std::uintptr_t>(address) &&
          (last == nullptr || row.number[lane] > last->number[lane]))
        last = &row;
    return last != nullptr && last->form[lane].has(bytes, 0) ? last->order[lane] : 0;
  }

  /// What a lane was about to write is there.
  [[gnu::always_inline]] void note_after(unsigned lane) {
    if (writing[lane] != 0) compare(lane);
  }

 private:
  /// Compares as many bytes as one access can have, without a call.
  static bool is_same(const char* a, const char* b, unsigned bytes) {
    switch (bytes) {
      case 1:
        return *a == *b;
      case 2:
        return std::memcmp(a, b, 2) == 0;
      case 4:
        return std::memcmp(a, b, 4) == 0;
      case 8:
        return std::memcmp(a, b, 8) == 0;
      default:
        return std::memcmp(a, b, 16) == 0;
    }
  }

  unsigned bytes_of_piece(unsigned lane) const { return rows[written[lane]].form[lane].bytes(); }

  void set_change(Accesses& row, unsigned lane, bool same) {
    const std::uint32_t me = 1u << lane;
    row.changes = same ? row.changes & ~me : row.changes | me;
    has_kept = has_kept || same;
  }

  void compare(unsigned lane) {
    const unsigned bytes = bytes_of_piece(lane);
    Accesses* row = &rows[written[lane]];
    for (unsigned done = 0; done < writing[lane]; done += bytes, ++row)
      set_change(
          *row, lane,
          is_same(before[lane] + done, reinterpret_cast<const char*>(row->address[lane]), bytes));
    writing[lane] = 0;
  }
};

}  // namespace cuda_on_cpu::analysis
