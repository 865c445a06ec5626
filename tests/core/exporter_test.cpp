#include "exporters/exporter.h"

#include <gmock/gmock.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <streambuf>

#include "exporters/frame_name.h"
#include "sample_profiles.h"

namespace flamb {
namespace {

using testing::HasSubstr;

std::string written(std::string_view format, const Profile& profile) {
  std::ostringstream text;
  Output output{text};
  find_exporter(format)->write(profile, output);
  return text.str();
}

std::string content(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// FLAMB_BLESS=1 takes what is written now as right.
void expect_golden(const std::string& file, const std::string& actual) {
  const std::filesystem::path path = std::filesystem::path(FLAMB_GOLDEN_DIR) / file;
  if (std::getenv("FLAMB_BLESS") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << actual;
  }
  ASSERT_TRUE(std::filesystem::exists(path)) << path << " is missing: run with FLAMB_BLESS=1 to write it";
  EXPECT_EQ(actual, content(path)) << "differs from " << path << ": if the new output is right, run with FLAMB_BLESS=1";
}

// Only counts what is written.
class Counter : public std::streambuf {
 public:
  std::uint64_t bytes = 0;
  std::uint64_t lines = 0;

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    bytes += static_cast<std::uint64_t>(size);
    lines += static_cast<std::uint64_t>(std::count(text, text + size, '\n'));
    return size;
  }
  int_type overflow(int_type each) override {
    ++bytes;
    if (each == '\n') ++lines;
    return each;
  }
};

class GoldenTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    tzset();
  }
};

TEST(Exporters, AreFoundByNameAndAlias) {
  for (const char* name : {"collapsed", "brendan_gregg", "folded"}) {
    ASSERT_NE(find_exporter(name), nullptr) << name;
    EXPECT_EQ(find_exporter(name)->name, "collapsed");
  }
  EXPECT_EQ(find_exporter("svg")->extension, "svg");
  EXPECT_EQ(find_exporter("text")->extension, "txt");
  EXPECT_EQ(find_exporter("nosuch"), nullptr);
  EXPECT_EQ(find_exporter(""), nullptr);
}

TEST(Exporters, SayInTheTitleWhatWasSeen) {
  ProfileBuilder to(Unit::calls);
  to.call("f", 1);
  EXPECT_EQ(title(to.build()), "app::serve(app::Request const&), invocation 2 of thread 4711: 1 call");
  to.profile().parts.resize(1200);
  to.call("f", 999);
  EXPECT_EQ(title(to.build()), "app::serve(app::Request const&), 1,200 invocations merged: 1,000 calls");
}

TEST(Exporters, SayInTheSubtitleWhetherAllWasSeen) {
  ProfileBuilder to;
  EXPECT_THAT(subtitle(to.build()), HasSubstr("server (pid 4700) in LLDB 19.1.7, collector stepping, "));
  EXPECT_THAT(subtitle(to.build()), testing::EndsWith("; complete"));
  to.profile().incomplete = "the program exited";
  EXPECT_THAT(subtitle(to.build()), testing::EndsWith("; incomplete: the program exited"));
  to.profile().tree = CallTree({.max_depth = 1});
  to.call("f", 1, [&] { to.call("g", 1); });
  EXPECT_THAT(subtitle(to.build()), testing::EndsWith("; the deepest frames are cut"));
}

TEST_F(GoldenTest, Server) {
  for (const char* format : {"collapsed", "speedscope", "text"}) {
    expect_golden(std::string("server.").append(find_exporter(format)->extension), written(format, server_profile()));
  }
}

TEST_F(GoldenTest, HardNames) {
  for (const char* format : {"collapsed", "speedscope", "text"}) {
    expect_golden(std::string("hard_names.").append(find_exporter(format)->extension),
                  written(format, hard_names_profile()));
  }
}

// Without style and script: those are seen at work in tests/svg.
TEST_F(GoldenTest, SvgImage) {
  std::string svg = written("svg", server_profile());
  for (const std::string element : {"style", "script"}) {
    const std::size_t begin = svg.rfind("<" + element + ">");
    const std::size_t end = svg.rfind("</" + element + ">");
    ASSERT_LT(begin, end);
    svg.replace(begin, end - begin, "<" + element + ">");
  }
  expect_golden("server.svg", svg);
}

TEST(Exporters, WriteAnEmptyTree) {
  EXPECT_EQ(written("collapsed", empty_profile()), "");
  EXPECT_THAT(written("text", empty_profile()), HasSubstr("Nothing was recorded."));
  EXPECT_THAT(written("svg", empty_profile()), HasSubstr("Nothing was recorded."));
}

