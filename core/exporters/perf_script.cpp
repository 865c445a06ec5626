// The text that perf script prints. Each reader makes something else of it:
//
// stackcollapse-perf.pl  weighs by the period before the event's name. It splits names at "->", drops frames that begin
//                        with "(", cuts names at the first other "(" (so that overloads become one), drops quotes and
//                        makes ";" a ":".
// inferno-collapse-perf  the same; before its version 0.11.20 it counted samples.
// speedscope             weighs by the times, and puts the border between two samples half-way.
// Firefox Profiler       counts samples in its call tree, and takes the times for its graphs.
//
// So the file looks as if a sampling profiler had written it: of each thread, one sample for each `interval_` units on
// its clock. The samples of a stretch, which is a weight of one stack, share its weight as their periods and its time
// evenly, the first and the last being where the half-way borders come out right. The interval is 1, and all readers
// are exact, unless that would make the file too long. Else a stretch that is shorter than the interval has the one
// sample that its period needs, or the two that its borders need: for readers that count samples, that is too many.
//
// A thread that has an odd number of stretches, each of weight 1, cannot do with one sample for each: its last border
// needs one more. Then all units of all threads have two.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <map>
#include <ranges>
#include <vector>

#include "exporters/event_order.h"
#include "exporters/exporter.h"
#include "exporters/frame_name.h"
#include "exporters/numbers.h"
#include "exporters/perf_process.h"

namespace flamb {
namespace {

// Of the file, if the fewest samples leave that much room in it: half of it is there for more of them in any case.
constexpr double most_bytes = 8e6;

// Of a sample, beside its stack and the program's name.
constexpr std::size_t most_header_bytes = 80;

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// As it comes through all readers. The parentheses of parameters stay, those before them would cut off the name.
std::string readable(std::string_view name) {
  std::string text = clean_name(name);
  replace_all(text, "(anonymous namespace)", "{anonymous}");
  replace_all(text, "->", "→");
  const std::size_t parameters = split_name(text).parameters;
  for (std::size_t at = 0; at < parameters; ++at) {
    if (text[at] == '(') text[at] = '{';
    if (text[at] == ')') text[at] = '}';
  }
  return text;
}

// The file of a frame: no reader knows one with a space. What perf itself writes for an inlined frame.
std::string readable_module(const Frame& frame) {
  if (frame.inlined) return "inlined";
  if (frame.module.empty()) return "[unknown]";
  std::string text = clean_name(frame.module);
  replace_all(text, " ", "_");
  return text;
}

// A thread's name: of two characters at least, without spaces, no comment.
std::string readable_command(const Profile& profile) {
  std::string text = perf_command(profile);
  replace_all(text, " ", "_");
  if (text.starts_with('#')) text[0] = '_';
  return text.size() < 2 ? text + '_' : text;
}

class PerfScript {
 public:
  PerfScript(const Profile& profile, Output& output)
      : profile_(profile),
        output_(output),
        command_(readable_command(profile)),
        pid_(perf_pid(profile)),
        lines_(profile.frames->size()) {}

  void write();

 private:
  // A thread's time goes by its own weights only: speedscope has a graph for each, and would fill gaps. In units.
  struct Clock {
    std::uint64_t total = 0;   // at the end
    std::uint64_t now = 0;     // where the last stretch ends
    std::uint64_t behind = 0;  // how long before that its last sample is: 0 or 1
    bool has_ones_only = true;
  };

  // The samples of one stretch, in units.
  struct Samples {
    std::uint32_t tid = 0;
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint64_t count = 0;
    std::uint64_t weight = 0;  // of all
  };

  void write_header();
  void look_ahead();
  void weigh(std::uint64_t thread, std::uint64_t weight);
  void put(const Samples& samples);
  void add_notes();
  const std::string& line(FrameId id);

