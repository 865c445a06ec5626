#include "session.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "capture.h"
#include "known_viewers.h"
#include "options/options.h"
#include "output_file.h"
#include "progress.h"
#include "tracepoints/tracepoint_capture.h"
#include "viewer.h"

namespace flamb {
namespace {

// One `flamb capture` or `flamb apply`, from its options to its report.
class Session {
 public:
  Session(Debugger& debugger, const Options& options)
      : debugger_(debugger),
        options_(options),
        frames_(std::make_shared<FrameTable>()),
        program_(debugger, options.modules, *frames_),
        code_(debugger),
        invocations_(debugger, program_, code_) {}

  Result<void> run();
  Report& report() { return report_; }

 private:
  Result<void> check_target();
  Result<void> prepare_capture();
  Result<void> prepare_apply();
  Result<void> launch();
  Result<void> run_to_main();
  Result<void> check_trigger();
  bool wants_tracepoints() const;
  std::unique_ptr<Collector> make_collector();
  Capture::Settings capture_settings() const;
  Result<Collection> collect();
  Result<Collection> collect_by_tracepoints();
  void merge(Collection& collection) const;
  Result<void> publish(const Collection& collection);
  void warn_of_viewer();
  Result<void> open();
  Result<void> write(const Profile& profile);
  Result<void> write_format(const Profile& profile, const Exporter& format);
  Result<std::string> write_files(const Profile& profile, const Exporter& format, const std::string& directory);
  void print_notes(const std::vector<std::string>& notes);
  std::string name_for_file() const;
  void print_values(const Collection& collection);
  Result<void> conclude(const Collection& collection);
  bool is_capture() const { return options_.command == Command::capture; }

