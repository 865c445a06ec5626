#include "options/option_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "known_viewers.h"

namespace flamb {
namespace {

template <class T>
struct Choice {
  std::string_view name;
  T value;
};

constexpr auto return_kinds = std::to_array<Choice<ReturnKind>>(
    {{"value", ReturnKind::value}, {"flamegraph", ReturnKind::flamegraph}, {"filename", ReturnKind::filename}});
constexpr auto measures = std::to_array<Choice<Measure>>(
    {{"time", Measure::time}, {"calls", Measure::calls}, {"instructions", Measure::instructions}});
constexpr auto collectors = std::to_array<Choice<CollectorKind>>({{"auto", CollectorKind::automatic},
                                                                  {"tracepoints", CollectorKind::tracepoints},
                                                                  {"breakpoints", CollectorKind::breakpoints},
                                                                  {"stepping", CollectorKind::stepping}});

template <const auto& choices>
std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const auto& choice : choices) result.emplace_back(choice.name);
  return result;
}

template <const auto& choices, auto member>
Result<void> choose(Options& options, std::string_view value) {
  const auto chosen = std::ranges::find(choices, value, [](const auto& choice) { return choice.name; });
  if (chosen == choices.end()) return fail(Fault::user, "is not known");
  options.*member = chosen->value;
  return {};
}

template <bool Options::*member>
Result<void> turn_on(Options& options, std::string_view) {
  options.*member = true;
  return {};
}

// No shell does it at a debugger's prompt.
std::string expand_home(std::string_view path) {
  const char* home = std::getenv("HOME");
  if (!home || (path != "~" && !path.starts_with("~/"))) return std::string(path);
  return home + std::string(path.substr(1));
}

template <std::string Options::*member>
Result<void> set_path(Options& options, std::string_view value) {
  options.*member = expand_home(value);
  return {};
}

std::vector<std::string> format_names() {
  std::vector<std::string> result;
  for (const Exporter& exporter : exporters()) {
    result.emplace_back(exporter.name);
    result.insert(result.end(), exporter.aliases.begin(), exporter.aliases.end());
  }
  return result;
}

Result<void> add_format(Options& options, std::string_view value) {
  const Exporter* exporter = find_exporter(value);
  if (!exporter) return fail(Fault::user, "is not known");
  if (std::ranges::find(options.formats, exporter) == options.formats.end()) options.formats.push_back(exporter);
  return {};
}

Result<void> add_module(Options& options, std::string_view value) {
  options.modules.emplace_back(value);
  return {};
}

Result<void> set_depth(Options& options, std::string_view value) {
  std::size_t depth = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), depth);
  if (error != std::errc() || end != value.data() + value.size() || depth == 0) {
    return fail(Fault::user, "is not a whole number of at least 1");
  }
  options.max_depth = depth;
  return {};
}

Result<void> set_timeout(Options& options, std::string_view value) {
  constexpr double longest = 1e9;  // a duration of nanoseconds still holds it
  double seconds = 0;
  const auto [end, error] =
      std::from_chars(value.data(), value.data() + value.size(), seconds, std::chars_format::fixed);
  const bool is_number = error == std::errc() && end == value.data() + value.size();
  if (!is_number || !(seconds > 0 && seconds <= longest)) {
    return fail(Fault::user, "is not a number of seconds above 0 and up to 1000000000, such as 2.5");
  }
  options.timeout = seconds;
  return {};
}

Result<void> ask_for_help(Options& options, std::string_view) {
  options.help_topic = options.command == Command::apply     ? "apply"
                       : options.command == Command::capture ? "capture"
                                                             : "";
  options.command = Command::help;
  return {};
}

constexpr std::array definitions{
    OptionDefinition{
        .name = "return",
        .letter = 'r',
        .text = "What the command prints: the function's return value, the flame graph itself (no file is written), or "
                "the names of the files.",
        .fallback = "filename for capture, value for apply",
        .values = names<return_kinds>,
        .set = choose<return_kinds, &Options::return_kind>,
    },
    OptionDefinition{
        .name = "output-format",
        .letter = 'f',
        .placeholder = "NAME[,NAME...]",
        .text = "The formats to write, a file each:",
        .values = format_names,
        .is_list = true,
        .set = add_format,
    },
    OptionDefinition{
        .name = "output-directory",
        .letter = 'o',
        .placeholder = "DIR",
        .text = "Where the files go.",
        .fallback = "the debugger's working directory",
        .set = set_path<&Options::output_directory>,
    },
    OptionDefinition{
        .name = "open",
        .placeholder = "PROGRAM",
        .text = "Opens the file in a program: 'speedscope', 'hotspot', 'browser' (the one in $BROWSER, else the "
                "desktop's own), which get the format they read best if none is named, or any other by its name or "
                "path. Of several files, the first that the program reads.",
        .values = known_viewer_names,
        .set = set_path<&Options::open>,
    },
    OptionDefinition{
        .name = "measure",
        .letter = 'm',
        .text = "What the widths of the graph count.",
        .fallback = "what the collector counts best: time by tracepoints, calls by breakpoints, instructions by "
                    "stepping",
        .values = names<measures>,
        .set = choose<measures, &Options::measure>,
    },
    OptionDefinition{
        .name = "collector",
        .letter = 'c',
        .text = "How the stacks are collected; see 'Collectors' below.",
        .fallback = "auto, that is tracepoints for time, stepping for instructions, else breakpoints",
        .values = names<collectors>,
        .set = choose<collectors, &Options::collector>,
    },
    OptionDefinition{
        .name = "modules",
        .placeholder = "GLOB[,GLOB...]",
        .text = "Whose functions get a frame: globs for the paths or file names of the program and of libraries. Other "
                "modules are a single frame where they are called.",
        .fallback = "the program, its own libraries and the one that holds FUNCTION, not the system's",
        .is_list = true,
        .set = add_module,
    },
    OptionDefinition{
        .name = "max-depth",
        .placeholder = "N",
        .text = "Keeps the N outermost frames of a stack; what is deeper counts for the last of them.",
        .fallback = "all frames",
        .set = set_depth,
    },
    OptionDefinition{
        .name = "callers",
        .text = "Puts the callers of the function below it.",
        .set = turn_on<&Options::callers>,
    },
    OptionDefinition{
        .name = "collapse-recursion",
        .text = "Makes one frame of a function that calls itself directly.",
        .set = turn_on<&Options::collapse_recursion>,
    },
    OptionDefinition{
        .name = "merge",
        .text = "Makes one graph of all invocations, not one each.",
        .set = turn_on<&Options::merge>,
    },
    OptionDefinition{
        .name = "timeout",
        .letter = 't',
        .placeholder = "SECONDS",
        .text = "Stops after that time and writes what there is, marked incomplete.",
        .fallback = "no limit; Ctrl-C does the same",
        .set = set_timeout,
    },
    OptionDefinition{
        .name = "ignore-breakpoints",
        .text = "Switches your own breakpoints off until the command ends. Without it, one that is hit ends the "
                "command, and the graph is marked incomplete.",
        .set = turn_on<&Options::ignore_breakpoints>,
    },
    OptionDefinition{
        .name = "help",
        .letter = 'h',
        .text = "Prints this.",
        .set = ask_for_help,
    },
};

}  // namespace

std::span<const OptionDefinition> option_definitions() { return definitions; }

const OptionDefinition* find_option(std::string_view name) {
  const auto found = std::ranges::find_if(definitions, [&](const OptionDefinition& definition) {
    return definition.name == name || (name.size() == 1 && definition.letter == name[0]);
  });
  return found == definitions.end() ? nullptr : &*found;
}

}  // namespace flamb
