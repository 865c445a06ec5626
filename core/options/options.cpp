#include "options/options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <ranges>

#include "known_viewers.h"
#include "options/command_line.h"
#include "options/nearest.h"
#include "options/option_table.h"

namespace flamb {
namespace {

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates,
                         std::string_view otherwise) {
  const std::string near = nearest(word, candidates);
  return near.empty() ? std::string(otherwise) : fmt::format("did you mean {}?", near);
}

tl::unexpected<Error> no_such_command(std::string_view name) {
  const std::vector<std::string> commands{"capture", "apply", "help"};
  return fail(Fault::user, fmt::format("flamb has no command '{}': it has {}", name, fmt::join(commands, ", ")),
              did_you_mean(name, commands, "see 'flamb help'"));
}

tl::unexpected<Error> no_such_option(const Word& word, Command command) {
  std::vector<std::string> names;
  for (const OptionDefinition& definition : option_definitions()) names.push_back(fmt::format("--{}", definition.name));
  const std::string dashed = fmt::format("--{}", option_name(word.text));
  const std::string_view otherwise =
      command == Command::apply ? "put -- before an expression that begins with a dash" : "see 'flamb help capture'";
  return fail(Fault::user, fmt::format("there is no option '{}': there are {}", word.text, fmt::join(names, ", ")),
              did_you_mean(dashed, names, otherwise));
}

tl::unexpected<Error> unbalanced_quotes(const Word& word) {
  if (word.unterminated) return fail(Fault::user, fmt::format("a quote is not closed: '{}'", word.text));
  return fail(Fault::user, fmt::format("text follows the closing quote: '{}'", word.text),
              "put the quotes around the whole value");
}

// "value, flamegraph or filename"; nothing where the values are only suggestions.
std::string allowed_values(const OptionDefinition& option) {
  const bool open_ended = !option.values || (!option.placeholder.empty() && !option.is_list);
  return open_ended ? std::string() : fmt::format(": it takes {}", fmt::join(option.values(), ", "));
}

Result<void> set_value(const OptionDefinition& option, std::string_view value, Options& options) {
  if (value.empty()) {
    return fail(Fault::user, fmt::format("--{} has an empty value{}", option.name, allowed_values(option)));
  }
  const Result<void> done = option.set(options, value);
  if (done) return {};
  return fail(Fault::user,
              fmt::format("--{}: '{}' {}{}", option.name, value, done.error().message, allowed_values(option)),
              option.values ? did_you_mean(value, option.values(), "") : std::string());
}

Result<void> set_list(const OptionDefinition& option, std::string_view list, Options& options) {
  for (;;) {
    const std::size_t comma = list.find(',');
    if (Result<void> done = set_value(option, list.substr(0, comma), options); !done) return done;
    if (comma == std::string_view::npos) return {};
    list.remove_prefix(comma + 1);
  }
}

// The option at `part`, whose value may be the part after it: `part` then moves on to that one.
Result<void> take_option(std::vector<Part>::const_iterator& part, std::vector<Part>::const_iterator end,
                         Options& options) {
  const Word& word = part->word;
  if (!part->option) return no_such_option(word, options.command);
  if (word.unterminated || word.half_quoted) return unbalanced_quotes(word);
  const OptionDefinition& option = *part->option;
  const std::size_t equals = word.text.find('=');
  if (!option.takes_value()) {
    if (equals == std::string::npos) return option.set(options, {});
    return fail(Fault::user, fmt::format("--{} takes no value: '{}'", option.name, word.text));
  }
  std::string_view value;
  if (equals != std::string::npos) {
    value = std::string_view(word.text).substr(equals + 1);
  } else if (part + 1 != end && (part + 1)->role == Role::value) {
    ++part;
    if (part->word.unterminated || part->word.half_quoted) return unbalanced_quotes(part->word);
    value = part->word.text;
  } else {
    return fail(Fault::user, fmt::format("--{} needs a value{}", option.name, allowed_values(option)),
                fmt::format("if the value begins with a dash, write --{}=VALUE", option.name));
  }
  return option.is_list ? set_list(option, value, options) : set_value(option, value, options);
}

// Does the word try to be a COUNT? `3>)` is the end of a name, 3.5 a count that is wrong.
bool is_count_like(const Word& word) {
  std::string_view text = word.text;
  if (word.quoted) return false;
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const auto of_number = [](char c) {
    return c == '.' || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  return !text.empty() && text[0] >= '0' && text[0] <= '9' && std::ranges::all_of(text, of_number);
}

Result<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error == std::errc::result_out_of_range) {
    return fail(Fault::user,
                fmt::format("COUNT is too large: '{}' is above {}", text, std::numeric_limits<std::uint64_t>::max()));
  }
  if (error != std::errc() || end != text.data() + text.size() || count == 0) {
    return fail(Fault::user, fmt::format("COUNT is not a whole number of at least 1: '{}'", text),
                "it says how many invocations of FUNCTION to capture");
  }
  return count;
}

