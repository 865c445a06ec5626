#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/exporter.h"
#include "result.h"

// The command line of `flamb capture` and `flamb apply`: parsed here and nowhere else, for both debuggers. The help
// is made from the same definitions.
namespace flamb {

enum class Command { help, capture, apply };
enum class ReturnKind { value, flamegraph, filename };
enum class Measure { automatic, time, calls, instructions };
enum class CollectorKind { automatic, tracepoints, breakpoints, stepping };

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
//
// Words end at spaces. Quotes around a whole word, or around the whole value in --name="value", are taken off: 'all
// between is as it stands', "here \" and \\ are a quote and a backslash". Outside quotes a backslash before a space, a
// quote or a backslash makes it a plain character. Quotes within a word are plain, since C++ names have them. So a
// caller can pass any text as a value in double quotes, with a backslash before each " and \ in it.
//
// The words of FUNCTION are joined by one space. The expression of an apply is everything from the first word that is
// no option (or from what follows `--`), verbatim but for the spaces around it.
//
// An option given twice counts as given last; --output-format and --modules add up.
Result<Options> parse_command_line(std::string_view line);

// The help of "" (flamb itself), "capture" or "apply", in lines of at most 80 columns, the last one ended too.
std::string help(std::string_view topic);

// Completions of the last word of what follows `flamb`, for all but function names: subcommands, options, values. Whole
// words, sorted.
std::vector<std::string> complete(std::string_view line);

// The words (function name so far) if the last word of `line` is where a function's name or an expression goes.
std::optional<std::string> completes_function(std::string_view line);

}  // namespace flamb