  const Profile& profile_;
  Output& output_;
  const std::string command_;
  const std::uint32_t pid_;
  std::vector<std::string> lines_;  // by frame id; empty if not yet made
  std::vector<FrameId> stack_;      // the open frames, root first
  std::map<std::uint64_t, Clock> clocks_;
  std::uint64_t interval_ = 1;
  std::uint64_t samples_a_unit_ = 1;  // where the interval is 1
  std::uint64_t samples_ = 0;         // written
  std::uint64_t surplus_ = 0;         // of these, what there would not be if only the interval made them
  std::string frames_;                // the text of the stack that is being written
  std::string text_;                  // of the sample's first line
};

void PerfScript::write() {
  write_header();
  look_ahead();
  replay(
      profile_, [&](NodeId id) { stack_.push_back(profile_.tree[id].frame); }, [&] { stack_.pop_back(); },
      [&](std::uint64_t thread, std::uint64_t weight) { this->weigh(thread, weight); });
  add_notes();
}

// As perf script --header begins: the Firefox Profiler knows the format by the first line.
void PerfScript::write_header() {
  output_.stream << "# ========\n# captured by flamb " FLAMB_VERSION "\n# " << title(profile_) << "\n# "
                 << subtitle(profile_) << "\n# ========\n#\n";
}

// How long each thread takes, and the smallest interval that keeps the file short enough. Stretches of like weight are
// summed up together: either most of them need more samples than the fewest, or most do not.
void PerfScript::look_ahead() {
  struct Bytes {
    double fewest = 0;  // of the samples that the stretches cannot do without
    double all = 0;     // of those with an interval of 1
  };
  std::array<Bytes, 65> sums;                               // by the width of the weight
  std::size_t bytes = most_header_bytes + command_.size();  // of a sample of the open stack
  const auto enter = [&](NodeId id) {
    stack_.push_back(profile_.tree[id].frame);
    bytes += this->line(stack_.back()).size();
  };
  const auto leave = [&] {
    bytes -= this->line(stack_.back()).size();
    stack_.pop_back();
  };
  replay(profile_, enter, leave, [&](std::uint64_t thread, std::uint64_t weight) {
    Clock& clock = clocks_[thread];
    clock.total += weight;
    clock.has_ones_only &= weight == 1;
    Bytes& sum = sums[static_cast<std::size_t>(std::bit_width(weight))];
    sum.fewest += static_cast<double>(bytes) * (weight > 1 ? 2 : 1);
    sum.all += static_cast<double>(bytes) * static_cast<double>(weight);
  });
  double fewest = 0;
  for (const Bytes& sum : sums) fewest += sum.fewest;
  const auto is_too_long = [&](auto interval) {
    double size = 0;
    for (const Bytes& sum : sums) size += std::max(sum.fewest, sum.all / static_cast<double>(interval));
    return size > std::max(most_bytes, fewest + most_bytes / 2);
  };
  while (is_too_long(interval_)) interval_ *= 2;
  interval_ = *std::ranges::partition_point(std::views::iota(interval_ / 2 + 1, interval_ + 1), is_too_long);
  const bool is_one_short = std::ranges::any_of(
      clocks_ | std::views::values, [](const Clock& clock) { return clock.has_ones_only && clock.total % 2 == 1; });
  if (interval_ == 1 && is_one_short && !is_too_long(0.5)) samples_a_unit_ = 2;
}

// speedscope lets a stack begin half-way between the last sample and its own. For that to be where the last stretch
// ended, its own has to be as far behind as the last was before: which is 0 or 1, so that any stretch has room for it.
// The last sample of all has to be at the very end.
void PerfScript::weigh(std::uint64_t thread, std::uint64_t weight) {
  Clock& clock = clocks_[thread];
  Samples samples{perf_tid(profile_, thread), clock.now + clock.behind, 0, 0, weight};
  const std::uint64_t due = ((clock.now + weight) / interval_ - clock.now / interval_) * samples_a_unit_;
  clock.now += weight;
  const std::uint64_t rest = clock.now - samples.first;
  const bool one_will_do = rest == 0 || (rest == 1 && clock.now < clock.total);
  samples.count = std::max<std::uint64_t>(due, one_will_do ? 1 : 2);
  // Where there is a choice, it is made so that stretches of 1, which change it to and fro, end in 0.
  clock.behind = samples.count == 1 ? rest : (clock.total - clock.now) % 2;
  samples.last = clock.now - clock.behind;
  samples_ += samples.count;
  surplus_ += samples.count - due;
  put(samples);
}

void PerfScript::put(const Samples& samples) {
  constexpr std::uint64_t second = 1'000'000'000;
  const std::uint64_t unit = perf_nanoseconds(profile_.unit);
  const std::uint64_t gaps = std::max<std::uint64_t>(samples.count - 1, 1);
  const std::uint64_t length = (samples.last - samples.first) * unit;
  frames_.clear();
  for (std::size_t frame = stack_.size(); frame > 0; --frame) frames_ += line(stack_[frame - 1]);
  frames_ += '\n';
  for (std::uint64_t each = 0; each < samples.count; ++each) {
    const std::uint64_t time = samples.first * unit + length / gaps * each + length % gaps * each / gaps;
    const std::uint64_t period = samples.weight / samples.count + (each < samples.weight % samples.count ? 1 : 0);
    text_.clear();
    // stackcollapse-perf.pl takes 0 for 1, since it is false in Perl; 00 is true, and 0.
    fmt::format_to(std::back_inserter(text_), "{} {}/{} [000] {}.{:09}: {} {}: \n", command_, pid_, samples.tid,
                   time / second, time % second, period > 0 ? std::to_string(period) : "00", unit_name(profile_.unit));
    output_.stream.write(text_.data(), static_cast<std::streamsize>(text_.size()));
    output_.stream.write(frames_.data(), static_cast<std::streamsize>(frames_.size()));
  }
}

void PerfScript::add_notes() {
  if (const std::string note = note_of_lost_order(profile_); !note.empty()) output_.notes.push_back(note);
  if (interval_ == 1) return;
  std::string is_off;
  if (surplus_ > samples_ / 100) {
    is_off = fmt::format(", and what runs for less has samples as well: shares can be off by up to {}",
                         percent(surplus_, samples_));
  }
  output_.notes.push_back(fmt::format(
      "perf-script: where samples are counted (by the Firefox Profiler, and inferno-collapse-perf before 0.11.20), one "
      "stands for {}{}; stackcollapse-perf.pl and speedscope see every weight as it is",
      weight(interval_, profile_.unit), is_off));
}

// Readers take an offset off the name: without one, a name that ends like that would lose its own.
const std::string& PerfScript::line(FrameId id) {
  std::string& made = lines_[id];
  if (made.empty()) {
    const Frame& frame = (*profile_.frames)[id];
    const std::uint64_t address = 0x1000 + std::uint64_t{id} * 16;
    made = fmt::format("\t{:16x} {}+0x0 ({})\n", address, readable(frame.name), readable_module(frame));
  }
  return made;
}

}  // namespace

void write_perf_script(const Profile& profile, Output& output) { PerfScript(profile, output).write(); }

}  // namespace flamb
