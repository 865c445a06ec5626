#include "options/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace flamb {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Options parsed(const std::string& line) {
  const Result<Options> options = parse_command_line(line);
  if (!options) ADD_FAILURE() << line << "\n  was refused: " << options.error().message;
  return options.value_or(Options());
}

// The whole of what the user reads.
std::string error(const std::string& line) {
  const Result<Options> options = parse_command_line(line);
  if (options) ADD_FAILURE() << line << "\n  was taken";
  return options ? "" : options.error().message + "\n" + options.error().next_action;
}

std::vector<std::string> format_names(const Options& options) {
  std::vector<std::string> names;
  for (const Exporter* exporter : options.formats) names.emplace_back(exporter->name);
  return names;
}

// --- capture: FUNCTION and COUNT

struct Captured {
  std::string line;
  std::string function;
  std::uint64_t count;
};

TEST(Options, TakeAllWordsButTheCountAndOptionsForTheFunction) {
  const std::vector<Captured> cases{
      Captured{"foo", "foo", 1},
      Captured{"foo 3", "foo", 3},
      Captured{"  foo   3  ", "foo", 3},
      Captured{"foo 007", "foo", 7},
      Captured{"foo 18446744073709551615", "foo", 18446744073709551615u},
      Captured{"foo(int, char const*) 3", "foo(int, char const*)", 3},
      Captured{"operator new", "operator new", 1},
      Captured{"operator new[] 2", "operator new[]", 2},
      Captured{"operator() 2", "operator()", 2},
      Captured{"operator< 2", "operator<", 2},
      Captured{"operator--", "operator--", 1},
      Captured{"operator -- 4", "operator --", 4},
      Captured{"A::operator -> 2", "A::operator ->", 2},
      Captured{"operator -= --merge", "operator -=", 1},
      Captured{"operator<<(std::ostream&, int) 2", "operator<<(std::ostream&, int)", 2},
      Captured{R"(operator""_kb 2)", R"(operator""_kb)", 2},
      Captured{R"(operator "" _kb 2)", R"(operator "" _kb)", 2},
      Captured{"ns::Vec<int, std::allocator<int> >::push_back 9", "ns::Vec<int, std::allocator<int> >::push_back", 9},
      Captured{"f(std::array<int, 3>)", "f(std::array<int, 3>)", 1},
      Captured{"f(std::array<int, 3> )", "f(std::array<int, 3> )", 1},
      Captured{"get<int, 3>", "get<int, 3>", 1},
      Captured{"(anonymous namespace)::f", "(anonymous namespace)::f", 1},
      Captured{"main::{lambda(int)#1}::operator()(int) const 2", "main::{lambda(int)#1}::operator()(int) const", 2},
      Captured{"main::'lambda'(int)::operator()(int) 2", "main::'lambda'(int)::operator()(int)", 2},
      Captured{"'lambda'(int)", "'lambda'(int)", 1},
      Captured{"'foo(int, char const*)' 3", "foo(int, char const*)", 3},
      Captured{"\"foo(int, char const*)\" 3", "foo(int, char const*)", 3},
      Captured{R"("say \"hi\" \\ \n" 2)", R"(say "hi" \ \n)", 2},
      Captured{R"('a\b')", R"(a\b)", 1},
      Captured{R"(a\ b 2)", "a b", 2},
      Captured{R"(a\b)", R"(a\b)", 1},
      Captured{"foo '3'", "foo 3", 1},
      Captured{"--merge foo 3", "foo", 3},
      Captured{"foo --merge 3", "foo", 3},
      Captured{"foo 3 --merge", "foo", 3},
      Captured{"foo(int, -merge char) -t 5 3 -o /tmp", "foo(int, char)", 3},
      Captured{"--merge -- --foo 2", "--foo", 2},
      Captured{"foo -- 2", "foo", 2},
      Captured{"\xC3\xA4\xC3\xB6 2", "\xC3\xA4\xC3\xB6", 2},
      Captured{"0x401136 2", "0x401136", 2},
      Captured{"help", "help", 1}};
  for (const Captured& expected : cases) {
    SCOPED_TRACE(expected.line);
    const Options options = parsed("capture " + expected.line);
    EXPECT_EQ(options.command, Command::capture);
    EXPECT_EQ(options.function, expected.function);
    EXPECT_EQ(options.count, expected.count);
  }
}

