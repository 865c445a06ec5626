#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exporter.h"
#include "result.h"

// The command line of `flamb capture` and `flamb apply`: parsed here and nowhere else, for both debuggers. The help
// is made from the same definitions.
namespace flamb {

enum class Command { help, capture, apply };
enum class ReturnKind { value, flamegraph, filename };
enum class Measure { automatic, calls, instructions };
enum class CollectorKind { automatic, breakpoints, stepping };

struct Options {
  Command command = Command::help;
  std::string help_topic;  // help: "", "capture" or "apply"

  std::string function;     // capture: what the user typed
  std::uint64_t count = 1;  // capture: at least 1
  std::string expression;   // apply: verbatim

  ReturnKind return_kind = ReturnKind::filename;  // apply: value
  std::string output_directory;                   // empty: the debugger's working directory
  std::vector<const Exporter*> formats;           // at least one
  std::string open;                               // empty: open nothing
  Measure measure = Measure::automatic;
  CollectorKind collector = CollectorKind::automatic;
  std::vector<std::string> modules;      // globs; empty: the default
  std::optional<std::size_t> max_depth;  // at least 1
  bool callers = false;
  bool collapse_recursion = false;
  bool merge = false;
  bool ignore_breakpoints = false;
  std::optional<double> timeout;  // seconds, above 0
};

// What follows `flamb` on the command line, e.g. `capture parse_request 3 --output-format=svg`, as the user typed it.
// Quotes around a word are taken off, but not within the expression of an apply, which is everything from the first
// word that is no option (or from `--`).
Result<Options> parse_command_line(std::string_view line);

// The help of "" (flamb itself), "capture" or "apply", ending in a newline.
std::string help(std::string_view topic);

// Completions of the last word of what follows `flamb`, for all but function names: subcommands, options, values. Whole
// words, sorted.
std::vector<std::string> complete(std::string_view line);

// The words (function name so far) if the last word of `line` is where a function's name or an expression goes.
std::optional<std::string> completes_function(std::string_view line);

}  // namespace flamb
