#include "typed_line.h"

#include <gmock/gmock.h>

#include "options/options.h"

namespace flamb {
namespace {

using testing::ElementsAre;

std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> words;
  for (const LldbWord& word : split_as_lldb(line)) words.push_back(word.text);
  return words;
}

TEST(SplitAsLldb, TakesQuotesOffAnywhereInAWord) {
  EXPECT_THAT(split(R"(apply greet("two words", 'c'))"), ElementsAre("apply", "greet(two words,", "c)"));
}

TEST(SplitAsLldb, KeepsABackslashBeforeAPlainCharacter) {
  EXPECT_THAT(split(R"(a\b a\ b "a\n\"" '\"')"), ElementsAre(R"(a\b)", "a b", R"(a\n")", R"(\")"));
}

TEST(SplitAsLldb, ReadsAnUnfinishedQuoteToTheEnd) { EXPECT_THAT(split("f('a b"), ElementsAre("f(a b")); }

TEST(LineAsTyped, IsWhatFollowsTheCommandsName) {
  EXPECT_EQ(line_as_typed({"apply", "greet(two words)"}, R"(flamb apply greet("two words"))"),
            R"(apply greet("two words"))");
}

TEST(LineAsTyped, SeesThroughAnAlias) {
  EXPECT_EQ(line_as_typed({"apply", "greet(x)"}, R"(fa greet("x"))"), R"(apply greet("x"))");
}

TEST(LineAsTyped, RefusesALineThatIsNotThisCommands) {
  EXPECT_EQ(line_as_typed({"apply", "greet(x)"}, "command source file"), "");
  EXPECT_EQ(line_as_typed({"apply", "greet(x)"}, ""), "");
  EXPECT_EQ(line_as_typed({"apply", "f(1)"}, "expression -- f(1)"), "");
}

struct Parsed {
  std::string expression;
  std::string directory;
};

Parsed parse(const std::vector<std::string>& words) {
  const auto options = parse_command_line(line_of_words(words));
  if (!options) return {options.error().message, {}};
  return {options->expression, options->output_directory};
}

TEST(LineOfWords, KeepsAnExpressionOfOneWord) {
  EXPECT_EQ(parse({"apply", R"(greet("two words", 'c'))"}).expression, R"(greet("two words", 'c'))");
}

TEST(LineOfWords, JoinsTheWordsOfAnExpression) {
  EXPECT_EQ(parse({"apply", "--merge", "add(1,", "2)"}).expression, "add(1, 2)");
  EXPECT_EQ(parse({"apply", "--", "-scale(3)"}).expression, "-scale(3)");
}

TEST(LineOfWords, KeepsOptionsWithSpacesWhole) {
  const Parsed apart = parse({"apply", "--output-directory", R"(/a "b" c)", "f()"});
  EXPECT_EQ(apart.directory, R"(/a "b" c)");
  EXPECT_EQ(apart.expression, "f()");
  EXPECT_EQ(parse({"apply", "--output-directory=/a b", "f()"}).directory, "/a b");
}

TEST(LineOfWords, KeepsAFunctionWithSpacesWhole) {
  const auto options = parse_command_line(line_of_words({"capture", "ns::f(int, char)", "3"}));
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->function, "ns::f(int, char)");
  EXPECT_EQ(options->count, 3U);
}

}  // namespace
}  // namespace flamb