Result<void> take_function(std::vector<Word> words, Options& options) {
  constexpr std::string_view usage = "write 'flamb capture FUNCTION [COUNT] [OPTIONS]'";
  for (const Word& word : words) {
    if (word.unterminated) return unbalanced_quotes(word);
  }
  if (words.size() > 1 && is_count_like(words.back())) {
    const Result<std::uint64_t> count = parse_count(words.back().text);
    if (!count) return tl::unexpected<Error>(count.error());
    options.count = *count;
    words.pop_back();
  }
  if (!words.empty() && words.front().text.find_first_not_of("0123456789") == std::string::npos &&
      !words.front().text.empty()) {
    return fail(Fault::user, fmt::format("FUNCTION is missing before COUNT '{}'", words.front().text),
                std::string(usage));
  }
  for (const Word& word : words) {
    if (!options.function.empty()) options.function += ' ';
    // `operator "" _s`: empty quotes are part of a name, not quotes around one.
    options.function += word.text.empty() && words.size() > 1 ? "\"\"" : word.text;
  }
  if (options.function.find_first_not_of(" \t\r\n") == std::string::npos) {
    return fail(Fault::user, "FUNCTION is missing", std::string(usage));
  }
  return {};
}

// What only one collector can do.
Result<void> check_measure(const Options& options) {
  const auto conflict = [](std::string_view collector, std::string_view does, std::string_view measure,
                           std::string_view instead) {
    return fail(Fault::user, fmt::format("--collector {} {}: it cannot do --measure {}", collector, does, measure),
                fmt::format("use --collector {}, or leave --collector out", instead));
  };
  if (options.collector == CollectorKind::automatic) return {};
  if (options.measure == Measure::instructions && options.collector == CollectorKind::breakpoints) {
    return conflict("breakpoints", "counts calls", "instructions", "stepping");
  }
  if (options.measure == Measure::instructions && options.collector == CollectorKind::tracepoints) {
    return conflict("tracepoints", "measures time and counts calls", "instructions", "stepping");
  }
  if (options.measure == Measure::time && options.collector != CollectorKind::tracepoints) {
    const bool steps = options.collector == CollectorKind::stepping;
    return conflict(steps ? "stepping" : "breakpoints", "stops the program all the time", "time", "tracepoints");
  }
  return {};
}

Result<void> check_tracepoints(const Options& options) {
  if (options.collector != CollectorKind::tracepoints && options.measure != Measure::time) return {};
  const bool wants_value = options.command == Command::capture && options.return_kind == ReturnKind::value;
  if (!options.callers && !wants_value) return {};
  return fail(Fault::user,
              fmt::format("tracepoints do not stop at each invocation: they cannot do {}",
                          options.callers ? "--callers" : "--return value"),
              "use --collector breakpoints");
}

