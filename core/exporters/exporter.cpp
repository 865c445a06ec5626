#include "exporters/exporter.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "exporters/frame_name.h"
#include "exporters/numbers.h"

namespace flamb {

void write_collapsed(const Profile& profile, Output& output);
void write_perf_data(const Profile& profile, Output& output);
void write_perf_names(const Profile& profile, std::ostream& out);
void write_perf_script(const Profile& profile, Output& output);
void write_speedscope(const Profile& profile, Output& output);
void write_svg(const Profile& profile, Output& output);
void write_text(const Profile& profile, Output& output);

namespace {

constexpr std::array<std::string_view, 2> collapsed_aliases = {"brendan_gregg", "folded"};
constexpr std::array<std::string_view, 1> perf_data_aliases = {"perf"};

constexpr std::array<Exporter, 6> list = {{
    {"collapsed", collapsed_aliases, "collapsed", "one line a stack, for flamegraph.pl, inferno, speedscope",
     write_collapsed},
    {"speedscope", {}, "speedscope.json", "calls in time order, files and lines, for speedscope", write_speedscope},
    {"perf-data", perf_data_aliases, "perf.data",
     "for perf report, perf script and hotspot; the names are in a second file, *.perf.symbols", write_perf_data,
     "perf.symbols", write_perf_names},
    {"perf-script",
     {},
     "linux-perf.txt",
     "as perf script prints, for stackcollapse-perf.pl and the Firefox Profiler",
     write_perf_script},
    {"svg", {}, "svg", "an interactive flame graph in one file, for any browser", write_svg},
    {"text", {}, "txt", "the call tree and the top functions, for reading at the prompt", write_text},
}};

std::string local_time(std::chrono::system_clock::time_point date) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(date);
  std::tm parts{};
  localtime_r(&seconds, &parts);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", parts);
}

std::string which_invocations(const Profile& profile) {
  if (profile.parts.size() > 1) return fmt::format("{} invocations merged", grouped(profile.parts.size()));
  const ProfilePart& only = profile.parts.front();
  const std::string which = fmt::format("invocation {}", grouped(only.invocation));
  return only.thread_id != 0 ? fmt::format("{} of thread {}", which, only.thread_id) : which;
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::span<const Exporter> exporters() { return list; }

const Exporter* find_exporter(std::string_view name) {
  const auto found = std::ranges::find_if(list, [name](const Exporter& each) {
    return each.name == name || std::ranges::find(each.aliases, name) != each.aliases.end();
  });
  return found != list.end() ? &*found : nullptr;
}

std::string title(const Profile& profile) {
  return fmt::format("{}, {}: {}", clean_name(profile.trigger), which_invocations(profile),
                     weight(profile.tree.total_weight(), profile.unit));
}

std::string subtitle(const Profile& profile) {
  std::string text;
  if (!profile.program.empty()) text += clean_name(file_name(profile.program));
  if (profile.pid != 0) text += fmt::format(" (pid {})", profile.pid);
  if (!profile.debugger.empty()) text += fmt::format(" in {}", clean_name(profile.debugger));
  if (!profile.collector.empty()) text += fmt::format(", collector {}", profile.collector);
  text += fmt::format(", {}; ", local_time(profile.date));
  text += profile.incomplete.empty() ? "complete" : fmt::format("incomplete: {}", clean_name(profile.incomplete));
  if (profile.hook_cost > 0) text += fmt::format("; {} ns a call subtracted, exact to within that", profile.hook_cost);
  if (profile.tree.was_cut()) text += "; the deepest frames are cut";
  return text;
}

}  // namespace flamb
