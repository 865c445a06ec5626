"""What perf reads in a file."""

import collections
import re
import subprocess

Sample = collections.namedtuple("Sample", "thread time weight event stack")  # the stack root first


def run(*words):
    """What perf prints. It has no say in how its output is shown."""
    done = subprocess.run(["perf", *words], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")


def samples(path, most_frames=9000):
    """Its samples by perf script."""
    code, text, errors = run("script", "--ns", "--max-stack", str(most_frames), "-F",
                             "comm,tid,time,period,event,ip,sym,symoff,dso", "-i", str(path))
    if code != 0:
        raise AssertionError(f"perf script failed: {errors}")
    found = []
    for line in text.split("\n"):
        head = re.fullmatch(r"\s*(\S.*?)\s+(\d+)\s+([\d.]+):\s+(\d+) (.*): ?", line)
        frame = re.fullmatch(r"\s+([0-9a-f]+) (.*)\+0x8 \((.*)\)", line)
        if frame:
            found[-1].stack.append(frame[2])
        elif head:
            found.append(Sample(int(head[2]), float(head[3]), int(head[4]), head[5], []))
        elif line:
            raise AssertionError(f"perf script printed {line[:200]!r}")
    for sample in found:
        sample.stack.reverse()
    return found


def self_weights(path):
    """By function, as perf report adds them up."""
    code, text, errors = run("report", "--stdio", "--no-children", "-g", "none", "-F", "period,sym", "-i", str(path))
    if code != 0:
        raise AssertionError(f"perf report failed: {errors}")
    lines = (re.fullmatch(r" +(\d+)  \[\.\] (.*?) *", line) for line in text.split("\n") if not line.startswith("#"))
    return collections.Counter({line[2]: int(line[1]) for line in lines if line})