TEST(Options, NameACountThatIsNone) {
  for (const std::string count : {"0", "-3", "+3", "3x", "3.5", "0x10", "1e3", "-0"}) {
    EXPECT_THAT(error("capture foo " + count), AllOf(HasSubstr("COUNT"), HasSubstr("'" + count + "'"))) << count;
  }
  EXPECT_THAT(error("capture foo 18446744073709551616"), HasSubstr("too large: '18446744073709551616'"));
}

TEST(Options, SayThatTheFunctionIsMissing) {
  for (const std::string line :
       {"capture", "capture --merge", "capture 3", "capture 3 4", "capture ''", "capture --"}) {
    EXPECT_THAT(error(line), AllOf(HasSubstr("FUNCTION is missing"), HasSubstr("flamb capture FUNCTION"))) << line;
  }
}

TEST(Options, NameWhatHasAnOpenQuote) {
  EXPECT_THAT(error("capture 'foo bar"), AllOf(HasSubstr("not closed"), HasSubstr("foo bar")));
  EXPECT_THAT(error("capture f --open=\"a b"), HasSubstr("not closed"));
  EXPECT_THAT(error("capture f --open 'a b"), HasSubstr("not closed"));
  EXPECT_THAT(error("capture f --open \"a b\"c"), HasSubstr("closing quote"));
  EXPECT_THAT(error("capture f --open=\"a b\"c"), HasSubstr("closing quote"));
}

// --- apply: EXPRESSION

struct Applied {
  std::string line;
  std::string expression;
};

TEST(Options, TakeTheExpressionVerbatim) {
  const std::vector<Applied> cases{Applied{"f(1)", "f(1)"},
                                   Applied{"  f( 1,  2 )  ", "f( 1,  2 )"},
                                   Applied{R"(greet("two  words", 'c'))", R"(greet("two  words", 'c'))"},
                                   Applied{R"(puts("it's \"ok\"\\\n"))", R"(puts("it's \"ok\"\\\n"))"},
                                   Applied{R"("abc"[0] + 1)", R"("abc"[0] + 1)"},
                                   Applied{"'c' + f()", "'c' + f()"},
                                   Applied{"f(x) --merge", "f(x) --merge"},
                                   Applied{"x -- y", "x -- y"},
                                   Applied{"--merge f(x)", "f(x)"},
                                   Applied{"--open browser f(x)", "f(x)"},
                                   Applied{"--open=browser f(x)", "f(x)"},
                                   Applied{"-o '/tmp/a b' f(x)", "f(x)"},
                                   Applied{"-- -x + 1", "-x + 1"},
                                   Applied{"--merge --  --x", "--x"},
                                   Applied{"-3 + f()", "-3 + f()"},
                                   Applied{"-- -- x", "-- x"},
                                   Applied{"f(\n 1)", "f(\n 1)"},
                                   Applied{"'unbalanced", "'unbalanced"}};
  for (const Applied& expected : cases) {
    SCOPED_TRACE(expected.line);
    const Options options = parsed("apply " + expected.line);
    EXPECT_EQ(options.command, Command::apply);
    EXPECT_EQ(options.expression, expected.expression);
  }
}

TEST(Options, SayHowToWriteAnExpressionThatBeginsWithADash) {
  EXPECT_THAT(error("apply -scale(3)"), AllOf(HasSubstr("'-scale(3)'"), HasSubstr("put -- before")));
}

