"""GDB's own primitives, as bare as they come, timed. Sourced by GDB, it defines

  benchmark breakpoints FUNCTION...   runs to done() over breakpoints whose stop() returns False
  benchmark steps COUNT               that many `stepi`
  benchmark time COMMAND...           any other command

Each prints "RESULT {...}" for run.py: seconds, events (hits or steps) and how often the target stopped.
"""

import json
import re
import time

import gdb


class CountedBreakpoint(gdb.Breakpoint):
    hits = 0

    def stop(self):
        CountedBreakpoint.hits += 1
        return False


def voluntary_switches():
    """A traced task gives up its CPU once a ptrace stop."""
    with open(f"/proc/{gdb.selected_inferior().pid}/status", encoding="ascii") as status:
        return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", status.read(), re.MULTILINE).group(1))


def run_over_breakpoints(functions):
    CountedBreakpoint.hits = 0
    for function in functions.split():
        CountedBreakpoint(f"*&{function}", internal=True)
    gdb.Breakpoint("*&done", internal=True)
    gdb.execute("continue", to_string=True)
    return CountedBreakpoint.hits


def run_steps(count):
    for _ in range(int(count)):
        gdb.execute("stepi", to_string=True)
    return int(count)


def run_command(command):
    print(gdb.execute(command, to_string=True))
    return 0


class Benchmark(gdb.Command):
    """Times GDB's primitives."""

    RUNS = {"breakpoints": run_over_breakpoints, "steps": run_steps, "time": run_command}

    def __init__(self):
        super().__init__("benchmark", gdb.COMMAND_USER)

    def invoke(self, argument, from_tty):
        verb, _, rest = argument.partition(" ")
        switches = voluntary_switches()
        started = time.perf_counter()
        events = self.RUNS[verb](rest)
        seconds = time.perf_counter() - started
        print("RESULT", json.dumps({"seconds": seconds, "events": events, "stops": voluntary_switches() - switches}))


Benchmark()
