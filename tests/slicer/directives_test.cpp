/// \file
/// Tests how the slicer's own pragmas are read, and which pragmas are refused.

#include <slicer/directives.hpp>
#include <staircase/error.hpp>

#include "support.hpp"

namespace slicer {
namespace {

std::vector<Directive> read(const std::string& text) {
  staircase::test::Directory directory;
  staircase::test::write_text(directory / "marked.cpp", text);
  return read_directives(Source(directory / "marked.cpp", {{"-std=c++20"}, {}, {}}));
}

TEST(Directives, HaveWordsArgumentsAndWhereTheyBelong) {
  const std::string text =
      "void f(int n) {\n"
      "#pragma omp parallel for\n"
      "#  pragma staircase slice(i: 3, j : g(n, 2)) \\\n"
      "    buffers(2) threads  // told\n"
      "  for (int i = 0; i < n; ++i);\n"
      "#pragma staircase fuse\n"
      "}\n";
  const auto found = read(text);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].line, 3);
  EXPECT_EQ(found[0].text, "#pragma staircase slice(i: 3, j : g(n, 2)) buffers(2) threads");
  EXPECT_EQ(found[0].what.name, "slice");
  EXPECT_EQ(found[0].what.text, "i: 3, j : g(n, 2)");
  EXPECT_EQ(found[0].what.arguments, (std::vector<std::string>{"i: 3", "j : g(n, 2)"}));
  ASSERT_EQ(found[0].clauses.size(), 2u);
  ASSERT_NE(found[0].clause("buffers"), nullptr);
  EXPECT_EQ(found[0].clause("buffers")->arguments, std::vector<std::string>{"2"});
  EXPECT_TRUE(found[0].clause("threads")->arguments.empty());
  EXPECT_EQ(found[0].clause("slice"), nullptr);
  EXPECT_EQ(text.substr(found[0].statement, 3), "for");
  EXPECT_EQ(text[found[0].range.first], '#');
  EXPECT_EQ(text.substr(found[0].range.last, 6), "\n  for");
  EXPECT_EQ(found[1].what.name, "fuse");
  EXPECT_EQ(text[found[1].statement], '}');
}

TEST(Directives, ThatAreMalformedAreRefusedWithTheirLine) {
  for (const auto& [written, fragment] :
       std::vector<std::pair<std::string, std::string>>{{"", "is empty"},
                                                        {" (i: 3)", "`(`"},
                                                        {" 3", "`3`"},
                                                        {" slice(i: 3", "lacks a `)`"},
                                                        {" slice(i: 3))", "`)`"},
                                                        {" slice()", "an empty argument"},
                                                        {" slice(i: 3,)", "an empty argument"},
                                                        {" slice(, i: 3)", "an empty argument"},
                                                        {" slice(i: 3) + 4", "`+`"},
                                                        {" slice(i: 3) a(1) a(2)", "`a` twice"}})
    try {
      read("int n;\n#pragma staircase" + written + "\nint m;\n");
      ADD_FAILURE() << written;
    } catch (const staircase::BadInput& refused) {
      const std::string said = refused.what();
      EXPECT_NE(said.find(fragment), said.npos) << said;
      EXPECT_TRUE(said.starts_with("line 2: ")) << said;
    }
}

TEST(Directives, OfOthersAreNoneOfThem) {
  EXPECT_TRUE(read("#pragma omp parallel\n#pragma once\n// #pragma staircase\n").empty());
  EXPECT_EQ(read("#pragma staircase tile(i: 3)").at(0).statement, 28u);
}

}  // namespace
}  // namespace slicer