Result<void> check_combinations(const Options& options) {
  if (auto checked = check_measure(options); !checked) return checked;
  if (auto checked = check_tracepoints(options); !checked) return checked;
  if (options.return_kind == ReturnKind::flamegraph && !options.open.empty()) {
    return fail(Fault::user, "--return flamegraph writes no file that --open could show", "leave one of the two out");
  }
  for (const Exporter* format : options.formats) {
    if (options.return_kind != ReturnKind::flamegraph || format->write_companion == nullptr) continue;
    return fail(Fault::user, fmt::format("--return flamegraph cannot show {}: it is two files", format->name),
                "use --return filename, or another format");
  }
  return {};
}

std::string names(const std::vector<const Exporter*>& formats) {
  const auto name = [](const Exporter* format) { return format->name; };
  return fmt::format("{}", fmt::join(formats | std::views::transform(name), ", "));
}

// Without --output-format, what the viewer of --open reads best; with it, something that it reads.
Result<void> settle_formats(Options& options) {
  const KnownViewer* viewer = find_known_viewer(options.open);
  if (options.formats.empty())
    options.formats = {viewer != nullptr ? readable_formats(*viewer).front() : &exporters().front()};
  const auto fits = [viewer](const Exporter* format) { return reads(*viewer, *format); };
  if (viewer == nullptr || std::ranges::any_of(options.formats, fits)) return {};
  return fail(
      Fault::user,
      fmt::format("--open {}: {} cannot read {}, it reads {}", viewer->name, viewer->name, names(options.formats),
                  names(readable_formats(*viewer))),
      fmt::format("add {} to --output-format, or leave --output-format out", readable_formats(*viewer).front()->name));
}

Result<Options> parse_help(const std::vector<Part>& parts) {
  Options options;
  if (parts.size() < 2) return options;
  options.help_topic = parts[1].word.text;
  if (options.help_topic == "help") options.help_topic.clear();
  if (options.help_topic.empty() || options.help_topic == "capture" || options.help_topic == "apply") return options;
  return no_such_command(options.help_topic);
}

Result<Options> parse_arguments(const std::vector<Part>& parts, Command command) {
  Options options;
  options.command = command;
  options.return_kind = command == Command::apply ? ReturnKind::value : ReturnKind::filename;
  std::vector<Word> words;
  for (auto part = parts.begin() + 1; part != parts.end(); ++part) {
    if (part->role == Role::function) {
      words.push_back(part->word);
    } else if (part->role == Role::expression) {
      options.expression = part->word.text;
    } else if (part->role == Role::option) {
      if (const Result<void> done = take_option(part, parts.end(), options); !done) {
        return tl::unexpected<Error>(done.error());
      }
      if (options.command == Command::help) return options;
    }
  }
  if (command == Command::apply && options.expression.empty()) {
    return fail(Fault::user, "EXPRESSION is missing", "write 'flamb apply [OPTIONS] [--] EXPRESSION'");
  }
  Result<void> done;
  if (command == Command::capture) done = take_function(std::move(words), options);
  if (done) done = check_combinations(options);
  if (done) done = settle_formats(options);
  if (!done) return tl::unexpected<Error>(done.error());
  return options;
}

}  // namespace

Result<Options> parse_command_line(std::string_view line) {
  const std::vector<Part> parts = split(line);
  if (parts.empty()) return Options();
  const Part& first = parts.front();
  if (first.role == Role::option) {
    if (first.option && first.option->name == "help") return Options();
    return fail(Fault::user, fmt::format("a command goes before the option '{}'", first.word.text),
                "write 'flamb capture FUNCTION' or 'flamb apply EXPRESSION', then the options");
  }
  if (first.word.text == "help") return parse_help(parts);
  if (first.word.text == "capture") return parse_arguments(parts, Command::capture);
  if (first.word.text == "apply") return parse_arguments(parts, Command::apply);
  return no_such_command(first.word.text);
}

}  // namespace flamb
