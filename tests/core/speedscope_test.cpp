// What speedscope's format says, read back: each stack and weight of the tree, and the order of its calls.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "exporters/exporter.h"
#include "exporters/frame_name.h"
#include "sample_profiles.h"

namespace flamb {
namespace {

using Json = nlohmann::json;
using Stack = std::vector<std::string>;
using Stacks = std::map<Stack, std::uint64_t>;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

struct Written {
  Json file;
  std::vector<std::string> notes;
};

Written written(const Profile& profile) {
  std::ostringstream text;
  Output output{text};
  find_exporter("speedscope")->write(profile, output);
  return {Json::parse(text.str()), output.notes};
}

std::string shown(const Frame& frame) { return clean_name(frame.name) + (frame.inlined ? " [inlined]" : ""); }

Stacks stacks_of(const Profile& profile) {
  Stacks stacks;
  for (NodeId id = 1; id < profile.tree.nodes().size(); ++id) {
    if (profile.tree[id].self == 0) continue;
    Stack stack;
    for (NodeId at = id; at != CallTree::root; at = profile.tree[at].parent) {
      stack.insert(stack.begin(), shown((*profile.frames)[profile.tree[at].frame]));
    }
    stacks[stack] += profile.tree[id].self;
  }
  return stacks;
}

// Adds what a profile in time order says, and holds it to the format's rules.
void read_events(const Json& file, const Json& profile, Stacks& stacks) {
  Stack open;
  std::uint64_t before = profile["startValue"];
  for (const Json& event : profile["events"]) {
    const std::uint64_t at = event["at"];
    ASSERT_GE(at, before);
    if (at > before) {
      ASSERT_FALSE(open.empty()) << "weight outside all calls";
      stacks[open] += at - before;
    }
    before = at;
    const std::string name = file["shared"]["frames"].at(event["frame"].get<std::size_t>())["name"];
    if (event["type"] == "O") {
      open.push_back(name);
    } else {
      ASSERT_EQ(event["type"], "C");
      ASSERT_FALSE(open.empty());
      ASSERT_EQ(open.back(), name);
      open.pop_back();
    }
  }
  EXPECT_TRUE(open.empty());
  EXPECT_EQ(profile["endValue"], before);
}

void read_samples(const Json& file, const Json& profile, Stacks& stacks) {
  std::uint64_t sum = 0;
  ASSERT_EQ(profile["samples"].size(), profile["weights"].size());
  for (std::size_t each = 0; each < profile["samples"].size(); ++each) {
    Stack stack;
    for (const std::size_t frame : profile["samples"][each]) {
      stack.push_back(file["shared"]["frames"].at(frame)["name"]);
    }
    const std::uint64_t weight = profile["weights"][each];
    stacks[stack] += weight;
    sum += weight;
  }
  EXPECT_EQ(profile["endValue"], sum);
}

Stacks read_back(const Json& file) {
  Stacks stacks;
  for (const Json& profile : file["profiles"]) {
    if (profile["type"] == "evented") {
      read_events(file, profile, stacks);
    } else {
      read_samples(file, profile, stacks);
    }
  }
  return stacks;
}

// "O trigger 0" and so on.
std::vector<std::string> events(const Json& file, std::size_t profile) {
  std::vector<std::string> lines;
  for (const Json& event : file["profiles"][profile]["events"]) {
    lines.push_back(fmt::format("{} {} {}", event["type"].get<std::string>(),
                                file["shared"]["frames"][event["frame"].get<std::size_t>()]["name"].get<std::string>(),
                                event["at"].get<std::uint64_t>()));
  }
  return lines;
}

TEST(Speedscope, KeepsEveryStackAndWeightInOrder) {
  for (const Profile& profile : {server_profile(), hard_names_profile(), merged_profile(), weightless_profile(),
                                 empty_profile(), wide_profile(3'000, 20), deep_profile(200, 3)}) {
    const Json file = written(profile).file;
    for (const Json& each : file["profiles"]) EXPECT_EQ(each["type"], "evented");
    EXPECT_EQ(read_back(file), stacks_of(profile)) << file["name"];
  }
}

TEST(Speedscope, KeepsEveryStackAndWeightWithoutOrder) {
  for (const Profile& profile : {server_profile(), hard_names_profile(), merged_profile(), weightless_profile(),
                                 empty_profile(), wide_profile(3'000, 20), deep_profile(200, 3)}) {
    const Written result = written(without_order(profile));
    ASSERT_EQ(result.file["profiles"].size(), 1u);
    EXPECT_EQ(result.file["profiles"][0]["type"], "sampled");
    EXPECT_EQ(read_back(result.file), stacks_of(profile)) << result.file["name"];
    EXPECT_THAT(result.notes, ElementsAre(HasSubstr("too many calls to keep their order")));
  }
}

TEST(Speedscope, KeepsCallsApartThatFollowEachOther) {
  ProfileBuilder to;
  to.call("f", 1, [&] {
    to.call("g", 2);
    to.call("g", 0);
    to.call("g", 3);
  });
  EXPECT_THAT(events(written(to.build()).file, 0),
              ElementsAre("O f 0", "O g 1", "C g 3", "O g 3", "C g 3", "O g 3", "C g 6", "C f 6"));
}

TEST(Speedscope, HasAProfileForEachInvocationThatWasMerged) {
  const Json file = written(merged_profile()).file;
  ASSERT_EQ(file["profiles"].size(), 2u);
  EXPECT_EQ(file["name"], "app::serve(app::Request const&), 2 invocations merged: 12 calls");
  EXPECT_EQ(file["profiles"][0]["name"], "invocation 2, thread 4711: 7 calls");
  EXPECT_EQ(file["profiles"][1]["name"], "invocation 3, thread 4712: 5 calls");
  EXPECT_THAT(events(file, 1), ElementsAre("O trigger 0", "O other 1", "C other 2", "O repeated 2", "C repeated 3",
                                           "O repeated 3", "O leaf 4", "C leaf 5", "C repeated 5", "C trigger 5"));
}

TEST(Speedscope, HasOneProfileOfAllIfTheOrderOfOneIsNotKnown) {
  Profile profile = merged_profile();
  profile.parts[1].timeline = without_order(profile).parts[1].timeline;
  const Json file = written(profile).file;
  ASSERT_EQ(file["profiles"].size(), 1u);
  EXPECT_EQ(file["profiles"][0]["name"], "app::serve(app::Request const&), 2 invocations merged: 12 calls");
  EXPECT_EQ(read_back(file), stacks_of(profile));
}

TEST(Speedscope, SaysWhatIsShown) {
  const Json file = written(server_profile()).file;
  EXPECT_EQ(file["$schema"], "https://www.speedscope.app/file-format-schema.json");
  EXPECT_EQ(file["exporter"], "flamb " FLAMB_VERSION);
  EXPECT_EQ(file["name"], title(server_profile()));
  EXPECT_EQ(file["activeProfileIndex"], 0);
  EXPECT_EQ(file["profiles"][0]["name"], title(server_profile()));
  EXPECT_EQ(file["profiles"][0]["unit"], "none");
  const Json& frames = file["shared"]["frames"];
  EXPECT_EQ(frames[0], Json({{"name", "app::serve(app::Request const&)"}, {"file", "server"}}));
  EXPECT_EQ(
      frames[2],
      Json({{"name", "app::json::parse_value(app::json::Cursor&, int)"}, {"file", "/src/json.cpp"}, {"line", 88}}));
  EXPECT_EQ(frames[5]["name"], "std::vector<char, std::allocator<char> >::push_back(char&&) [inlined]");
}

TEST(Speedscope, HasAProfileWithAShortName) {
  Profile profile = server_profile();
  profile.trigger = "app::serve(std::basic_string_view<char, std::char_traits<char> >)";
  const Json file = written(profile).file;
  EXPECT_EQ(file["name"], title(profile));
  EXPECT_EQ(file["profiles"][0]["name"], "app::serve, invocation 2 of thread 4711: 75,527 instructions");
}

TEST(Speedscope, KnowsTime) {
  ProfileBuilder to(Unit::nanoseconds);
  to.call("f", 5);
  EXPECT_EQ(written(to.build()).file["profiles"][0]["unit"], "nanoseconds");
}

TEST(Speedscope, SaysThatItIsIncomplete) {
  EXPECT_THAT(written(hard_names_profile()).file["profiles"][0]["name"].get<std::string>(),
              AllOf(testing::StartsWith("a <b> & \"c\" d, invocation 2"),
                    testing::EndsWith(" (incomplete: the program exited with <status> 3)")));
  Profile merged = merged_profile();
  merged.incomplete = "Ctrl-C";
  const Json file = written(merged).file;
  EXPECT_THAT(file["name"].get<std::string>(), testing::EndsWith(" (incomplete: Ctrl-C)"));
  EXPECT_EQ(file["profiles"][1]["name"], "invocation 3, thread 4712: 5 calls (not all are complete: Ctrl-C)");
}

TEST(Speedscope, HasOneProfileWithoutCallsForAnEmptyTree) {
  const Json file = written(empty_profile()).file;
  ASSERT_EQ(file["profiles"].size(), 1u);
  EXPECT_TRUE(file["shared"]["frames"].empty());
  EXPECT_TRUE(file["profiles"][0]["events"].empty());
  EXPECT_EQ(file["profiles"][0]["endValue"], 0);
}

TEST(Speedscope, WritesAHundredThousandFramesDeep) {
  const Written result = written(deep_profile(100'000));
  const Json& profile = result.file["profiles"][0];
  EXPECT_EQ(profile["events"].size(), 200'000u);
  EXPECT_EQ(profile["endValue"], 7);
  EXPECT_EQ(result.file["shared"]["frames"].size(), 2u);
  EXPECT_THAT(result.notes, ElementsAre(AllOf(HasSubstr("100,000 frames deep"), HasSubstr("--max-depth 3000"))));
  EXPECT_TRUE(written(deep_profile(3'000)).notes.empty());
}

TEST(Speedscope, WritesExactNumbers) {
  constexpr std::uint64_t large = (1ULL << 53U) + 1;  // no double has it
  ProfileBuilder to;
  to.call("f", large);
  const Profile profile = to.build();
  EXPECT_EQ(written(profile).file["profiles"][0]["events"][1]["at"], large);
  EXPECT_EQ(written(without_order(profile)).file["profiles"][0]["weights"][0], large);
}

TEST(Speedscope, ListsOnlyFramesOfTheTree) {
  Profile profile = server_profile();
  auto frames = std::make_shared<FrameTable>(*profile.frames);
  frames->intern(own("never called"));
  profile.frames = frames;
  EXPECT_EQ(written(profile).file["shared"]["frames"], written(server_profile()).file["shared"]["frames"]);
}

}  // namespace
}  // namespace flamb
