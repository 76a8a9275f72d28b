/// \file
/// The log of the accesses of a warp's lanes.
///
/// A lane logs an access and continues. A lane waits for the check of the warp's requests only at a
/// barrier, at an atomic operation, or if the log is full.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../machine/block.hpp"

namespace cuda_on_cpu::analysis {

/// The form of an access in one 32-bit word. A structure of four one-byte members would be slower,
/// because compilers load and store the members separately.
class AccessForm {
 public:
  AccessForm() = default;
  /// \param checked whether the access has been checked already; otherwise, it is checked together
  /// with the accesses of the other lanes
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

/// One logged access of each lane of a warp.
struct Accesses {
  std::uintptr_t address[warp_size];
  std::uint64_t order[warp_size];   ///< priority: depth of the stack frame, then complement of the
                                    ///< instruction's address
  std::uint64_t number[warp_size];  ///< position of the access among all accesses of the block
  AccessForm form[warp_size];
  std::uint32_t changes;  ///< mask of the lanes whose write changed the value
};

/// The unchecked accesses of a warp's lanes. The accesses of a lane are in consecutive rows, and
/// the oldest one comes first.
struct AccessLog {
  static constexpr unsigned most = 16;
  static constexpr unsigned most_pieces = 7;  ///< maximum number of pieces of a structure whose
                                              ///< copy fits into the log
  static constexpr std::size_t most_bytes_written = 64;

  Accesses rows[most];
  std::uint8_t begin[warp_size];               ///< the row of a lane's oldest access
  std::uint8_t end[warp_size];                 ///< the row after a lane's newest access
  std::uint8_t writing[warp_size];             ///< number of bytes of a lane's pending write, or 0
  std::uint8_t written[warp_size];             ///< row of the pending write, or of its first piece
  char before[warp_size][most_bytes_written];  ///< old contents of the bytes of the pending write
  bool has_kept;                               ///< whether a lane has stored the value that the
                                               ///< memory already contained
  bool is_used;                                ///< whether the log has been used since it was
                                               ///< cleared

  /// Clears the log at the beginning of a block.
  void clear() {
    rewind();
    std::memset(writing, 0, sizeof writing);
    for (Accesses& row : rows) std::memset(row.number, 0, sizeof row.number);
    has_kept = false;
  }

  /// Empties the log after all its accesses have been checked.
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

  /// Saves the old contents of the memory to which a lane is about to write.
  [[gnu::always_inline]] void note_before(unsigned lane, const void* address, std::size_t bytes) {
    writing[lane] = static_cast<std::uint8_t>(bytes);
    written[lane] = static_cast<std::uint8_t>(end[lane] - 1);
    std::memcpy(before[lane], address, bytes);
  }

  /// Saves the old contents for the next piece of a structure to which a lane is about to write.
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

  /// Counts the pending write of a lane as a change: the lane must wait before the write is
  /// performed, so the new value is unknown.
  void note_change(unsigned lane) {
    const unsigned pieces = writing[lane] / bytes_of_piece(lane);
    for (unsigned row = written[lane]; row < written[lane] + pieces; ++row)
      rows[row].changes |= 1u << lane;
    writing[lane] = 0;
  }

  /// Logs whether the pending write of a lane stores the value that is already in memory. The write
  /// must consist of one piece.
  void note_value(unsigned lane, bool is_same) {
    set_change(rows[written[lane]], lane, is_same);
    writing[lane] = 0;
  }

  /// Whether another lane later stored the value that the oldest access of a lane stored, and the
  /// later store is checked first. Lanes run one after the other, but their requests may be checked
  /// in a different order. The store that is checked first counts as the change of the value.
  /// \param request mask of the lanes that are checked together, in ascending order
  bool was_stored_again(unsigned lane, std::uint32_t request) const;

  /// The last access of a lane to some bytes, if this access is a read that the log still contains.
  /// \returns the order of the access, which contains the instruction, or 0
  std::uint64_t last_read(unsigned lane, const void* address, std::size_t bytes) const {
    const Accesses* last = nullptr;
    for (const Accesses& row : rows)
      if (row.number[lane] != 0 && row.address[lane] == reinterpret_cast<std::uintptr_t>(address) &&
          (last == nullptr || row.number[lane] > last->number[lane]))
        last = &row;
    return last != nullptr && last->form[lane].has(bytes, 0) ? last->order[lane] : 0;
  }

  /// Compares the new value with the old one after a lane's write has been performed.
  [[gnu::always_inline]] void note_after(unsigned lane) {
    if (writing[lane] != 0) compare(lane);
  }

 private:
  /// Compares as many bytes as one access can have, at most 16, without a function call.
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
