#include "npy.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <optional>
#include <staircase/error.hpp>
#include <system_error>
#include <utility>

#include "file.hpp"
#include "machine.hpp"
#include "parts.hpp"

static_assert(std::endian::native == std::endian::little,
              ".npy files are read without byte swapping");

namespace staircase {
namespace {

constexpr std::string_view magic("\x93NUMPY", 6);

/// The contents of the header of a `.npy` file.
struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::size_t> shape;
};

/// Parses a header, which is a Python dictionary with the keys descr, fortran_order and shape.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  /// Returns an empty optional if the text is not a valid header.
  std::optional<Header> parse() {
    Header header;
    bool has_descr = false, has_order = false, has_shape = false;
    if (!take('{')) return {};
    while (!take('}')) {
      const auto key = string();
      if (!key || !take(':')) return {};
      if (*key == "descr" && !has_descr) {
        const auto descr = string();
        if (!descr) return {};
        header.descr = *descr;
        has_descr = true;
      } else if (*key == "fortran_order" && !has_order) {
        if (word("True"))
          header.fortran_order = true;
        else if (!word("False"))
          return {};
        has_order = true;
      } else if (*key == "shape" && !has_shape) {
        if (!tuple(header.shape)) return {};
        has_shape = true;
      } else {
        return {};
      }
      if (!take(',') && !peek('}')) return {};
    }
    skip_space();
    if (!text_.empty() || !has_descr || !has_order || !has_shape) return {};
    return header;
  }

 private:
  void skip_space() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n')) text_.remove_prefix(1);
  }
  bool peek(char c) {
    skip_space();
    return text_.starts_with(c);
  }
  bool take(char c) {
    if (!peek(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool word(std::string_view w) {
    skip_space();
    if (!text_.starts_with(w)) return false;
    text_.remove_prefix(w.size());
    return true;
  }
  std::optional<std::string> string() {
    skip_space();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) return {};
    const auto end = text_.find(text_[0], 1);
    if (end == std::string_view::npos) return {};
    std::string value(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return value;
  }
  bool tuple(std::vector<std::size_t>& shape) {
    if (!take('(')) return false;
    while (!take(')')) {
      std::size_t extent = 0;
      skip_space();
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), extent);
      if (error != std::errc()) return false;
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      shape.push_back(extent);
      if (!take(',') && !peek(')')) return false;
    }
    return true;
  }

  std::string_view text_;
};

/// Copies the elements of a column-major array with the given shape into row-major order.
template <typename T>
Elements<T> to_row_major(const Elements<T>& values, const std::vector<std::size_t>& shape) {
  Elements<T> rows(values.size());
  std::vector<std::size_t> index(shape.size());
  for (T& row : rows) {
    std::size_t offset = 0;
    for (std::size_t d = shape.size(); d-- > 0;) offset = offset * shape[d] + index[d];
    row = values[offset];
    for (std::size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];) index[d] = 0;
  }
  return rows;
}

enum class Read { failed, whole };