TEST(Options, SayThatTheExpressionIsMissing) {
  for (const std::string line : {"apply", "apply --merge", "apply --", "apply --open browser "}) {
    EXPECT_THAT(error(line), HasSubstr("EXPRESSION is missing")) << line;
  }
}

// --- options

TEST(Options, HaveDefaults) {
  const Options capture = parsed("capture f");
  EXPECT_EQ(capture.return_kind, ReturnKind::filename);
  EXPECT_THAT(format_names(capture), ElementsAre("collapsed"));
  EXPECT_EQ(capture.measure, Measure::automatic);
  EXPECT_EQ(capture.collector, CollectorKind::automatic);
  EXPECT_EQ(capture.output_directory, "");
  EXPECT_EQ(capture.open, "");
  EXPECT_THAT(capture.modules, IsEmpty());
  EXPECT_FALSE(capture.max_depth || capture.timeout);
  EXPECT_FALSE(capture.callers || capture.collapse_recursion || capture.merge || capture.ignore_breakpoints);
  EXPECT_EQ(parsed("apply f()").return_kind, ReturnKind::value);
}

void expect_all_set(const Options& options) {
  EXPECT_EQ(options.return_kind, ReturnKind::value);
  EXPECT_EQ(options.output_directory, "/tmp/a b");
  EXPECT_THAT(format_names(options), ElementsAre("svg", "collapsed"));
  EXPECT_EQ(options.open, "browser");
  EXPECT_EQ(options.measure, Measure::instructions);
  EXPECT_EQ(options.collector, CollectorKind::stepping);
  EXPECT_THAT(options.modules, ElementsAre("lib*", "a[bc]"));
  EXPECT_EQ(options.max_depth, 12u);
  EXPECT_EQ(options.timeout, 2.5);
  EXPECT_TRUE(options.callers);
  EXPECT_TRUE(options.collapse_recursion);
  EXPECT_TRUE(options.merge);
  EXPECT_TRUE(options.ignore_breakpoints);
}

TEST(Options, AreTakenWithTwoDashesAndEquals) {
  expect_all_set(
      parsed("capture f --return=value --output-directory='/tmp/a b' --output-format=svg,folded --open=browser "
             "--measure=instructions --collector=stepping --modules=lib*,a[bc] --max-depth=12 --timeout=2.5 --callers "
             "--collapse-recursion --merge --ignore-breakpoints"));
}

TEST(Options, AreTakenWithOneDashAndSpaces) {
  expect_all_set(
      parsed("apply -return value -output-directory \"/tmp/a b\" -output-format svg,folded -open browser "
             "-measure instructions -collector stepping -modules lib*,a[bc] -max-depth 12 -timeout 2.5 -callers "
             "-collapse-recursion -merge -ignore-breakpoints f()"));
}

TEST(Options, AreTakenByTheirLetters) {
  expect_all_set(
      parsed("capture -r value -o=/tmp/a\\ b f -f svg -f=brendan_gregg -open browser -m instructions -c stepping "
             "-modules lib* -modules a[bc] -max-depth 12 -t 2.5 -callers -collapse-recursion -merge "
             "-ignore-breakpoints"));
}

TEST(Options, CountAsGivenLastButListsAddUp) {
  const Options options =
      parsed("capture f -t 1 -t 2 -r value -r filename -f svg,svg -f collapsed,folded --modules a --modules b,c");
  EXPECT_EQ(options.timeout, 2);
  EXPECT_EQ(options.return_kind, ReturnKind::filename);
  EXPECT_THAT(format_names(options), ElementsAre("svg", "collapsed"));
  EXPECT_THAT(options.modules, ElementsAre("a", "b", "c"));
}

