/// \file
/// The image of a module as text. The text takes the place of PTX, which programs treat as a
/// zero-terminated string. The bytes of the image are therefore written as hexadecimal digits.

#pragma once

#include <string>
#include <string_view>

namespace cuda_on_cpu {

inline constexpr std::string_view title_of_image_text =
    "// A module for the CPU device, by cuda-on-cpu: its image in hexadecimal digits.\n";

inline std::string text_of_image(std::string_view image) {
  constexpr std::string_view digits = "0123456789abcdef";
  constexpr std::size_t bytes_of_line = 50;
  std::string text(title_of_image_text);
  for (std::size_t i = 0; i < image.size(); ++i) {
    const auto byte = static_cast<unsigned char>(image[i]);
    text += digits[byte >> 4];
    text += digits[byte & 15];
    if (i % bytes_of_line == bytes_of_line - 1) text += '\n';
  }
  return text + '\n';
}

inline bool is_image_text(std::string_view text) { return text.starts_with(title_of_image_text); }

/// Decodes the image from its text.
inline std::string image_of_text(std::string_view text) {
  const auto value = [](char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; };
  std::string image;
  int high = -1;
  for (const char digit : text.substr(title_of_image_text.size())) {
    if (digit == '\n') continue;
    if (high < 0) {
      high = value(digit);
    } else {
      image += static_cast<char>(high << 4 | value(digit));
      high = -1;
    }
  }
  return image;
}

}  // namespace cuda_on_cpu
