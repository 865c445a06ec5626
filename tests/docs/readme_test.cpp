#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "exporters/exporter.h"
#include "options/options.h"

namespace flamb {
namespace {

std::string readme_section(const std::string& heading) {
  std::ifstream file(FLAMB_README);
  const std::string readme{std::istreambuf_iterator<char>(file), {}};
  const std::size_t start = readme.find("\n## " + heading + "\n");
  if (start == std::string::npos) return "";
  return readme.substr(start, readme.find("\n## ", start + 1) - start);
}

std::set<std::string> options_named_in(const std::string& text) {
  static const std::regex option("--[a-z][a-z-]*");
  return {std::sregex_token_iterator(text.begin(), text.end(), option), {}};
}

TEST(Readme, NamesEveryOptionOfTheHelpAndNoOther) {
  const std::string section = readme_section("Options");
  ASSERT_NE(section, "") << "no section 'Options' in " FLAMB_README;
  const std::set<std::string> known = options_named_in(help("capture") + help("apply"));
  ASSERT_FALSE(known.empty());
  EXPECT_EQ(options_named_in(section), known);
}

TEST(Readme, NamesEveryFormat) {
  const std::string section = readme_section("Options");
  for (const Exporter& exporter : exporters()) {
    EXPECT_THAT(section, testing::HasSubstr("`" + std::string(exporter.name) + "`"));
  }
}

}  // namespace
}  // namespace flamb