TEST(Options, KnowEveryFormatByAllItsNames) {
  for (const Exporter& exporter : exporters()) {
    EXPECT_THAT(format_names(parsed("capture f -f " + std::string(exporter.name))), ElementsAre(exporter.name));
    for (const std::string_view alias : exporter.aliases) {
      EXPECT_THAT(format_names(parsed("capture f -f " + std::string(alias))), ElementsAre(exporter.name)) << alias;
    }
  }
}

TEST(Options, TakeTheHomeDirectoryForATilde) {
  ::setenv("HOME", "/home/me", 1);
  EXPECT_EQ(parsed("capture f -o ~/graphs").output_directory, "/home/me/graphs");
  EXPECT_EQ(parsed("capture f -o ~ --open ~/bin/view").open, "/home/me/bin/view");
  EXPECT_EQ(parsed("capture f -o ~other/graphs").output_directory, "~other/graphs");
}

TEST(Options, ListWhatIsAllowedForAValueThatIsNot) {
  EXPECT_THAT(error("capture f --return valu"),
              AllOf(HasSubstr("--return"), HasSubstr("'valu'"), HasSubstr("value, flamegraph, filename"),
                    HasSubstr("did you mean value?")));
  EXPECT_THAT(error("capture f --measure bytes"), AllOf(HasSubstr("'bytes'"), HasSubstr("time, calls, instructions")));
  EXPECT_THAT(error("capture f --collector=step"),
              AllOf(HasSubstr("auto, tracepoints, breakpoints, stepping"), HasSubstr("did you mean stepping?")));
  std::string message = error("capture f -f collapsed,svgg");
  EXPECT_THAT(message, AllOf(HasSubstr("--output-format"), HasSubstr("'svgg'"), HasSubstr("did you mean svg?")));
  for (const Exporter& exporter : exporters()) EXPECT_THAT(message, HasSubstr(exporter.name));
}

TEST(Options, RefuseNumbersThatAreNone) {
  for (const std::string seconds : {"0", "-1", "x", "5s", "inf", "nan", "1e3", "0.0", "99999999999", "1,5"}) {
    EXPECT_THAT(error("capture f --timeout " + seconds), AllOf(HasSubstr("--timeout"), HasSubstr("'" + seconds + "'")))
        << seconds;
  }
  for (const std::string depth : {"0", "-1", "x", "3x", "1.5", "99999999999999999999"}) {
    EXPECT_THAT(error("capture f --max-depth " + depth), AllOf(HasSubstr("--max-depth"), HasSubstr("'" + depth + "'")))
        << depth;
  }
  EXPECT_EQ(parsed("capture f -timeout .5").timeout, 0.5);
}

TEST(Options, SayThatAValueIsMissingOrEmpty) {
  EXPECT_THAT(error("capture f --open"), HasSubstr("--open needs a value"));
  EXPECT_THAT(error("capture f --open --merge"), HasSubstr("--open needs a value"));
  EXPECT_THAT(error("apply --open -- f()"), HasSubstr("--open needs a value"));
  EXPECT_THAT(error("capture f --return"), HasSubstr("value, flamegraph, filename"));
  EXPECT_THAT(error("capture f --open="), HasSubstr("--open has an empty value"));
  EXPECT_THAT(error("capture f --open= --merge"), HasSubstr("--open has an empty value"));
  EXPECT_THAT(error("capture f -o ''"), HasSubstr("--output-directory has an empty value"));
  EXPECT_THAT(error("capture f -f svg,,text"), HasSubstr("--output-format has an empty value"));
  EXPECT_THAT(error("capture f --modules a,"), HasSubstr("--modules has an empty value"));
  EXPECT_EQ(parsed("capture f --open=--viewer").open, "--viewer");
}

TEST(Options, RefuseAValueForAFlag) {
  EXPECT_THAT(error("capture f --merge=yes"), AllOf(HasSubstr("--merge takes no value"), HasSubstr("--merge=yes")));
}