TEST(Exporters, WriteAHundredThousandFramesDeep) {
  const Profile profile = deep_profile(100'000);
  const std::string collapsed = written("collapsed", profile);
  EXPECT_EQ(std::count(collapsed.begin(), collapsed.end(), '\n'), 1);
  EXPECT_EQ(std::count(collapsed.begin(), collapsed.end(), ';'), 99'999);
  EXPECT_THAT(collapsed, testing::EndsWith(";odd(unsigned int) 7\n"));
  EXPECT_THAT(written("text", profile), HasSubstr("Left out: 99,940 stacks"));
  EXPECT_THAT(written("svg", profile), HasSubstr("… 1 thin frame</text"));
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const Exporter& each : exporters()) names.emplace_back(each.name);
  return names;
}

class EachExporter : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Exporters, EachExporter, testing::ValuesIn(format_names()));

TEST_P(EachExporter, WritesAMillionStacks) {
  const Profile profile = wide_profile(1'000'000, 1000);
  const Exporter& each = *find_exporter(GetParam());
  Counter counter;
  std::ostream out(&counter);
  Output output{out};
  each.write(profile, output);
  EXPECT_TRUE(out.good());
  const bool leaves_out_thin_frames = each.name == "svg" || each.name == "text";
  if (leaves_out_thin_frames) {
    EXPECT_LT(counter.bytes, 20'000'000u);
  } else {
    EXPECT_GT(counter.bytes, 10'000'000u);
  }
  if (each.name == "collapsed") {
    EXPECT_EQ(counter.lines, 1'000'000u);
  }
}

// What a reader of collapsed stacks does: the count is the last word, frames are between semicolons.
TEST(Collapsed, LosesNoStackWithHardNames) {
  std::istringstream lines(written("collapsed", hard_names_profile()));
  std::uint64_t sum = 0;
  std::size_t leaves = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.rfind(' ');
    ASSERT_NE(space, std::string::npos) << line;
    sum += std::stoull(line.substr(space + 1));
    const std::string stack = line.substr(0, space);
    leaves += stack.ends_with(";leaf") ? 1 : 0;
    EXPECT_EQ(stack.find(";;"), std::string::npos) << line;
    EXPECT_LE(std::count(stack.begin(), stack.end(), ';'), 2) << line;
    EXPECT_FALSE(std::isdigit(static_cast<unsigned char>(stack.back())) && stack.rfind(' ') == stack.size() - 3)
        << line;
  }
  EXPECT_EQ(leaves, hard_names().size());
  EXPECT_EQ(sum, 1 + 2 * hard_names().size());
}

