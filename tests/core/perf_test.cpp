// The formats of perf.
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <map>
#include <set>
#include <sstream>
#include <streambuf>

#include "exporters/exporter.h"
#include "exporters/frame_name.h"
#include "exporters/tree_walk.h"
#include "perf_reader.h"
#include "sample_profiles.h"

namespace flamb {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

using Weights = std::map<std::string, std::uint64_t>;  // by stack

std::string joined(const std::vector<std::string>& stack) { return fmt::format("{}", fmt::join(stack, "\n")); }

// What the tree says.
Weights weights_of(const Profile& profile) {
  Weights weights;
  std::vector<std::string> stack;
  const auto enter = [&](NodeId id) {
    const Frame& frame = (*profile.frames)[profile.tree[id].frame];
    stack.push_back(clean_name(frame.name) + (frame.inlined ? " [inlined]" : ""));
    if (profile.tree[id].self > 0) weights[joined(stack)] += profile.tree[id].self;
    return true;
  };
  walk(profile.tree, enter, [&](NodeId) { stack.pop_back(); });
  return weights;
}

struct Written {
  std::string data;
  std::string symbols;
  std::vector<std::string> notes;

  PerfFile read() const { return PerfReader(data, symbols).read(); }
};

Written written(const std::string& format, const Profile& profile) {
  std::ostringstream data;
  std::ostringstream symbols;
  const Exporter* const exporter = find_exporter(format);
  if (exporter->write_companion != nullptr) exporter->write_companion(profile, symbols);
  Output output{data, "/tmp/graph.perf.symbols"};
  exporter->write(profile, output);
  return {data.str(), symbols.str(), output.notes};
}

// Its order is lost.
Profile unordered_profile() {
  Profile profile = merged_profile();
  Timeline dropped(0);
  dropped.enter(1);
  profile.parts[1].timeline = dropped;
  return profile;
}

TEST(PerfData, KeepsEveryStackAndItsWeight) {
  for (const Profile& profile : {server_profile(), hard_names_profile(), merged_profile(), unordered_profile()}) {
    Weights weights;
    for (const PerfSample& sample : written("perf-data", profile).read().samples) {
      weights[joined(sample.stack)] += sample.weight;
    }
    EXPECT_EQ(weights, weights_of(profile));
  }
}

TEST(PerfData, KeepsTheOrder) {
  ProfileBuilder to;
  to.call("f", 0, [&] {
    to.call("g", 3);
    to.call("h", 4);
    to.call("g", 5);
  });
  std::vector<std::string> leaves;
  std::vector<std::uint64_t> times;
  for (const PerfSample& sample : written("perf", to.build()).read().samples) {
    leaves.push_back(sample.stack.back());
    times.push_back(sample.time);
  }
  EXPECT_THAT(leaves, ElementsAre("g", "h", "g"));
  EXPECT_THAT(times, ElementsAre(3000, 7000, 12000));
}

TEST(PerfData, TellsThreadsApart) {
  const PerfFile file = written("perf-data", merged_profile()).read();
  std::map<std::uint32_t, std::uint64_t> weights;
  std::uint64_t time = 0;
  for (const PerfSample& sample : file.samples) {
    EXPECT_EQ(sample.pid, 4700u);
    EXPECT_GT(sample.time, time);
    weights[sample.tid] += sample.weight;
    time = sample.time;
  }
  EXPECT_EQ(weights, (std::map<std::uint32_t, std::uint64_t>{{4711, 133 + 333}, {4712, 233}}));
  EXPECT_EQ(file.threads, (std::map<std::uint32_t, std::string>{{4711, "server"}, {4712, "server"}}));
}

TEST(PerfData, SaysWhenItCannotTellThreadsApart) {
  const Written file = written("perf-data", unordered_profile());
  for (const PerfSample& sample : file.read().samples) EXPECT_EQ(sample.tid, 4711u);
  EXPECT_THAT(file.notes, ElementsAre(HasSubstr("all are shown in the first invocation's thread")));
}

TEST(PerfData, SaysWhatWasCaptured) {
  Profile profile = server_profile();
  profile.incomplete = "the program exited";
  const PerfFile file = written("perf-data", profile).read();
  EXPECT_EQ(file.mapped, "/tmp/graph.perf.symbols");
  std::set<unsigned> bits;
  for (const auto& [bit, content] : file.features) bits.insert(bit);
  EXPECT_EQ(bits, (std::set<unsigned>{3, 4, 5, 6, 7, 11, 12}));
  EXPECT_THAT(file.features.at(11), HasSubstr("app::serve(app::Request const&), invocation 2 of thread 4711"));
  EXPECT_THAT(file.features.at(11), HasSubstr("incomplete: the program exited"));
  EXPECT_THAT(file.features.at(12), HasSubstr("instructions"));
}

TEST(PerfData, NamesTheProcessInFifteenBytes) {
  Profile profile = server_profile();
  profile.program = "/usr/bin/größenwähleär";
  profile.pid = 0;
  profile.parts.front().thread_id = 0;
  const PerfFile file = written("perf-data", profile).read();
  EXPECT_EQ(file.threads, (std::map<std::uint32_t, std::string>{{1, "größenwähle"}}));
}

TEST(PerfData, WritesAnEmptyTree) {
  const Written file = written("perf-data", empty_profile());
  EXPECT_THAT(file.read().samples, IsEmpty());
  EXPECT_THAT(file.notes, IsEmpty());
}

TEST(PerfData, CutsTheMiddleOfAStackThatIsTooDeep) {
  const Written file = written("perf-data", deep_profile(100'000));
  const PerfFile read = file.read();
  ASSERT_EQ(read.samples.size(), 1u);
  const std::vector<std::string>& stack = read.samples.front().stack;
  ASSERT_EQ(stack.size(), 8183u);
  EXPECT_EQ(read.samples.front().weight, 7u);
  EXPECT_EQ(stack[0], "even(unsigned int)");
  EXPECT_EQ(stack[8180], "even(unsigned int)");
  EXPECT_EQ(stack[8181], "[91,818 frames cut]");
  EXPECT_EQ(stack[8182], "odd(unsigned int)");
  EXPECT_THAT(file.notes, ElementsAre(EndsWith("8,183 frames of a stack: the middle of 1 stack is left out"),
                                      HasSubstr("--max-stack 8183")));
}

TEST(PerfData, CutsNoStackThatJustFits) {
  const Written fits = written("perf-data", deep_profile(8183));
  EXPECT_EQ(fits.read().samples.front().stack.size(), 8183u);
  EXPECT_THAT(fits.notes, ElementsAre(HasSubstr("--max-stack 8183")));
  const PerfFile cut = written("perf-data", deep_profile(8184)).read();
  EXPECT_EQ(cut.samples.front().stack[8181], "[2 frames cut]");
  EXPECT_THAT(written("perf-data", deep_profile(127)).notes, IsEmpty());
}

TEST(PerfData, CutsEachDepthByItself) {
  Profile profile = deep_profile(8182);
  Recording events(profile.tree, profile.parts.front().timeline);
  for (int depth = 1; depth <= 8185; ++depth) {
    events.enter(depth % 2 == 0 ? 1 : 0);
    if (depth > 8182) events.weigh(1);
  }
  events.finish();
  const Written file = written("perf-data", profile);
  std::vector<std::string> second;
  for (const PerfSample& sample : file.read().samples) second.push_back(sample.stack[8181]);
  EXPECT_THAT(second, ElementsAre("odd(unsigned int)", "odd(unsigned int)", "[2 frames cut]", "[3 frames cut]"));
  EXPECT_THAT(file.notes.front(), EndsWith("the middle of 2 stacks is left out"));
}

// Keeps the header, counts the rest.
class Header : public std::streambuf {
 public:
  std::string begin;
  std::uint64_t bytes = 0;

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    if (begin.empty()) begin.assign(text, static_cast<std::size_t>(size));
    bytes += static_cast<std::uint64_t>(size);
    return size;
  }
};

TEST(PerfData, SaysBeforehandHowLongAMillionStacksAre) {
  Header header;
  std::ostream out(&header);
  Output output{out};
  find_exporter("perf-data")->write(wide_profile(1'000'000, 1000), output);
  std::uint64_t size = 0;
  std::memcpy(&size, header.begin.data() + 48, sizeof(size));
  EXPECT_GT(size, 80'000'000u);
  EXPECT_GT(header.bytes, size);
  EXPECT_LT(header.bytes, size + 4000);
}

}  // namespace
}  // namespace flamb
