// The text that perf script prints. Each reader makes something else of it:
//
// stackcollapse-perf.pl  weighs by the period before the event's name. It splits names at "->", drops frames that begin
//                        with "(", cuts names at the first other "(" (so that overloads become one), drops quotes and
//                        makes ";" a ":".
// inferno-collapse-perf  the same, but counts samples.
// speedscope             weighs by the times, and puts the border between two samples half-way.
// Firefox Profiler       counts samples in its call tree, and takes the times for its graphs.
//
// So a sample has its weight as its period, and is taken where the half-way border comes out right. Where one sample
// cannot do that a second one of the same stack follows, with a period that counts nothing. Weights of 1, as calls
// have, need no second one, but for the last sample of a thread: where samples are counted, calls are right within one.
#include <fmt/format.h>

#include <iterator>
#include <map>
#include <vector>

#include "exporters/event_order.h"
#include "exporters/exporter.h"
#include "exporters/frame_name.h"
#include "exporters/perf_process.h"

namespace flamb {
namespace {

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
  // A thread's time goes by its own weights only: speedscope has a graph for each, and would fill gaps.
  struct Clock {
    std::uint64_t total = 0;   // at the end
    std::uint64_t now = 0;     // where the last sample's weight ends
    std::uint64_t sample = 0;  // where it was taken
  };

  void write_header();
  void weigh(std::uint64_t thread, std::uint64_t weight);
  void put_sample(std::uint32_t tid, std::uint64_t at, std::string_view period);
  const std::string& line(FrameId id);

  const Profile& profile_;
  Output& output_;
  const std::string command_;
  const std::uint32_t pid_;
  std::vector<std::string> lines_;  // by frame id; empty if not yet made
  std::vector<FrameId> stack_;      // the open frames, root first
  std::map<std::uint64_t, Clock> clocks_;
  std::string text_;  // of the sample that is being written
};

void PerfScript::write() {
  write_header();
  replay(
      profile_, [](NodeId) {}, [] {},
      [&](std::uint64_t thread, std::uint64_t weight) { clocks_[thread].total += weight; });
  replay(
      profile_, [&](NodeId id) { stack_.push_back(profile_.tree[id].frame); }, [&] { stack_.pop_back(); },
      [&](std::uint64_t thread, std::uint64_t weight) { this->weigh(thread, weight); });
  if (const std::string note = note_of_lost_order(profile_); !note.empty()) output_.notes.push_back(note);
}

// As perf script --header begins: the Firefox Profiler knows the format by the first line.
void PerfScript::write_header() {
  output_.stream << "# ========\n# captured by flamb " FLAMB_VERSION "\n# " << title(profile_) << "\n# "
                 << subtitle(profile_) << "\n# ========\n#\n";
}

// speedscope lets a stack begin half-way between the last sample and its own. For that to be where the last weight
// ended, its own has to be as far behind as the last was before: which is 0 or 1, so that the weight has room for it.
void PerfScript::weigh(std::uint64_t thread, std::uint64_t weight) {
  Clock& clock = clocks_[thread];
  const std::uint32_t tid = perf_tid(profile_, thread);
  clock.sample = clock.now + (clock.now - clock.sample);
  clock.now += weight;
  put_sample(tid, clock.sample, std::to_string(weight));
  const std::uint64_t rest = clock.now - clock.sample;
  if (rest > 1 || (rest == 1 && clock.now == clock.total)) {
    clock.sample = clock.now;
    // stackcollapse-perf.pl takes 0 for 1, since it is false in Perl; 00 is true, and 0.
    put_sample(tid, clock.sample, "00");
  }
}

void PerfScript::put_sample(std::uint32_t tid, std::uint64_t at, std::string_view period) {
  constexpr std::uint64_t second = 1'000'000'000;
  const std::uint64_t time = at * perf_nanoseconds(profile_.unit);
  text_.clear();
  fmt::format_to(std::back_inserter(text_), "{} {}/{} [000] {}.{:09}: {} {}: \n", command_, pid_, tid, time / second,
                 time % second, period, unit_name(profile_.unit));
  for (std::size_t frame = stack_.size(); frame > 0; --frame) text_ += line(stack_[frame - 1]);
  text_ += '\n';
  output_.stream.write(text_.data(), static_cast<std::streamsize>(text_.size()));
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
