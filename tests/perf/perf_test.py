"""Has perf or hotspot read a sample in the format perf-data, and compares what it says with the sample's collapsed stacks.

usage: perf_test.py WRITE_SAMPLE CASE
"""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile

import hotspot
import perf

MOST_FRAMES = 8183  # of a stack, in one record
UNITS = {"hard_names": "calls"}  # instructions in other samples
THREADS = {"threads": {4711: 466, 4712: 233}}  # all in thread 4711 in other samples


def write_sample(program, sample, directory):
    path = pathlib.Path(directory, f"{sample}.perf.data")
    subprocess.run([program, sample, "perf-data", path, path.with_suffix(".symbols")], check=True)
    collapsed = path.with_suffix(".collapsed")
    subprocess.run([program, sample, "collapsed", collapsed], check=True)
    return path, read_collapsed(collapsed)


def read_collapsed(path):
    """Weights by stack, cut as perf-data has to."""
    weights = collections.Counter()
    for line in path.read_text(encoding="utf-8").split("\n"):
        if not line:
            continue
        stack, weight = line.rsplit(" ", 1)
        frames = stack.split(";")
        if len(frames) > MOST_FRAMES:
            cut = len(frames) - MOST_FRAMES + 1
            frames[MOST_FRAMES - 2:-1] = [f"[{cut:,} frames cut]"]
        weights[";".join(frames)] += int(weight)
    return weights


def as_collapsed(name):
    """What the format collapsed makes of a name."""
    if name.endswith(" [inlined]"):
        return name.removesuffix(" [inlined]").replace(";", ":") + "_[i]"
    return re.sub(r" (\d+\.?\d*)$", r"_\1", name.replace(";", ":"))


def by_stack(samples):
    weights = collections.Counter()
    for sample in samples:
        weights[";".join(map(as_collapsed, sample.stack))] += sample.weight
    return weights


def by_leaf(weights):
    leaves = collections.Counter()
    for stack, weight in weights.items():
        leaves[stack.rsplit(";", 1)[-1]] += weight
    return leaves


def compare(actual, expected, what):
    if actual == expected:
        return
    lines = [f"{what} differ:"]
    for key in sorted({*actual, *expected}, key=str):
        if actual.get(key) != expected.get(key):
            lines.append(f"  {str(key)[:300]}\n    expected {expected.get(key)}, actual {actual.get(key)}")
    sys.exit("\n".join(lines[:20]))


def check_script(path, expected, sample):
    samples = perf.samples(path)
    compare(by_stack(samples), expected, "the stacks of perf script")
    compare(collections.Counter(each.event for each in samples), {UNITS.get(sample, "instructions"): len(samples)}, "events")
    threads = collections.Counter()
    for each in samples:
        threads[each.thread] += each.weight
    compare(threads, THREADS.get(sample, {4711: sum(expected.values())}), "the threads' weights")
    times = [each.time for each in samples]
    if times != sorted(set(times)):
        sys.exit(f"the times do not ascend: {times[:100]}")


def check_report(path, expected, _):
    actual = {as_collapsed(name): weight for name, weight in perf.self_weights(path).items()}
    # It fills names up with spaces: those at their ends cannot be told.
    compare(actual, {name.rstrip(" "): weight for name, weight in by_leaf(expected).items()},
            "the functions' weights of perf report")


def check_hotspot(path, expected, sample):
    count = len(perf.samples(path, 1))
    samples = list(hotspot.samples(path, count))
    compare(by_stack(samples), expected, "the stacks of hotspot")
    compare({each.event for each in samples}, {UNITS.get(sample, "instructions")}, "events")


def check_nothing(path, expected, _):
    compare(expected, {}, "stacks of the empty sample")
    compare({"samples": perf.samples(path)}, {"samples": []}, "samples")
    _, _, errors = perf.run("report", "--stdio", "-i", str(path))
    if "has no samples" not in errors:
        sys.exit(f"perf report said of an empty file: {errors}")


def check_hotspot_window(path, _expected, _sample):
    with hotspot.Screen(path, path.parent) as screen:
        screen.show_flame_graph(0.05)


def check_hotspot_nothing(path, _expected, _sample):
    """Its window has no name but that of the program until a file is read."""
    with hotspot.Screen(path, path.parent):
        pass


CHECKS = {"script": check_script, "report": check_report, "hotspot": check_hotspot}
CASES = {
    "nothing": (check_nothing, "empty"),
    "hotspot_nothing": (check_hotspot_nothing, "empty"),
    "hotspot_window": (check_hotspot_window, "server"),
}


def main():
    program, case = sys.argv[1:]
    tool, _, sample = case.partition("_")
    check, sample = CASES.get(case) or (CHECKS[tool], sample)
    with tempfile.TemporaryDirectory() as directory:
        check(*write_sample(program, sample, directory), sample)


if __name__ == "__main__":
    main()