  Debugger& debugger_;
  const Options& options_;
  std::shared_ptr<FrameTable> frames_;
  Program program_;
  Code code_;
  Invocations invocations_;
  TargetInfo target_;
  Report report_;
};

Result<void> Session::run() {
  if (auto checked = check_output_directory(options_.output_directory); !checked) return checked;
  if (auto checked = check_target(); !checked) return checked;
  warn_of_viewer();
  if (auto prepared = is_capture() ? prepare_capture() : prepare_apply(); !prepared) return prepared;
  if (options_.ignore_breakpoints) {
    if (auto suspended = debugger_.suspend_user_breakpoints(true); !suspended) return suspended;
  }
  auto collection = collect();
  if (options_.ignore_breakpoints) debugger_.suspend_user_breakpoints(false);
  if (!collection) return tl::unexpected(collection.error());

  if (options_.merge) merge(*collection);
  print_values(*collection);
  auto published = publish(*collection);
  return published ? conclude(*collection) : published;
}

Result<void> Session::check_target() {
  const auto target = debugger_.target();
  if (!target) return tl::unexpected(target.error());
  target_ = *target;
  if (target_.state == TargetState::none) {
    return fail(Fault::user, "no program is loaded", "load one first: `file PROGRAM`, or attach to a process");
  }
  if (target_.state == TargetState::core_file) {
    return fail(Fault::user, "a core file cannot run, so nothing can be captured in it",
                "start the program, or attach to a process");
  }
  return {};
}

Result<void> Session::prepare_capture() {
  if (auto refreshed = program_.refresh(); !refreshed) return refreshed;
  if (auto checked = check_trigger(); !checked) return checked;
  return target_.state == TargetState::stopped ? Result<void>() : launch();
}

// An apply needs a process whose libraries are loaded: a program that is not started is run to its main().
Result<void> Session::prepare_apply() {
  if (target_.state != TargetState::stopped) {
    if (auto launched = launch(); !launched) return launched;
    return run_to_main();
  }
  return program_.refresh();
}

Result<void> Session::launch() {
  const auto stop = debugger_.launch();
  if (!stop) return tl::unexpected(stop.error());
  report_.has_run = true;
  return program_.refresh();
}

Result<void> Session::run_to_main() {
  const Function* main = program_.definition("main");
  if (main == nullptr) {
    return fail(Fault::user, fmt::format("{} is not started, and has no symbol `main` to start it to", target_.program),
                "start it, stop it where the expression can be evaluated, and apply again");
  }
  bool is_there = false;
  const auto breakpoint = debugger_.set_breakpoint(main->start, [&](ThreadId) {
    is_there = true;
    return Verdict::stop;
  });
  if (!breakpoint) return tl::unexpected(breakpoint.error());
  Result<Stop> stop = debugger_.resume();
  while (stop && stop->kind == Stop::Kind::modules) stop = debugger_.resume();
  debugger_.remove_breakpoint(*breakpoint);
  if (!stop) return tl::unexpected(stop.error());
  if (!is_there)
    return fail(Fault::target, fmt::format("{} did not reach main(): {}", target_.program, stop->description));
  return program_.refresh();
}

// A trigger that nothing matches may be in a library to come, unless it looks like a slip of the keyboard.
Result<void> Session::check_trigger() {
  const FunctionMatches matches = program_.find(options_.function);
  if (!matches.functions.empty()) return {};
  if (!matches.inlined_at.empty()) {
    return fail(Fault::user,
                fmt::format("`{}` has no code of its own: it is inlined at {}", options_.function,
                            fmt::join(matches.inlined_at, ", ")),
                "capture one of the functions it is inlined into, or build it with __attribute__((noinline))");
  }
  if (!matches.suggestions.empty()) {
    return fail(Fault::user, fmt::format("no function matches `{}`", options_.function),
                fmt::format("did you mean {}?", fmt::join(matches.suggestions, ", ")));
  }
  debugger_.print(fmt::format(
      "flamb: no function matches `{}` yet; waiting for a library that has it (Ctrl-C to stop)\n", options_.function));
  return {};
}

std::unique_ptr<Collector> Session::make_collector() {
  const bool wants_instructions = options_.measure == Measure::instructions;
  const bool steps = options_.collector == CollectorKind::stepping ||
                     (options_.collector == CollectorKind::automatic && wants_instructions);
  if (!steps) return make_breakpoint_collector(invocations_);
  return make_stepping_collector(invocations_, options_.measure == Measure::calls ? Unit::calls : Unit::instructions);
}

bool Session::wants_tracepoints() const {
  return options_.collector == CollectorKind::tracepoints || options_.measure == Measure::time;
}

Capture::Settings Session::capture_settings() const {
  return {.count = is_capture() ? options_.count : 1,
          .wants_values = is_capture() && options_.return_kind == ReturnKind::value,
          .callers = options_.callers,
          .tree = {.max_depth = options_.max_depth.value_or(CallTree::Options{}.max_depth),
                   .collapse_recursion = options_.collapse_recursion},
          .timeout = options_.timeout,
          .trigger = is_capture() ? options_.function : options_.expression};
}

Result<Collection> Session::collect() {
  report_.has_run = true;
  if (wants_tracepoints()) return collect_by_tracepoints();
  const std::unique_ptr<Collector> collector = make_collector();
  Capture capture(invocations_, *collector, capture_settings());
  const Progress progress(invocations_, collector->unit(), is_capture() ? options_.count : 1,
                          is_capture() ? options_.function : options_.expression);
  return is_capture() ? capture.wait() : capture.call();
}

Result<Collection> Session::collect_by_tracepoints() {
  const Unit unit = options_.measure == Measure::calls ? Unit::calls : Unit::nanoseconds;
  TracepointCapture capture(invocations_, capture_settings(), unit);
  return is_capture() ? capture.wait() : capture.call();
}

void Session::merge(Collection& collection) const {
  if (collection.invocations.size() < 2) return;
  Profile& all = collection.invocations.front()->profile;
  for (std::size_t index = 1; index < collection.invocations.size(); ++index) {
    Profile& other = collection.invocations[index]->profile;
    const std::vector<NodeId> nodes = all.tree.add(other.tree);
    ProfilePart& part = other.parts.front();
    all.parts.push_back({part.invocation, part.thread_id, part.timeline.renumbered(nodes)});
    if (all.incomplete.empty()) all.incomplete = other.incomplete;
  }
  collection.invocations.resize(1);
}

Result<void> Session::publish(const Collection& collection) {
  for (const auto& invocation : collection.invocations) {
    invocation->profile.frames = frames_;
    if (auto written = write(invocation->profile); !written) return written;
  }
  return options_.open.empty() || report_.files.empty() ? Result<void>() : open();
}

// Before anything runs, which may take long. The files are worth having without a viewer, and there is time to get one.
void Session::warn_of_viewer() {
  if (options_.open.empty()) return;
  const auto checked = check_viewer(options_.open);
  if (checked) return;
  debugger_.print(fmt::format("flamb: '{}' will not open: {}; the file is written all the same\n", options_.open,
                              checked.error().message));
}

// The first invocation's file, in a format that the viewer reads.
Result<void> Session::open() {
  const KnownViewer* viewer = find_known_viewer(options_.open);
  const auto format = std::ranges::find_if(
      options_.formats, [&](const Exporter* each) { return viewer == nullptr || reads(*viewer, *each); });
  const std::string& file = report_.files[static_cast<std::size_t>(format - options_.formats.begin())];
  const auto opened = open_viewer(options_.open, file);
  if (!opened) return tl::unexpected(opened.error());
  debugger_.print(fmt::format("flamb: opened {} with {}\n", file, *opened));
  return {};
}

Result<void> Session::write(const Profile& profile) {
  for (const Exporter* format : options_.formats) {
    if (options_.return_kind == ReturnKind::flamegraph) {
      std::ostringstream data;
      Output output{data};
      format->write(profile, output);
      print_notes(output.notes);
      report_.data.push_back(std::move(data).str());
      debugger_.print(report_.data.back());
    } else if (auto written = write_format(profile, *format); !written) {
      return written;
    }
  }
  if (!profile.incomplete.empty()) {
    debugger_.print(fmt::format("flamb: invocation {} is incomplete: {}\n", profile.invocation(), profile.incomplete));
  }
  if (profile.tree.was_cut()) {
    debugger_.print(fmt::format("flamb: frames deeper than {} are counted for the one at that depth\n",
                                options_.max_depth.value_or(0)));
  }
  return {};
}

// What the user typed, without parameters or arguments.
std::string Session::name_for_file() const {
  const std::string& typed = is_capture() ? options_.function : options_.expression;
  const std::size_t parenthesis = typed.find('(', 1);
  return typed.substr(0, parenthesis);
}

// What was collected is not lost when it cannot be written where the user wants it.
Result<void> Session::write_format(const Profile& profile, const Exporter& format) {
  const auto path = write_files(profile, format, options_.output_directory);
  if (path) {
    report_.files.push_back(*path);
    debugger_.print(*path + '\n');
    return {};
  }
  std::error_code no_directory;
  const auto rescue = write_files(profile, format, std::filesystem::temp_directory_path(no_directory).string());
  if (!rescue) return tl::unexpected(path.error());
  report_.files.push_back(*rescue);
  return fail(path.error().fault, path.error().message, fmt::format("it is kept in {}", *rescue));
}

// The format's file, and before it the one it refers to if there is one. Gives the path of the first.
Result<std::string> Session::write_files(const Profile& profile, const Exporter& format, const std::string& directory) {
  const std::string stem = output_stem(name_for_file(), profile.date, profile.invocation());
  std::string companion;
  if (format.write_companion != nullptr) {
    auto path = write_output_file(directory, stem, format.companion_extension,
                                  [&](std::ostream& out) { format.write_companion(profile, out); });
    if (!path) return path;
    companion = *path;
  }
  std::vector<std::string> notes;
  auto path = write_output_file(directory, stem, format.extension, [&](std::ostream& out) {
    Output output{out, companion};
    format.write(profile, output);
    notes = std::move(output.notes);
  });
  if (path) print_notes(notes);
  return path;
}

void Session::print_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) debugger_.print(fmt::format("flamb: {}\n", note));
}