TEST(Options, NameAnOptionThatIsNotThere) {
  EXPECT_THAT(error("capture f --opne x"),
              AllOf(HasSubstr("'--opne'"), HasSubstr("--return, "), HasSubstr("did you mean --open?")));
  EXPECT_THAT(error("capture f -output-dir=x"), HasSubstr("did you mean --output-directory?"));
  EXPECT_THAT(error("capture f -z"), AllOf(HasSubstr("'-z'"), HasSubstr("flamb help capture")));
  EXPECT_THAT(error("capture f --Merge"), HasSubstr("did you mean --merge?"));
}

TEST(Options, RefuseWhatDoesNotGoTogether) {
  EXPECT_THAT(error("capture f -m instructions -c breakpoints"), HasSubstr("use --collector stepping"));
  EXPECT_THAT(error("capture f -c breakpoints -m instructions"), HasSubstr("use --collector stepping"));
  EXPECT_THAT(error("capture f -c tracepoints -m instructions"), HasSubstr("use --collector stepping"));
  EXPECT_THAT(error("capture f -c breakpoints -m time"), HasSubstr("use --collector tracepoints"));
  EXPECT_THAT(error("capture f -c stepping -m time"), HasSubstr("use --collector tracepoints"));
  EXPECT_THAT(error("capture f -m time --callers"), HasSubstr("cannot do --callers"));
  EXPECT_THAT(error("capture f -c tracepoints -r value"), HasSubstr("cannot do --return value"));
  EXPECT_EQ(parsed("apply -m time f()").measure, Measure::time);
  EXPECT_THAT(error("apply -r flamegraph --open browser f()"), AllOf(HasSubstr("--return"), HasSubstr("--open")));
  EXPECT_EQ(parsed("capture f -m calls -c stepping").measure, Measure::calls);
  EXPECT_THAT(error("capture f --return flamegraph -f svg,perf"),
              AllOf(HasSubstr("--return flamegraph"), HasSubstr("perf-data"), HasSubstr("--return filename")));
}

// --- what a viewer reads

TEST(Options, TakeTheFormatThatTheViewerReadsBest) {
  EXPECT_THAT(format_names(parsed("capture f --open speedscope")), ElementsAre("speedscope"));
  EXPECT_THAT(format_names(parsed("apply --open speedscope f()")), ElementsAre("speedscope"));
  EXPECT_THAT(format_names(parsed("capture f --open browser")), ElementsAre("svg"));
  EXPECT_THAT(format_names(parsed("capture f --open less")), ElementsAre("collapsed"));
  EXPECT_THAT(format_names(parsed("capture f --open /usr/bin/speedscope")), ElementsAre("collapsed"));
  if (find_exporter("perf-data") != nullptr) {
    EXPECT_THAT(format_names(parsed("capture f --open hotspot")), ElementsAre("perf-data"));
  }
}

TEST(Options, TakeFormatsOfWhichTheViewerReadsOne) {
  EXPECT_THAT(format_names(parsed("capture f --open speedscope -f svg,folded")), ElementsAre("svg", "collapsed"));
  EXPECT_THAT(format_names(parsed("capture f -f text --open browser")), ElementsAre("text"));
  EXPECT_THAT(format_names(parsed("capture f -f svg --open less")), ElementsAre("svg"));
}

TEST(Options, RefuseFormatsThatTheViewerCannotRead) {
  EXPECT_THAT(error("capture f -f svg,text --open speedscope"),
              AllOf(HasSubstr("--open speedscope"), HasSubstr("cannot read svg, text, it reads speedscope, collapsed"),
                    HasSubstr("add speedscope to --output-format")));
  EXPECT_THAT(error("apply --open browser -f collapsed f()"),
              AllOf(HasSubstr("cannot read collapsed, it reads svg, text"), HasSubstr("add svg")));
}

// --- commands

