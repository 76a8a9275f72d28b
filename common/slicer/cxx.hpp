/// \file
/// The system headers that sources of the project include, and typical uses of their templates. The
/// build precompiles this file for the slicer.

#pragma once

#if __has_include(<gtest/gtest.h>)
#include <gtest/gtest.h>
#endif
#if __has_include(<cblas.h>)
#include <cblas.h>
#endif
#if __has_include(<isl/cpp.h>)
#include <isl/cpp.h>
#endif

#include <fmt/chrono.h>
#include <fmt/color.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <any>
#include <array>
#include <atomic>
#include <bit>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <complex>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iostream>
#include <iterator>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>
#include <optional>
#include <random>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace slicer {

/// Typical uses of templates, above all for JSON. Without these uses, resolving overloads and
/// conversions would take most of the time that remains after precompiling the headers. The return
/// type is `auto`, so libclang has to read the body and also stores the resolved templates.
inline auto typical_uses(const std::string& text, const std::vector<std::string>& texts,
                         std::ostream& out) {
  using nlohmann::json;
  const json a = json::parse(text);
  json b{{"int", 1},     {"number", 0.5}, {"words", "x"},
         {"text", text}, {"bool", true},  {"size", 1ul}};
  b["json"] = a;
  b["json"] = texts;
  b["json"] = text;
  b["json"] = "x";
  b["json"] = 0.5;
  b["json"] = 1;
  b.push_back({{"json", a}, {"list", {"a", "b"}}});
  const std::string word = a.at("text");
  const double number = a.at("number");
  const int whole = a.at("int");
  const std::size_t size = a.at("size");
  const bool is_set = a.at("bool");
  const std::vector<std::string> words = a["words"];
  const std::vector<double> numbers = a["numbers"];
  for (const auto& [name, value] : a.items()) b[name] = value;
  for (const json& each : a) b.push_back(each);
  const auto got = a.at("text").get<std::string>().size() + a.at("size").get<std::size_t>() +
                   a.at("number").get<double>() + a.value("number", 1.0) +
                   a.value("text", text).size() + a.value("text", "").size();
  out << text << " " << a << number << whole << size << "\n";
  const auto said = fmt::format("{} {} {} {} {}", text, "x", number, whole, size) + a.dump();
#ifdef EXPECT_EQ
  EXPECT_EQ(a, b) << text;
  EXPECT_EQ(a.at("text"), "x") << "x" << size;
  EXPECT_EQ(a.at("text"), text);
  EXPECT_EQ(a.at("size"), 1);
  EXPECT_EQ(a.at("size"), 1u);
  EXPECT_EQ(a.at("number"), 0.5);
  EXPECT_EQ(text, "x") << text;
  EXPECT_EQ(texts, words);
  EXPECT_EQ(size, 1u) << size;
  EXPECT_EQ(whole, 1) << whole;
  EXPECT_EQ(number, 0.5) << number;
  EXPECT_NE(text.find("x"), text.npos) << text;
  EXPECT_LT(number, 0.5) << text << number;
  EXPECT_LE(number, 0.5) << text;
  EXPECT_GE(number, 0.5) << text;
  EXPECT_GT(size, 1u) << text;
  EXPECT_LE(size, 1u) << text;
  EXPECT_GE(size, 1u) << text;
  using Pair = std::tuple<std::string, std::string>;
  const testing::internal::ParamGenerator<std::string> each = testing::ValuesIn(texts);
  const testing::internal::ParamGenerator<Pair> pairs =
      testing::Combine(testing::ValuesIn(texts), testing::ValuesIn(texts));
  EXPECT_TRUE(each.begin() == each.end() && pairs.begin() == pairs.end());
  EXPECT_TRUE(a.contains("x")) << a.dump();
#endif
  return is_set && a == b && a == "x" && a == text && a == 1 && got > 0 && said == word &&
         numbers.empty();
}

}  // namespace slicer