void Session::print_values(const Collection& collection) {
  if (options_.return_kind != ReturnKind::value) return;
  for (const std::string& value : collection.values) {
    if (!value.empty()) debugger_.print(value.ends_with('\n') ? value : value + '\n');
  }
  report_.values = collection.values;
}

// What the user has to be told when not everything asked for was seen.
Result<void> Session::conclude(const Collection& collection) {
  for (const std::string& glob : program_.unmatched_globs()) {
    debugger_.print(fmt::format("flamb: no module matches `{}` (--modules)\n", glob));
  }
  if (collection.is_complete || !is_capture()) return {};
  const std::uint64_t seen = options_.merge && !collection.invocations.empty()
                                 ? collection.invocations.front()->profile.parts.size()
                                 : collection.invocations.size();
  if (seen >= options_.count) return {};
  const std::string end = collection.end.empty() ? "the target stopped" : collection.end;
  if (seen == 0) return fail(Fault::target, fmt::format("no invocation of `{}` was seen: {}", options_.function, end));
  debugger_.print(fmt::format("flamb: {} of {} invocations were seen: {}\n", seen, options_.count, end));
  return {};
}

}  // namespace

Result<Report> run_command(Debugger& debugger, std::string_view line) {
  const auto options = parse_command_line(line);
  if (!options) return tl::unexpected(options.error());
  if (options->command == Command::help) {
    debugger.print(help(options->help_topic));
    return Report{};
  }
  Session session(debugger, *options);
  if (auto ran = session.run(); !ran) return tl::unexpected(ran.error());
  return std::move(session.report());
}

std::vector<std::string> complete_function(Debugger& debugger, std::string_view typed, std::size_t limit) {
  FrameTable frames;
  Program program(debugger, {}, frames);
  if (!program.refresh()) return {};
  return program.complete(typed, limit);
}

}  // namespace flamb
