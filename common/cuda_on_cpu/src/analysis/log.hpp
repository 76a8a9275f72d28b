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

  Accesses rows[most];
  std::uint8_t begin[warp_size];    ///< the row of a lane's oldest access
  std::uint8_t end[warp_size];      ///< the row behind that of its newest
  std::uint8_t writing[warp_size];  ///< the bytes that a lane is about to write
  std::uint8_t written[warp_size];  ///< the row of that access
  char before[warp_size][16];       ///< what was there
  bool has_kept;                    ///< whether a lane has stored what was there
  bool is_used;                     ///< since it was cleared

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

  /// Whether a lane's next access can be noted at once.
  bool is_open(unsigned lane) const { return end[lane] != most && writing[lane] == 0; }

  /// A lane is about to write where its newest access goes.
  [[gnu::always_inline]] void note_before(unsigned lane, const void* address, std::size_t bytes) {
    writing[lane] = static_cast<std::uint8_t>(bytes);
    written[lane] = static_cast<std::uint8_t>(end[lane] - 1);
    std::memcpy(before[lane], address, bytes);
  }

  /// Whether a lane may be about to copy a structure: that is told as a write, then as a read, and
  /// is done behind both.
  bool may_copy(unsigned lane, AccessForm read) const {
    return writing[lane] >= 8 && read.has(writing[lane], 0) && written[lane] + 1 == end[lane];
  }

  /// A lane has to wait before what it was about to write is there: it counts as new.
  void note_change(unsigned lane) {
    rows[written[lane]].changes |= 1u << lane;
    writing[lane] = 0;
  }

  /// Whether what a lane's oldest access wrote is what another lane wrote that is checked before
  /// it: lanes run one after the other, and the order of requests may be another one. Then it is
  /// the other one that stored what was there.
  /// \param request the lanes that are checked together with this one, the lower ones before it
  bool was_stored_again(unsigned lane, std::uint32_t request) const;

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

  void compare(unsigned lane) {
    Accesses& row = rows[written[lane]];
    const bool same =
        is_same(before[lane], reinterpret_cast<const char*>(row.address[lane]), writing[lane]);
    const std::uint32_t me = 1u << lane;
    row.changes = same ? row.changes & ~me : row.changes | me;
    has_kept = has_kept || same;
    writing[lane] = 0;
  }
};

}  // namespace cuda_on_cpu::analysis
