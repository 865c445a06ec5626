#include <array>
#include <utility>

#include "contract_checks.h"

// Calls of expressions, and the values of functions that return.
namespace flamb::contract {

namespace {

struct Called {
  CallOutcome outcome;
  int observed = 0;
  bool made = false;
};

// Calls an expression in `ready`, and looks at the thread before and after.
Called call(Host& host, Report& report, const std::string& expression) {
  Debugger& debugger = host.debugger;
  const ThreadId thread = debugger.selected_thread().value_or(0);
  const auto rip = debugger.read_register(thread, Register::rip);
  const auto rsp = debugger.read_register(thread, Register::rsp);
  Called called;
  auto outcome = debugger.call(expression, [&](ThreadId seen, Address where) {
    ++called.observed;
    report.equal(seen, thread, "the observer's thread");
    report.expect(where != 0, "the observer's address");
  });
  if (!report.holds(outcome, expression)) return called;
  called.made = true;
  called.outcome = *outcome;
  if (!outcome->finished) return called;
  report.equal(debugger.read_register(thread, Register::rip).value_or(0), rip.value_or(1),
               expression + ": rip afterwards");
  report.equal(debugger.read_register(thread, Register::rsp).value_or(0), rsp.value_or(1),
               expression + ": rsp afterwards");
  report.equal(debugger.selected_thread().value_or(0), thread, expression + ": selected thread afterwards");
  return called;
}

void calls_give_values(Host& host, Report& report) {
  Program program(host, report);
  if (!program.run_to_ready()) return;
  const std::string before = host.state();
  const std::array<std::pair<std::string, std::string>, 8> cases{{{"add(3, 4)", "7"},
                                                                  {"give_double()", "2.5"},
                                                                  {"give_bool()", "true"},
                                                                  {"give_text()", "\"some text\""},
                                                                  {"give_pair()", "left = 3, right = 4"},
                                                                  {"give_mixed()", "part = 0.25"},
                                                                  {"give_large()", "17"},
                                                                  {"give_colour()", "green"}}};
  for (const auto& [expression, value] : cases) {
    const Called called = call(host, report, expression);
    if (!called.made) continue;
    report.expect(called.outcome.finished, expression + " finishes");
    report.contains(called.outcome.value, value, expression);
    report.expect(called.observed > 0, expression + ": the observer was called");
  }
  const Called nothing = call(host, report, "give_nothing()");
  report.expect(nothing.outcome.finished, "give_nothing() finishes");
  report.equal(nothing.outcome.value, "", "the value of void");
  if (host.calls_return_strings) {
    const Called greeted = call(host, report, "greet(\"two words\")");
    report.contains(greeted.outcome.value, "\"hello two words\"", "greet(\"two words\")");
  }
  report.equal(host.state(), before, "the debugger's state after the calls");
  report.stopped(program.resume(), Stop::Kind::exited, "run to the end");
}

void calls_reach_handlers(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  Program program(host, report);
  if (!program.run_to_ready()) return;
  int hits = 0;
  int returns = 0;
  bool set = false;
  bool observed = false;
  report.holds(debugger.set_breakpoint(program.at("inner"),
                                       [&](ThreadId thread) {
                                         ++hits;
                                         const Address to = program.return_address(thread).value_or(0);
                                         report.expect(observed, "the observer comes before the first handler");
                                         if (std::exchange(set, true)) return Verdict::go_on;
                                         report.holds(debugger.set_breakpoint(
                                                          to, [&](ThreadId) { return ++returns, Verdict::go_on; }),
                                                      "breakpoint inside a handler");
                                         return Verdict::go_on;
                                       }),
               "breakpoint at inner");
  const auto outcome = debugger.call("add(3, 4)", [&](ThreadId, Address) { observed = true; });
  if (report.holds(outcome, "add(3, 4)")) {
    report.expect(outcome->finished, "add(3, 4) finishes");
    report.contains(outcome->value, "7", "add(3, 4)");
  }
  report.equal(hits, 2, "hits inside the call");
  report.equal(returns, 1, "hits of the breakpoint set inside the call");
}

void errors_of_calls_are_the_debuggers_own(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  Program program(host, report);
  if (!program.run_to_ready()) return;
  const std::string before = host.state();
  for (const std::string expression : {"no_such_function(1)", "add(1,"}) {
    const auto outcome = debugger.call(expression, [](ThreadId, Address) {});
    if (outcome) {
      report.fail(expression + ": expected an error, got the value '" + outcome->value + "'");
      continue;
    }
    report.expect(outcome.error().fault == Fault::user, expression + ": the user's fault");
    report.expect(outcome.error().message.size() > 10, expression + ": the message says why");
    if (expression == "no_such_function(1)")
      report.contains(outcome.error().message, "no_such_function", "the message");
  }
  report.equal(host.state(), before, "the debugger's state after the errors");
}

void calls_that_are_cut_short(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  Program program(host, report);
  if (!program.run_to_ready()) return;
  const auto crash = debugger.call("crash((int*)0)", [](ThreadId, Address) {});
  if (!report.holds(crash, "crash(0)")) return;
  report.expect(!crash->finished, "crash(0) does not finish");
  report.stopped(crash->stop, Stop::Kind::signal, "crash(0)");
  report.equal(crash->stop.code, 11, "crash(0): the signal's number");
  const auto rip = debugger.read_register(crash->stop.thread, Register::rip);
  report.expect(program.within(rip.value_or(0), "crash"), "the target is left where it crashed");
}

void calls_stop_at_the_users_breakpoint(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  host.break_at("inner");
  Program program(host, report);
  if (!program.run_to_ready()) return;
  const auto outcome = debugger.call("add(3, 4)", [](ThreadId, Address) {});
  if (!report.holds(outcome, "add(3, 4)")) return;
  report.expect(!outcome->finished, "the call does not finish");
  report.stopped(outcome->stop, Stop::Kind::user, "add(3, 4)");
}

void calls_stop_when_a_handler_says_so(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  Program program(host, report);
  if (!program.run_to_ready()) return;
  const auto set = debugger.set_breakpoint(program.at("about_to_spin"), [&](ThreadId) { return Verdict::stop; });
  report.holds(set, "breakpoint at about_to_spin");
  const auto outcome = debugger.call("never()", [](ThreadId, Address) {});
  if (!report.holds(outcome, "never()")) return;
  report.expect(!outcome->finished, "the call does not finish");
  report.stopped(outcome->stop, Stop::Kind::requested, "never()");
}

void interrupts_end_calls(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  Program program(host, report);
  if (!program.run_to_ready()) return;
  const auto set = debugger.set_breakpoint(program.at("about_to_spin"), [&](ThreadId) {
    debugger.interrupt();
    return Verdict::go_on;
  });
  report.holds(set, "breakpoint at about_to_spin");
  const auto outcome = debugger.call("never()", [](ThreadId, Address) {});
  if (!report.holds(outcome, "never()")) return;
  report.expect(!outcome->finished, "the call does not finish");
  report.stopped(outcome->stop, Stop::Kind::interrupted, "never()");
}

void values_of_returns(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  Program program(host, report);
  if (!program.run_to_ready()) return;
  const std::array<std::pair<std::string, std::string>, 11> cases{{{"give_int", "42"},
                                                                   {"give_bool", "true"},
                                                                   {"give_double", "2.5"},
                                                                   {"give_float", "1.5"},
                                                                   {"give_text", "\"some text\""},
                                                                   {"give_colour", "green"},
                                                                   {"give_pair", "left = 3, right = 4"},
                                                                   {"give_mixed", "part = 0.25"},
                                                                   {"give_large", "17"},
                                                                   {"_Z11give_stringB5cxx11v", "\"a string\""},
                                                                   {"give_nothing", ""}}};
  for (const auto& [function, expected] : cases) {
    const Address entry = program.at(function);
    Result<BreakpointId> at_return = fail(Fault::flamb, "not set");
    const auto at_entry = debugger.set_breakpoint(entry, [&](ThreadId thread) {
      report.holds(debugger.expect_return_value(thread), function + ": a value to come");
      at_return =
          debugger.set_breakpoint(program.return_address(thread).value_or(0), [](ThreadId) { return Verdict::stop; });
      return Verdict::go_on;
    });
    const auto stop = program.resume();
    if (!report.stopped(stop, Stop::Kind::requested, function)) return;
    const auto value = debugger.return_value(stop->thread, entry);
    if (report.holds(value, function)) {
      report.contains(*value, expected, function);
      if (expected.empty()) report.equal(*value, "", function);
    }
    if (at_entry) debugger.remove_breakpoint(*at_entry);
    if (at_return) debugger.remove_breakpoint(*at_return);
  }
  report.stopped(program.resume(), Stop::Kind::exited, "run to the end");
}

// Two threads are stopped at one breakpoint; the expression is C, and the code around it C++.
void calls_alone_leave_other_threads_alone(Host& host, Report& report) {
  Debugger& debugger = host.debugger;
  Program program(host, report);
  int hits = 0;
  const auto id = debugger.set_breakpoint(program.at("about_to_spin"), [&](ThreadId) { return ++hits, Verdict::stop; });
  if (!report.holds(id, "breakpoint at about_to_spin")) return;
  while (hits < 2) {
    if (!report.stopped(program.resume(), Stop::Kind::requested, "a thread is about to spin")) return;
  }
  debugger.remove_breakpoint(*id);
  const auto threads = debugger.threads();
  const ThreadId selected = debugger.selected_thread().value_or(0);
  if (!report.holds(threads, "threads")) return;
  report.equal(threads->size(), 2U, "threads");
  const ThreadId other = threads->at(threads->at(0) == selected ? 1 : 0);
  const auto before = debugger.read_register(other, Register::rip);
  for (int i = 0; i < 3; ++i) {
    const auto outcome = debugger.call(
        fmt::format("((int (*)(int, int)){:#x})(1, 2)", program.at("add")), [](ThreadId, Address) {},
        Debugger::OtherThreads::stay);
    if (!report.holds(outcome, "call")) return;
    report.expect(outcome->finished, "the call finished");
    report.contains(outcome->value, "3", "its value");
    report.equal(debugger.read_register(other, Register::rip).value_or(0), before.value_or(1),
                 "rip of the other thread");
    report.equal(debugger.selected_thread().value_or(0), selected, "selected thread");
  }
}

constexpr std::array<Check, 9> kChecks{{
    {"calls_give_values", "call", calls_give_values},
    {"calls_reach_handlers", "call", calls_reach_handlers},
    {"errors_of_calls_are_the_debuggers_own", "call", errors_of_calls_are_the_debuggers_own},
    {"calls_that_are_cut_short", "call", calls_that_are_cut_short},
    {"calls_stop_at_the_users_breakpoint", "call", calls_stop_at_the_users_breakpoint},
    {"calls_stop_when_a_handler_says_so", "call", calls_stop_when_a_handler_says_so},
    {"interrupts_end_calls", "call", interrupts_end_calls},
    {"calls_alone_leave_other_threads_alone", "spins", calls_alone_leave_other_threads_alone},
    {"values_of_returns", "values", values_of_returns},
}};

}  // namespace

std::span<const Check> call_checks() { return kChecks; }

}  // namespace flamb::contract
