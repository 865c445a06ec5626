// The formats of perf, binary and text. tests/perf has perf and hotspot read the first.
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>
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
  Profile profile = threads_profile();
  Timeline dropped(0);
  dropped.enter(1);
  profile.parts[1].timeline = dropped;
  return profile;
}

// --- perf-data

TEST(PerfData, KeepsEveryStackAndItsWeight) {
  for (const Profile& profile : {server_profile(), hard_names_profile(), threads_profile(), unordered_profile()}) {
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
  const PerfFile file = written("perf-data", threads_profile()).read();
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

// --- perf-script

struct TextSample {
  std::string thread;
  double time = 0;  // in the profile's unit
  std::string period;
  std::vector<std::string> stack;  // root first; with file, as "name (file)"
};

// By the rules that are common to all readers.
std::vector<TextSample> text_samples(const std::string& text) {
  std::vector<TextSample> samples;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    TextSample sample;
    std::string process;
    std::string cpu;
    std::string unit;
    std::istringstream words(line);
    words >> process >> sample.thread >> cpu >> sample.time >> cpu >> sample.period >> unit;
    sample.time *= unit == "nanoseconds:" ? 1e9 : 1e6;
    while (std::getline(lines, line) && !line.empty()) {
      const std::size_t name = line.find(' ', line.find_first_not_of("\t "));
      const std::size_t offset = line.rfind("+0x0 (");
      sample.stack.insert(sample.stack.begin(), line.substr(name + 1, offset - name - 1) + line.substr(offset + 4));
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

// stackcollapse-perf.pl: the period, but 1 for one that is false in Perl.
Weights weights_by_period(const std::vector<TextSample>& samples) {
  Weights weights;
  for (const TextSample& sample : samples) {
    const bool is_false = sample.period.empty() || sample.period == "0";
    weights[joined(sample.stack)] += is_false ? 1 : std::stoull(sample.period);
  }
  return weights;
}

// speedscope: a border half-way between two samples of a thread.
Weights weights_by_time(const std::vector<TextSample>& samples) {
  std::map<std::string, std::vector<const TextSample*>> threads;
  for (const TextSample& sample : samples) threads[sample.thread].push_back(&sample);
  std::map<std::string, double> sums;
  for (const auto& [name, list] : threads) {
    for (std::size_t at = 0; at < list.size(); ++at) {
      const double before = at > 0 ? list[at - 1]->time : list[at]->time;
      const double after = at + 1 < list.size() ? list[at + 1]->time : list[at]->time;
      EXPECT_LE(before, list[at]->time);
      sums[joined(list[at]->stack)] += (after - before) / 2;
    }
  }
  Weights weights;
  for (const auto& [stack, sum] : sums) weights[stack] = static_cast<std::uint64_t>(std::llround(sum));
  return weights;
}

// Firefox Profiler: one a sample.
Weights weights_by_count(const std::vector<TextSample>& samples) {
  Weights weights;
  for (const TextSample& sample : samples) weights[joined(sample.stack)] += 1;
  return weights;
}

// How many stacks weigh so much: names differ, and are looked at below.
Weights weights_only(const Weights& of) {
  Weights weights;
  for (const auto& [stack, weight] : of) weights[std::to_string(weight)] += 1;
  return weights;
}

TEST(PerfScript, WeighsTheSameByPeriodAndByTime) {
  for (const Profile& profile : {server_profile(), hard_names_profile(), threads_profile(), unordered_profile()}) {
    const std::vector<TextSample> samples = text_samples(written("perf-script", profile).data);
    const Weights by_period = weights_by_period(samples);
    EXPECT_EQ(by_period, weights_by_time(samples));
    EXPECT_EQ(weights_only(by_period), weights_only(weights_of(profile)));
  }
}

TEST(PerfScript, WeighsTheSameByCount) {
  for (const Profile& profile : {threads_profile(), unordered_profile(), weightless_profile()}) {
    const Written file = written("perf-script", profile);
    const std::vector<TextSample> samples = text_samples(file.data);
    EXPECT_EQ(weights_by_count(samples), weights_by_period(samples));
    EXPECT_EQ(weights_by_count(samples), weights_by_time(samples));
    EXPECT_THAT(file.notes, testing::Not(testing::Contains(HasSubstr("one stands for"))));
  }
}

TEST(PerfScript, HasTwoSamplesForEachOfAnOddNumberOfCalls) {
  for (int calls = 1; calls <= 6; ++calls) {
    ProfileBuilder to(Unit::calls);
    to.call("f", 1, [&] {
      for (int each = 1; each < calls; ++each) to.call("g", 1);
    });
    const std::vector<TextSample> samples = text_samples(written("perf-script", to.build()).data);
    const std::uint64_t samples_a_call = calls % 2 == 0 ? 1 : 2;
    Weights by_period = weights_by_period(samples);
    EXPECT_EQ(by_period, weights_by_time(samples));
    for (auto& [stack, weight] : by_period) weight *= samples_a_call;
    EXPECT_EQ(weights_by_count(samples), by_period);
  }
}

TEST(PerfScript, SpreadsTheSamplesOfAStretch) {
  ProfileBuilder to;
  to.call("f", 4, [&] { to.call("g", 2); });
  std::vector<std::int64_t> nanoseconds;
  for (const TextSample& sample : text_samples(written("perf-script", to.build()).data)) {
    nanoseconds.push_back(std::llround(sample.time * 1000));
  }
  EXPECT_THAT(nanoseconds, ElementsAre(0, 1333, 2666, 4000, 4000, 6000));
}

TEST(PerfScript, TakesALongerIntervalWhereTheFileWouldBeTooLong) {
  constexpr int interval = 3813;
  const std::string longest(10'000, 'x');
  for (const Unit unit : {Unit::instructions, Unit::nanoseconds}) {
    ProfileBuilder to(unit);
    to.call(longest, 2'000'000, [&] {
      to.call("g", 1'000'000);
      to.call("h", 5);
      to.call("i", 1);
    });
    const Profile profile = to.build();
    const Written file = written("perf-script", profile);
    EXPECT_LT(file.data.size(), 8'000'000u);
    EXPECT_GT(file.data.size(), 7'000'000u);
    const std::vector<TextSample> samples = text_samples(file.data);
    const Weights by_period = weights_by_period(samples);
    EXPECT_EQ(weights_only(by_period), weights_only(weights_of(profile)));
    EXPECT_EQ(by_period, weights_by_time(samples));
    for (const auto& [stack, count] : weights_by_count(samples)) {
      EXPECT_NEAR(static_cast<double>(count), static_cast<double>(by_period.at(stack)) / interval, 2);
    }
    EXPECT_THAT(file.notes, ElementsAre(HasSubstr(fmt::format("one stands for 3,813 {}; stack", unit_name(unit)))));
  }
}

TEST(PerfScript, SaysHowFarSharesCanBeOffWhereSamplesAreCounted) {
  const Profile profile = wide_profile(5'000, 20);
  const Written file = written("perf-script", profile);
  EXPECT_LT(file.data.size(), 8'000'000u);
  const std::vector<TextSample> samples = text_samples(file.data);
  EXPECT_EQ(weights_only(weights_by_period(samples)), weights_only(weights_of(profile)));
  EXPECT_EQ(weights_by_period(samples), weights_by_time(samples));
  EXPECT_THAT(file.notes, ElementsAre(HasSubstr("shares can be off by up to ")));
}

TEST(PerfScript, KeepsNamesFromWhatReadersDoToThem) {
  const std::map<std::string, std::string> expected = {
      {"(anonymous namespace)::f(int)", "{anonymous}::f(int) (server)"},
      {"ns::(anonymous namespace)::f()", "ns::{anonymous}::f() (server)"},
      {"A::operator()(int) const", "A::operator{}(int) const (server)"},
      {"A::operator->()", "A::operator→() (server)"},
      {"f()::{lambda(int)#1}::operator()(int) const", "f{}::{lambda{int}#1}::operator{}(int) const (server)"},
      {"(x)", "{x} (server)"},
      {"libz.so+0x12ab", "libz.so+0x12ab (server)"},
      {"", "[unknown] (server)"}};
  for (const auto& [name, line] : expected) {
    ProfileBuilder to;
    to.call(name, 1);
    const std::vector<TextSample> samples = text_samples(written("perf-script", to.build()).data);
    EXPECT_THAT(samples.front().stack, ElementsAre(line)) << name;
  }
}

TEST(PerfScript, NamesTheFilesAsReadersKnowThem) {
  ProfileBuilder to;
  to.profile().program = "/bin/[ 5";
  to.call(Frame{"f", "my library.so", "", 0, false}, 1, [&] { to.call(Frame{"g", "", "", 0, false}, 1); });
  to.call(Frame{"h", "server", "", 0, true}, 1);
  const std::string text = written("perf-script", to.build()).data;
  EXPECT_THAT(text, HasSubstr("\n[_5 4700/4711 [000] 0.000000000: 1 instructions: \n"));
  EXPECT_THAT(text, HasSubstr(" f+0x0 (my_library.so)\n"));
  EXPECT_THAT(text, HasSubstr(" g+0x0 ([unknown])\n"));
  EXPECT_THAT(text, HasSubstr(" h+0x0 (inlined)\n"));
}

TEST(PerfScript, IsAsItWas) {
  setenv("TZ", "UTC", 1);
  tzset();
  ProfileBuilder to;
  for (const std::uint64_t thread : {4711, 4712}) {
    to.call("trigger(int)", 3, [&] { to.call("common()", 1); });
    to.next_invocation(3, thread + 1);
  }
  to.profile().parts.pop_back();
  const std::filesystem::path path = std::filesystem::path(FLAMB_GOLDEN_DIR) / "small.linux-perf.txt";
  const std::string actual = written("perf-script", to.build()).data;
  if (std::getenv("FLAMB_BLESS") != nullptr) std::ofstream(path, std::ios::binary) << actual;
  std::ifstream in(path, std::ios::binary);
  std::ostringstream golden;
  golden << in.rdbuf();
  EXPECT_EQ(actual, golden.str()) << "differs from " << path << ": if it is right, run with FLAMB_BLESS=1";
}

TEST(PerfScript, WritesAnEmptyTree) {
  EXPECT_THAT(text_samples(written("perf-script", empty_profile()).data), IsEmpty());
}

TEST(PerfScript, WritesAHundredThousandFramesDeep) {
  const std::string text = written("perf-script", deep_profile(100'000)).data;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\t'), 2 * 100'000);
}

}  // namespace
}  // namespace flamb