TEST(Collapsed, SaysWhenItIsHuge) {
  Counter counter;
  std::ostream out(&counter);
  Output output{out};
  find_exporter("collapsed")->write(deep_profile(11'000, 1), output);
  EXPECT_THAT(output.notes, testing::ElementsAre(HasSubstr("take 1.1 GB")));
}

TEST(Collapsed, MarksInlinedFrames) {
  ProfileBuilder to;
  to.call("f", 0, [&] { to.call(Frame{"g 7", "", "", 0, true}, 3); });
  EXPECT_EQ(written("collapsed", to.build()), "f;g 7_[i] 3\n");
}

TEST(Collapsed, HidesANumberThatReadersWouldTakeForACount) {
  const std::map<std::string, std::string> expected = {
      {"f 12", "f_12 1\n"},   {"f 1.5", "f_1.5 1\n"},     {"f 1.", "f_1. 1\n"},        {"12", "12 1\n"},
      {"f x12", "f x12 1\n"}, {"f 1.2.3", "f 1.2.3 1\n"}, {"f(int) 0", "f(int)_0 1\n"}};
  for (const auto& [name, line] : expected) {
    ProfileBuilder to;
    to.call(name, 1);
    EXPECT_EQ(written("collapsed", to.build()), line) << name;
  }
}

TEST(Text, CountsRecursionOnce) {
  ProfileBuilder to;
  to.call("even", 1, [&] { to.call("odd", 2, [&] { to.call("even", 4, [&] { to.call("odd", 8); }); }); });
  const std::string text = written("text", to.build());
  const std::string top = text.substr(text.find("Top functions"));
  EXPECT_THAT(top, HasSubstr("  66.7%     14    10      2  odd\n  33.3%     15     5      2  even\n"));
}

TEST(Text, FollowsTheHotPathFirst) {
  ProfileBuilder to;
  to.call("trigger", 0, [&] {
    to.call("cold", 10);
    to.call("hot", 90);
  });
  const std::string text = written("text", to.build());
  EXPECT_LT(text.find("hot"), text.find("cold"));
}

TEST(Text, SaysWhatItLeavesOut) {
  ProfileBuilder to;
  to.call("trigger", 10'000, [&] {
    for (int each = 0; each < 30; ++each) to.call("thin_" + std::to_string(each), 5);
  });
  const std::string text = written("text", to.build());
  EXPECT_THAT(text, HasSubstr("  … 30 more\n"));
  EXPECT_THAT(text, HasSubstr("Left out: 30 stacks of 50 instructions or less."));
  EXPECT_THAT(text, HasSubstr("… 11 more functions\n"));
}

TEST(Text, StaysNarrow) {
  for (const Profile& profile : {server_profile(), hard_names_profile(), deep_profile(100'000, 1)}) {
    std::istringstream lines(written("text", profile));
    std::string line;
    std::getline(lines, line);
    std::getline(lines, line);  // the subtitle may be longer
    while (std::getline(lines, line)) {
      const auto letters = std::count_if(line.begin(), line.end(), [](char each) { return (each & 0xC0) != 0x80; });
      EXPECT_LE(letters, 100) << line;
    }
  }
}

// What the script reads.
rapidjson::Document data_of(const std::string& svg) {
  const std::string begin = "type=\"application/json\"><![CDATA[";
  const std::size_t at = svg.find(begin) + begin.size();
  rapidjson::Document data;
  data.Parse(svg.data() + at, svg.find("]]>", at) - at);
  EXPECT_FALSE(data.HasParseError());
  return data;
}

std::vector<std::string> strings_at(const rapidjson::Value& lists, unsigned place) {
  std::vector<std::string> strings;
  for (const auto& list : lists.GetArray()) strings.emplace_back(list[place].GetString());
  return strings;
}

TEST(Svg, KeepsEveryNameOnce) {
  const std::string svg = written("svg", hard_names_profile());
  std::vector<std::string> expected = {"trigger", "leaf"};
  for (const std::string& name : hard_names()) expected.push_back(clean_name(name));
  const rapidjson::Document data = data_of(svg);
  EXPECT_THAT(strings_at(data["functions"], 0), testing::UnorderedElementsAreArray(expected));
  EXPECT_EQ(data["frames"].Size(), 1 + 2 * hard_names().size());
  EXPECT_THAT(svg, HasSubstr("<text x=\"155.3\" y=\"30.5\">less&lt;tha…</text\n>"));
  EXPECT_EQ(svg.find('\x01'), std::string::npos);
}

TEST(Svg, TellsOfEachFrameWhatItWeighs) {
  ProfileBuilder to;
  to.call("f", 1, [&] {
    to.call("g", 3);
    to.call("g", 4);
  });
  const rapidjson::Document data = data_of(written("svg", to.build()));
  EXPECT_STREQ(data["unit"].GetString(), "instructions");
  const auto numbers = [&](unsigned frame) {
    std::vector<std::uint64_t> values;
    for (const auto& each : data["frames"][frame].GetArray()) values.push_back(each.GetUint64());
    return values;
  };
  EXPECT_THAT(numbers(0), testing::ElementsAre(0, 0, 8, 1, 1));  // function, depth, total, self, calls
  EXPECT_THAT(numbers(1), testing::ElementsAre(1, 1, 7, 7, 2));
}

TEST(Svg, ColoursByTheWholeName) {
  const auto colour = [](const std::string& name) {
    ProfileBuilder to;
    to.call(name, 1);
    return strings_at(data_of(written("svg", to.build()))["functions"], 1);
  };
  const auto one = colour("app::server::connection::read_some_bytes()");
  EXPECT_EQ(one, colour("app::server::connection::read_some_bytes()"));
  EXPECT_NE(one, colour("app::server::connection::send_some_bytes()"));
}

TEST(Svg, ShowsAllBelowSeveralTriggers) {
  ProfileBuilder to;
  to.call("f", 1);
  EXPECT_THAT(strings_at(data_of(written("svg", to.build()))["functions"], 0), testing::ElementsAre("f"));
  to.call("g", 1);
  const std::string svg = written("svg", to.build());
  EXPECT_THAT(strings_at(data_of(svg)["functions"], 0), testing::ElementsAre("all", "f", "g"));
  EXPECT_THAT(svg, HasSubstr(">all</text"));
}

}  // namespace
}  // namespace flamb
