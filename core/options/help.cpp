#include <fmt/ranges.h>

#include <array>
#include <iterator>

#include "options/option_table.h"
#include "options/options.h"

namespace flamb {
namespace {

constexpr std::size_t width = 80;
constexpr std::string_view option_indent = "          ";

// The text's words in lines of at most `width`, each after `indent`.
std::string wrap(std::string_view text, std::string_view indent = {}) {
  std::string lines;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (column > 0 && column + 1 + word.size() > width) {
      lines += '\n';
      column = 0;
    }
    const std::string_view before = column == 0 ? indent : std::string_view(" ");
    lines.append(before).append(word);
    column += before.size() + word.size();
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return lines + '\n';
}

// "  NAME   text", the text's further lines under its first.
std::string entry(std::string_view name, std::size_t name_width, std::string_view text) {
  const std::string indent(name_width + 4, ' ');
  std::string lines = wrap(text, indent);
  return lines.replace(2, name.size(), name);
}

std::string formats() {
  std::string lines;
  std::size_t longest = 0;
  for (const Exporter& exporter : exporters()) longest = std::max(longest, exporter.name.size());
  for (const Exporter& exporter : exporters()) {
    std::string text(exporter.description);
    if (!exporter.aliases.empty()) text += fmt::format(" (also: {})", fmt::join(exporter.aliases, ", "));
    const std::string indent(option_indent.size() + longest + 4, ' ');
    lines += wrap(text, indent).replace(option_indent.size() + 2, exporter.name.size(), exporter.name);
  }
  return lines;
}

std::string describe(const OptionDefinition& option) {
  std::string text =
      option.letter ? fmt::format("  -{}, --{}", option.letter, option.name) : fmt::format("      --{}", option.name);
  if (!option.placeholder.empty()) {
    text += fmt::format(" {}", option.placeholder);
  } else if (option.values) {
    text += fmt::format(" {}", fmt::join(option.values(), "|"));
  }
  const bool lists_formats = option.name == "output-format";
  std::string fallback(option.fallback);
  if (lists_formats) fallback = fmt::format("{}, or what the viewer of --open reads best", exporters().front().name);
  text += '\n' + wrap(option.text, option_indent);
  if (lists_formats) text += formats();
  if (!fallback.empty()) text += wrap(fmt::format("Default: {}.", fallback), option_indent);
  return text;
}

std::string options_section() {
  std::string text =
      "Options, with one dash or two, as --name VALUE or --name=VALUE (quotes around a\n"
      "value with spaces):\n\n";
  for (const OptionDefinition& option : option_definitions()) text += describe(option);
  return text;
}

std::string collectors_section() {
  return "\nCollectors:\n\n" +
         entry("tracepoints", 11,
               "Time and exact calls, by jumps at the entries of the program's functions to code that flamb loads into "
               "it: some 30 ns a call. Needs a process of this machine. Inlined functions have no frame.") +
         entry("breakpoints", 11,
               "Exact calls, by a breakpoint at each function that can be reached. Costs a stop of the program a call: "
               "2,000 to 6,000 calls a second. Works with any program the debugger can run.") +
         entry("stepping", 11,
               "Exact instructions, and a frame for each inlined function. Runs from branch to branch, so it costs a "
               "stop for every few instructions: slow, for short functions.");
}

std::string files_section() {
  return "\nFiles:\n\n" +
         wrap(
             "A file for each invocation and format, named FUNCTION-YYYYMMDDTHHMMSS.uuuuuu-N.EXT, N being the number "
             "of the invocation. It appears whole or not at all, and no other file is overwritten.",
             "  ");
}

std::string capture_help() {
  return "Usage: flamb capture FUNCTION [COUNT] [OPTIONS]\n\n" +
         wrap(
             "Waits for the next COUNT invocations of FUNCTION (1 if not given), on any thread, and makes a flame "
             "graph of each. A program that does not run yet is started; a running one goes on. At the end it is "
             "left stopped where the last invocation returned, as 'finish' does. Ctrl-C ends the wait and keeps "
             "what was collected.") +
         '\n' +
         entry("FUNCTION", 8,
               "A bare name takes all overloads and template instances; one with its parameters takes just that "
               "one. It may have spaces and needs no quotes; 'single' or \"double\" ones are taken off. It may "
               "be in a library that is not loaded yet.") +
         entry("COUNT", 8, "How many invocations, over all threads: at least 1.") + '\n' + options_section() +
         collectors_section() + files_section() +
         "\nExamples:\n\n"
         "  (lldb) flamb capture parse_request 3\n"
         "  (lldb) flamb capture ns::Parser::parse(char const*) -f svg --open browser\n"
         "  (lldb) flamb capture checksum -measure instructions -return flamegraph -f text\n"
         "  (gdb) flamb capture parse_request 100 --merge --output-format svg,collapsed\n"
         "  (gdb) flamb capture operator new --callers --timeout 10\n"
         "  (gdb) flamb capture '(anonymous namespace)::f' -o /tmp/graphs\n";
}

std::string apply_help() {
  return "Usage: flamb apply [OPTIONS] [--] EXPRESSION\n\n" +
         wrap(
             "Evaluates EXPRESSION in the selected frame, as the debugger's own 'expr' or 'print' does, makes a flame "
             "graph of all that it calls, and prints its value. The program is stopped where it was before.") +
         '\n' +
         entry("EXPRESSION", 10,
               "Everything from the first word that is no option, taken as it stands, so that options go before "
               "it. Put -- before one that begins with a dash.") +
         '\n' + options_section() + collectors_section() + files_section() +
         "\nExamples:\n\n"
         "  (lldb) flamb apply checksum(buffer, 64)\n"
         "  (lldb) flamb apply --return filename -f svg parser.parse(\"two words\")\n"
         "  (gdb) flamb apply checksum(buffer, 64)\n"
         "  (gdb) flamb apply -measure instructions -open browser -f svg fib(20) + 1\n"
         "  (gdb) flamb apply -r flamegraph -f text -- -scale(3)\n";
}

std::string top_help() {
  return "flamb " FLAMB_VERSION
         ": flame graphs of one function, from the debugger prompt.\n"
         "The program is not edited, recompiled or restarted.\n\n"
         "  flamb capture FUNCTION [COUNT] [OPTIONS]\n"
         "      Waits for the next invocations of a function, a graph for each.\n"
         "  flamb apply [OPTIONS] [--] EXPRESSION\n"
         "      Evaluates an expression now, and graphs all that it calls.\n"
         "  flamb help [capture|apply]\n"
         "      All options, what they cost, and examples.\n\n"
         "To begin with:\n\n"
         "  flamb capture main --output-format svg --open browser\n";
}

}  // namespace

std::string help(std::string_view topic) {
  if (topic == "capture") return capture_help();
  if (topic == "apply") return apply_help();
  return top_help();
}

}  // namespace flamb
