#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "options/options.h"

namespace flamb {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// The options that a help text lists: "--name", with an example of a value if it takes one.
std::vector<std::string> listed_options(const std::string& text) {
  std::vector<std::string> options;
  for (std::size_t at = text.find("--"); at != std::string::npos; at = text.find("--", at + 2)) {
    const std::size_t line = text.rfind('\n', at) + 1;
    const bool begins_entry = at - line == 6 && text[at + 2] >= 'a' && text[at + 2] <= 'z';
    if (begins_entry) options.push_back(text.substr(at, text.find('\n', at) - at));
  }
  return options;
}

// Without its line breaks and indents.
std::string words(const std::string& text) {
  std::istringstream in(text);
  std::string joined;
  for (std::string word; in >> word;) joined += word + ' ';
  joined.pop_back();
  return joined;
}

class CommandHelp : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Help, CommandHelp, ::testing::Values("capture", "apply"));

TEST_P(CommandHelp, ListsJustTheOptionsThatAreParsed) {
  std::vector<std::string> listed;
  for (const std::string& entry : listed_options(help(GetParam()))) {
    std::string name = entry.substr(0, entry.find(' '));
    std::string value;
    if (const std::size_t space = entry.find(' '); space != std::string::npos) {
      value = entry.substr(space + 1, entry.find_first_of("|[", space) - space - 1);
      if (value == "NAME") value = "svg";
      if (value == "N" || value == "SECONDS") value = "3";
    }
    std::string line = GetParam();
    line.append(" ").append(name);
    if (!value.empty()) line.append("=").append(value);
    EXPECT_TRUE(parse_command_line(line + " f")) << line << " f";
    listed.push_back(std::move(name));
  }
  std::ranges::sort(listed);
  EXPECT_EQ(listed, complete(GetParam() + " --"));
  EXPECT_EQ(listed.size(), 14u);
}

TEST_P(CommandHelp, FitsIntoEightyColumns) {
  std::istringstream text(help(GetParam()));
  for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST_P(CommandHelp, HasExamplesThatAreParsed) {
  std::istringstream text(help(GetParam()));
  std::size_t examples = 0;
  for (std::string line; std::getline(text, line);) {
    const std::size_t at = line.find(") flamb ");
    if (at == std::string::npos || !line.starts_with("  (")) continue;
    ++examples;
    const Result<Options> options = parse_command_line(line.substr(at + 8));
    EXPECT_TRUE(options) << line << "\n" << (options ? "" : options.error().message);
  }
  EXPECT_GE(examples, 4u);
}

TEST_P(CommandHelp, NamesEveryFormat) {
  for (const Exporter& exporter : exporters()) {
    EXPECT_THAT(words(help(GetParam())),
                HasSubstr(words(std::string(exporter.name) + " " + std::string(exporter.description))));
  }
}

TEST(Help, ListsBothCommandsAtTheTop) {
  EXPECT_THAT(help(""), AllOf(HasSubstr("flamb capture FUNCTION [COUNT] [OPTIONS]\n"),
                              HasSubstr("flamb apply [OPTIONS] [--] EXPRESSION\n")));
}

}  // namespace
}  // namespace flamb
