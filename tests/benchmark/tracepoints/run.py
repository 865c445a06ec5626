#!/usr/bin/env python3
"""What a traced call costs with the collector tracepoints: nanoseconds over the untraced run, by the target's own clock.

  run.py [--build DIRECTORY] [--repetitions N]

Prints a table of medians, with what flamb has found the trigger to take against what the target's clock says of the
untraced run. Needs the release preset built.
"""

import argparse
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

WORKLOADS = [("fib", 30), ("mixed", 1_000_000)]


def nanoseconds(output):
    found = re.search(r"^nanoseconds (\d+)$", output, re.MULTILINE)
    if not found:
        sys.exit(f"the target did not report its time:\n{output}")
    return int(found[1])


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout


def traced(build, program, arguments, measure, directory):
    """The target's own time under a capture of its second call of work, and the weights that flamb has collected."""
    commands = [
        f"set args {' '.join(map(str, arguments))}",
        f"source {build}/share/flamb/gdb/flamb.py",
        f"flamb capture work 2 --collector tracepoints --measure {measure} --output-directory {directory}",
        "continue",
    ]
    words = ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off"]
    for command in commands:
        words += ["-ex", command]
    output = run([*words, str(program)])
    files = sorted(pathlib.Path(directory).glob("*-2.collapsed"))
    if not files:
        sys.exit(f"flamb wrote no second file:\n{output}")
    weights = sum(int(line.rsplit(" ", 1)[1]) for line in files[-1].read_text().splitlines())
    for file in pathlib.Path(directory).iterdir():
        file.unlink()
    return nanoseconds(output), weights


def measure(build, level, workload, size, repetitions):
    program = build / f"tests/benchmark/tracepoints/tracepoint_target_{level}"
    costs, errors = [], []
    with tempfile.TemporaryDirectory() as directory:
        _, calls = traced(build, program, (workload, size), "calls", directory)
        for _ in range(repetitions):
            untraced = nanoseconds(run([str(program), workload, str(size)]))
            with_hooks, found = traced(build, program, (workload, size), "time", directory)
            costs.append((with_hooks - untraced) / calls)
            errors.append(found / untraced)
    return calls, statistics.median(costs), statistics.median(errors)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[3] / "build/release")
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    print("| workload | calls | ns a call, over the untraced run | flamb's total / the untraced time |\n| --- | --- | --- | --- |")
    for workload, size in WORKLOADS:
        for level in ("O0", "O2"):
            calls, cost, error = measure(options.build, level, workload, size, options.repetitions)
            print(f"| {workload}, -{level} | {calls:,} | {cost:.1f} | {error:.2f} |")


if __name__ == "__main__":
    main()
