// How fast the core takes events and writes what it took: the ratios the README quotes come from here.
#include <benchmark/benchmark.h>

#include <fstream>
#include <ostream>
#include <string>

#include "exporters/exporter.h"
#include "sample_profiles.h"

namespace flamb {
namespace {

constexpr std::size_t stacks = 1'000'000;

// Forgets the peak so far, so that each benchmark sees its own. Where the kernel does not let it, the peak is that of
// the run.
void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

// Megabytes.
double memory(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field)) return std::stod(line.substr(field.size())) / 1024;
  }
  return 0;
}

// Takes everything, keeps nothing.
class Void : public std::streambuf {
 public:
  std::uint64_t bytes = 0;

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    benchmark::DoNotOptimize(text);
    bytes += static_cast<std::uint64_t>(size);
    return size;
  }
  int_type overflow(int_type each) override {
    ++bytes;
    return each;
  }
};

// Calls of a few functions in a loop, as most programs make them: the tree is soon complete. Gives the number of
// events.
std::uint64_t loop(CallSink& sink) {
  sink.enter(0);
  for (FrameId outer = 1; outer <= 8; ++outer) {
    sink.enter(outer);
    sink.weigh(3);
    for (FrameId inner = 10; inner < 14; ++inner) {
      sink.enter(inner);
      sink.weigh(1);
      sink.leave();
    }
    sink.leave();
  }
  sink.leave();
  return 2 + 8 * (3 + 4 * 3);
}

void BM_EventsOfALoop(benchmark::State& state) {
  CallTree tree;
  std::uint64_t events = 0;
  for (auto _ : state) events += loop(tree);
  benchmark::DoNotOptimize(tree.nodes().data());
  state.SetItemsProcessed(static_cast<std::int64_t>(events));
}
BENCHMARK(BM_EventsOfALoop);

// The order is kept too, as in a capture, up to the timeline's limit.
void BM_RecordedEventsOfALoop(benchmark::State& state) {
  CallTree tree;
  Timeline timeline;
  Recording recording(tree, timeline);
  std::uint64_t events = 0;
  for (auto _ : state) events += loop(recording);
  benchmark::DoNotOptimize(tree.nodes().data());
  state.SetItemsProcessed(static_cast<std::int64_t>(events));
}
BENCHMARK(BM_RecordedEventsOfALoop)->Iterations(500'000);

// Every stack is a new one.
void BM_EventsOfNewStacks(benchmark::State& state) {
  const auto fan = static_cast<std::size_t>(state.range(0));
  std::uint64_t events = 0;
  for (auto _ : state) {
    CallTree tree;
    tree.enter(0);
    for (std::size_t each = 0; each < stacks / fan; ++each) {
      tree.enter(static_cast<FrameId>(each));
      for (std::size_t leaf = 0; leaf < fan; ++leaf) {
        tree.enter(static_cast<FrameId>(leaf));
        tree.weigh(1);
        tree.leave();
      }
      tree.leave();
      events += 2 + 3 * fan;
    }
    benchmark::DoNotOptimize(tree.nodes().data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(events));
}
BENCHMARK(BM_EventsOfNewStacks)->Arg(4)->Arg(100)->Unit(benchmark::kMillisecond);

void write(benchmark::State& state, const char* format) {
  const Profile profile = wide_profile(stacks, 10);
  reset_peak();
  const double before = memory("VmRSS:");
  Void sink;
  std::ostream out(&sink);
  Output output{out};
  for (auto _ : state) find_exporter(format)->write(profile, output);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(stacks));
  state.counters["MB_written"] = static_cast<double>(sink.bytes) / 1e6 / static_cast<double>(state.iterations());
  state.counters["MB_tree"] = before;
  state.counters["MB_peak"] = memory("VmHWM:");
}
BENCHMARK_CAPTURE(write, collapsed, "collapsed")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(write, perf_data, "perf-data")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(write, perf_script, "perf-script")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(write, speedscope, "speedscope")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(write, svg, "svg")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(write, text, "text")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace flamb
