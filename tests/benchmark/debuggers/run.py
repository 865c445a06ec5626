#!/usr/bin/env python3
"""Compares flamb's two collectors with the bare primitives of each debugger, on the same functions of the same target.

  run.py [OPTIONS], see --help

Prints one table: medians, and flamb's rate divided by the primitive's. Needs the release preset built.
"""

import argparse
import dataclasses
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FUNCTIONS = "work inner leaf_add leaf_mix leaf_loop"


@dataclasses.dataclass
class Measurement:
    rate: float  # events per second
    stops: float  # of the target, per event


class Failed(Exception):
    """A debugger did not do what it should: the message has its output."""


class Lldb:
    name = "LLDB"

    def __init__(self, build):
        self.build = build

    def command_line(self, calls, commands):
        before = [f"plugin load {self.build}/tests/benchmark/debuggers/benchmark-lldb.so",
                  f"plugin load {self.build}/lib/flamb/flamb-lldb.so",
                  "settings set target.disable-aslr false"]
        line = ["lldb-19", "--no-lldbinit", "--batch"]
        for command in before:
            line += ["--one-line-before-file", command]
        for command in commands:
            line += ["--one-line", command]
        return line + ["--", f"{self.build}/tests/benchmark/debuggers/benchmark_target", str(calls)]

    def stop_at(self, function):
        return [f"breakpoint set --name {function}", "process launch", "breakpoint delete --force"]


class Gdb:
    name = "GDB"

    def __init__(self, build):
        self.build = build

    def command_line(self, calls, commands):
        line = ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set confirm off",
                "-iex", f"source {HERE}/gdb_primitives.py",
                "-iex", f"source {self.build}/share/flamb/gdb/flamb.py"]
        for command in commands:
            line += ["-ex", command]
        return line + ["--args", f"{self.build}/tests/benchmark/debuggers/benchmark_target", str(calls)]

    def stop_at(self, function):
        return [f"break {function}", "run", "delete"]


def run(debugger, calls, stop_at, command):
    line = debugger.command_line(calls, debugger.stop_at(stop_at) + [command])
    done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False)
    result = re.search(r"RESULT (\{.*\})", done.stdout)
    if not result:
        raise Failed(f"{debugger.name} gave no result for '{command}':\n{done.stdout}{done.stderr}")
    return json.loads(result.group(1)), done.stdout + done.stderr


def primitive(debugger, calls, stop_at, command):
    result, output = run(debugger, calls, stop_at, command)
    if not result["events"]:
        raise Failed(f"{debugger.name} saw no event in '{command}':\n{output}")
    return Measurement(result["events"] / result["seconds"], result["stops"] / result["events"])


def flamb(debugger, calls, measure):
    with tempfile.TemporaryDirectory() as directory:
        command = f"benchmark time flamb capture work --measure {measure} --output-directory {directory}"
        result, output = run(debugger, calls, "main", command)
        files = list(pathlib.Path(directory).iterdir())
        if len(files) != 1:
            raise Failed(f"{debugger.name} made {len(files)} files with '{command}':\n{output}")
        events = sum(int(stack.rsplit(" ", 1)[1]) for stack in files[0].read_text(encoding="utf-8").splitlines())
    return Measurement(events / result["seconds"], result["stops"] / events)


def median(measurements):
    return Measurement(statistics.median(each.rate for each in measurements),
                       statistics.median(each.stops for each in measurements))


def compare(repetitions, bare, ours):
    """Takes turns, so that what else the machine does falls on both."""
    pairs = [(bare(), ours()) for _ in range(repetitions)]
    return median([pair[0] for pair in pairs]), median([pair[1] for pair in pairs])


def print_row(debugger, what, unit, bare, ours):
    print(f"{debugger.name:<5} {what:<28} {bare.rate:>9,.0f} {ours.rate:>9,.0f} {unit:<14}"
          f" {ours.rate / bare.rate:>6.2f} {bare.stops:>9.3f} {ours.stops:>9.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parents[2] / "build" / "release")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--calls", type=int, default=5000, help="calls in the invocation that breakpoints count")
    parser.add_argument("--stepped-calls", type=int, default=2000, help="calls in the invocation that is stepped")
    parser.add_argument("--steps", type=int, default=3000, help="single steps of the bare primitive")
    options = parser.parse_args()

    print(f"{'':<5} {'':<28} {'bare':>9} {'flamb':>9} {'':<14} {'ratio':>6} {'target stops an event':>19}")
    for debugger in (Lldb(options.build.resolve()), Gdb(options.build.resolve())):
        print_row(debugger, "breakpoints", "calls/s", *compare(
            options.repetitions,
            lambda: primitive(debugger, options.calls, "main", f"benchmark breakpoints {FUNCTIONS}"),
            lambda: flamb(debugger, options.calls, "calls")))
        print_row(debugger, "stepping", "instructions/s", *compare(
            options.repetitions,
            lambda: primitive(debugger, options.calls, "work", f"benchmark steps {options.steps}"),
            lambda: flamb(debugger, options.stepped_calls, "instructions")))


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        sys.exit(f"run.py: {failure}")