TEST(Options, AskForHelp) {
  for (const std::string line : {"", "  ", "help", "help help", "--help", "-h", "-help"}) {
    EXPECT_EQ(parsed(line).command, Command::help) << line;
    EXPECT_EQ(parsed(line).help_topic, "") << line;
  }
  for (const std::string line : {"help capture", "capture --help", "capture -h", "capture f 3 -help", "capture -h f"}) {
    EXPECT_EQ(parsed(line).command, Command::help) << line;
    EXPECT_EQ(parsed(line).help_topic, "capture") << line;
  }
  EXPECT_EQ(parsed("apply --help").help_topic, "apply");
  EXPECT_EQ(parsed("apply f(a) --help").command, Command::apply);
}

TEST(Options, ListTheCommandsForOneThatIsNot) {
  EXPECT_THAT(error("captrue f"),
              AllOf(HasSubstr("'captrue'"), HasSubstr("capture, apply, help"), HasSubstr("did you mean capture?")));
  EXPECT_THAT(error("help bogus"), AllOf(HasSubstr("'bogus'"), HasSubstr("capture, apply, help")));
  EXPECT_THAT(error("--merge capture f"), HasSubstr("'--merge'"));
}

// --- anything typed

// Pieces that the grammar treats specially, in random order: nothing may crash, hang, or be taken in two ways.
TEST(Options, SurviveAnything) {
  const std::vector<std::string> pieces{" ",
                                        "  ",
                                        "\t",
                                        "\n",
                                        "'",
                                        "\"",
                                        "\\",
                                        "-",
                                        "--",
                                        "=",
                                        ",",
                                        "capture",
                                        "apply",
                                        "help",
                                        "f(",
                                        "3",
                                        "0",
                                        "-o",
                                        "-f",
                                        "svg",
                                        "--open",
                                        "--merge",
                                        "-r",
                                        "operator",
                                        "value",
                                        "--bogus",
                                        "\xFF",
                                        "\xC3\xA4",
                                        "~",
                                        "%s",
                                        "<>",
                                        "{}",
                                        "[a]",
                                        "--timeout=1",
                                        "-h",
                                        std::string(1, '\0'),
                                        "--output-format=collapsed"};
  std::mt19937 random(20240817);  // NOLINT(cert-msc51-cpp): the same lines each time
  for (int round = 0; round < 20000; ++round) {
    std::string line = round % 3 == 0 ? "" : round % 3 == 1 ? "capture " : "apply ";
    for (std::size_t count = random() % 12; count > 0; --count) line += pieces[random() % pieces.size()];
    SCOPED_TRACE(::testing::PrintToString(line));
    const Result<Options> options = parse_command_line(line);
    if (!options) {
      EXPECT_FALSE(options.error().message.empty());
    } else if (options->command == Command::capture) {
      EXPECT_FALSE(options->function.empty());
      EXPECT_GE(options->count, 1u);
      EXPECT_FALSE(options->formats.empty());
    } else if (options->command == Command::apply) {
      EXPECT_THAT(line, HasSubstr(options->expression));
    }
    for (const std::string& word : complete(line)) EXPECT_FALSE(word.empty());
    EXPECT_TRUE(!completes_function(line) || complete(line).empty() || line.ends_with('-'));
    if (::testing::Test::HasFailure()) return;
  }
}

// What options.h promises a caller that builds a line.
TEST(Options, TakeAnyTextInDoubleQuotes) {
  const std::string text = "a \"b\" \\ 'c' \\\" --merge\n\t,= ";
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  quoted += '"';
  EXPECT_EQ(parsed("capture f --open=" + quoted).open, text);
  EXPECT_EQ(parsed("capture f --open " + quoted + " 2").open, text);
  EXPECT_EQ(parsed("capture " + quoted + " 2").function, text);
}

TEST(Options, TakeLongLines) {
  const std::string name(100000, 'x');
  EXPECT_EQ(parsed("capture " + name + " 2").function, name);
  EXPECT_THAT(error("capture f --" + name), HasSubstr(name));
}

}  // namespace
}  // namespace flamb