/// A file that is open for reading; no file if the descriptor is negative.
struct OpenFile {
  OpenFile() = default;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (descriptor >= 0) ::close(descriptor);
  }

  Read read(char* data, std::size_t count, std::uintmax_t at) const {
    while (count > 0) {
      const ssize_t bytes = ::pread(descriptor, data, count, static_cast<off_t>(at));
      if (bytes < 0 && errno == EINTR) continue;
      if (bytes <= 0) return Read::failed;
      data += bytes;
      count -= static_cast<std::size_t>(bytes);
      at += static_cast<std::uintmax_t>(bytes);
    }
    return Read::whole;
  }

  int descriptor = -1;
};

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : path_(path) {}

  NpyLayout read_layout() {
    std::error_code error;
    const auto status = std::filesystem::status(path_, error);
    if (!std::filesystem::exists(status)) refuse("does not exist");
    if (!std::filesystem::is_regular_file(status)) refuse("is not a regular file");
    file_.descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_.descriptor < 0) refuse("cannot be opened");
    left_ = std::filesystem::file_size(path_);

    const std::uintmax_t size = left_;
    const Header header = read_header();
    constexpr std::string_view allowed[] = {"<f8", "<f4", "<i4", "<i8"};
    if (std::find(std::begin(allowed), std::end(allowed), header.descr) == std::end(allowed))
      refuse(fmt::format("holds elements of type '{}'; allowed are '<f4', '<f8', '<i4' and '<i8'",
                         header.descr));
    check_size(header, header.descr.back() - '0');
    return {header.shape, header.descr, header.fortran_order, size - left_};
  }

  NpyArray read() {
    const NpyLayout layout = read_layout();
    const double needed = static_cast<double>(left_) * (layout.column_major ? 2 : 1);
    if (const double available = available_memory(); needed > available)
      throw NotEnoughMemory(fmt::format(
          "the file '{}' takes {:.0f} bytes to read, and {:.0f} bytes of memory are available",
          path_.string(), needed, available));
    NpyArray array = without_elements(layout);
    std::visit(
        [&](auto& values) {
          values.resize(left_ / sizeof(values[0]));
          read_bytes(reinterpret_cast<char*>(values.data()), left_);
        },
        array.values);
    if (layout.column_major) to_row_major(array);
    return array;
  }

 private:
  [[noreturn]] void refuse(std::string_view why) const {
    throw BadInput(fmt::format("the file '{}' {}", path_.string(), why));
  }

  void read_bytes(char* data, std::uintmax_t count) {
    if (count > left_) refuse(fmt::format("is truncated: {} bytes are missing", count - left_));
    // All threads read, because the system initialises each page at its first write, which takes
    // too long on a single core.
    const auto are_read = by_parts(count, [&](std::size_t begin, std::size_t end) {
      return file_.read(data + begin, end - begin, at_ + begin);
    });
    if (std::ranges::find(are_read, Read::failed) != are_read.end()) refuse("cannot be read");
    left_ -= count;
    at_ += count;
  }

  Header read_header() {
    char start[8];
    if (left_ < sizeof start) refuse("is not a .npy file: it is too short");
    read_bytes(start, sizeof start);
    if (std::string_view(start, magic.size()) != magic)
      refuse("is not a .npy file: it does not begin with \\x93NUMPY");
    const int version = start[6];
    if (version < 1 || version > 3)
      refuse(fmt::format("has .npy version {}; allowed are 1, 2 and 3", version));
    unsigned char length_bytes[4] = {};
    read_bytes(reinterpret_cast<char*>(length_bytes), version == 1 ? 2 : 4);
    std::uint32_t length = 0;
    std::memcpy(&length, length_bytes, sizeof length);
    if (length > left_) refuse("is truncated within its header");
    std::string text(length, '\0');
    read_bytes(text.data(), length);
    const auto header = HeaderParser(text).parse();
    if (!header) refuse("has a malformed .npy header");
    return *header;
  }

  /// Checks that the size of the file matches the shape in the header. `bytes` is the size of an
  /// element in bytes.
  void check_size(const Header& header, std::uintmax_t bytes) const {
    for (const std::size_t extent : header.shape)
      if (__builtin_mul_overflow(bytes, extent, &bytes)) refuse("has a shape that is too large");
    if (bytes < left_)
      refuse(fmt::format("holds {} bytes more than its shape says", left_ - bytes));
    if (bytes > left_) refuse(fmt::format("is truncated: {} bytes are missing", bytes - left_));
  }

  std::filesystem::path path_;
  OpenFile file_;
  std::uintmax_t left_ = 0, at_ = 0;
};

}  // namespace

std::size_t NpyArray::size() const {
  return std::visit([](const auto& v) { return v.size(); }, values);
}

std::string_view NpyArray::dtype() const {
  constexpr std::string_view names[] = {"<f8", "<f4", "<i4", "<i8"};
  return names[values.index()];
}

Elements<double> NpyArray::as_double() const& {
  return std::visit([](const auto& v) { return Elements<double>(v.begin(), v.end()); }, values);
}

Elements<double> NpyArray::as_double() && {
  if (auto* f64 = std::get_if<Elements<double>>(&values)) return std::move(*f64);
  return std::as_const(*this).as_double();
}

NpyArray read_npy(const std::filesystem::path& path) { return Reader(path).read(); }

NpyLayout read_npy_layout(const std::filesystem::path& path) { return Reader(path).read_layout(); }

NpyArray without_elements(const NpyLayout& layout) {
  NpyArray array{layout.shape, {}};
  if (layout.dtype == "<f4") array.values = Elements<float>();
  if (layout.dtype == "<i4") array.values = Elements<std::int32_t>();
  if (layout.dtype == "<i8") array.values = Elements<std::int64_t>();
  return array;
}

void to_row_major(NpyArray& array) {
  std::visit([&](auto& values) { values = to_row_major(values, array.shape); }, array.values);
}

std::string npy_header(std::string_view dtype, const std::vector<std::size_t>& extents) {
  // A tuple of one element ends with a comma, and the complete header is padded to a multiple of 64
  // bytes.
  const std::string shape =
      fmt::format("({}{})", fmt::join(extents, ", "), extents.size() == 1 ? "," : "");
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", dtype, shape);
  const std::size_t fixed = magic.size() + 4;
  header.append(63 - (fixed + header.size()) % 64, ' ');
  header += '\n';

  std::string start(magic);
  start += {'\x01', '\x00', static_cast<char>(header.size() & 255),
            static_cast<char>(header.size() >> 8)};
  return start + header;
}

void write_npy(const std::filesystem::path& path, const NpyArray& array) {
  const auto [data, bytes] = std::visit(
      [](const auto& v) {
        return std::pair(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(v[0]));
      },
      array.values);
  write_file(path, {npy_header(array.dtype(), array.shape), {data, bytes}});
}

}  // namespace staircase
