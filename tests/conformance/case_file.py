"""Reads a case: what to build, what to type and what must come of it. README.md describes the format."""

import fnmatch
import re
from dataclasses import dataclass, field
from pathlib import Path

ALL_BUILDS = ["gcc-O0", "gcc-O2", "clang-O0", "clang-O2"]
# One build each, so chosen that any two of debugger, collector, compiler and level meet in every way.
COVERING_BUILDS = {
    ("lldb", "breakpoints"): "gcc-O0", ("gdb", "breakpoints"): "clang-O2",
    ("lldb", "stepping"): "clang-O0", ("gdb", "stepping"): "gcc-O2",
    ("lldb", "tracepoints"): "gcc-O2", ("gdb", "tracepoints"): "clang-O0",
}
ALL_DEBUGGERS = ["lldb", "gdb"]
ALL_COLLECTORS = ["breakpoints", "stepping", "tracepoints"]

HEADER_KEYS = {
    "builds", "debuggers", "collectors", "flags", "link", "library", "plugin", "strip", "target", "program",
    "unsupported", "terminal", "needs",
}
COMMAND_KEYS = {"both", "lldb", "gdb", "stop-in", "args", "flamb"}
EXPECTATION_KEYS = {
    "expect", "incomplete", "says", "never-says", "stopped-in", "same-place", "prints-as", "interrupt", "within",
}

DIRECTIVE = re.compile(r"^(?P<key>[a-z-]+)(?:\[(?P<condition>[^\]]*)\])?:(?:\s+(?P<value>.*))?$")
TREE_LINE = re.compile(r"^ {2,}(?P<text>\S.*)$")


class CaseError(Exception):
    """The case file itself is wrong."""


@dataclass
class TreeLine:
    stack: str  # with placeholders: @hex@, @any@, @long@
    weight: int | None  # None: any
    optional: bool = False
    condition: str = ""


@dataclass
class Expectation:
    """What one `expect:` line says of the files of a command."""

    what: str  # "invocations", "merged", "no files", "shown", "callgrind total", "callgrind calls"
    first: int = 1
    last: int = 1
    function: str = ""
    lines: list = field(default_factory=list)
    open_ended: bool = False  # a line `...`: the tree may hold more


@dataclass
class Step:
    """One thing typed, and what must come of it if it is a flamb command."""

    kind: str  # a COMMAND_KEY
    text: str
    condition: str = ""
    expectations: list = field(default_factory=list)
    checks: list = field(default_factory=list)  # (key, value, condition)

    def values(self, key, facts):
        return [value for name, value, condition in self.checks if name == key and holds(condition, facts)]


@dataclass
class Case:
    name: str
    path: Path
    header: dict = field(default_factory=dict)  # key -> list of values
    steps: list = field(default_factory=list)
    fewer_builds: list = field(default_factory=list)  # (builds, condition), of `builds[...]:`

    def words(self, key, default=()):
        values = self.header.get(key)
        return " ".join(values).split() if values else list(default)

    def text(self, key):
        return " ".join(self.header.get(key, []))

    def builds(self, facts=(), every_build=False):
        """The builds that runs with these facts (a debugger, a collector) are made on; all of them without any."""
        if "program" in self.header:
            return ["system"]
        fewer = [value for value, condition in self.fewer_builds if facts and holds(condition, facts)]
        if fewer:
            return fewer[-1].split()
        named = self.words("builds")
        if not facts or every_build:
            return named or ALL_BUILDS
        covering = COVERING_BUILDS[tuple(facts)]
        # What a tracepoint replaces depends on the code alone: of the builds that a case names one is enough.
        if "tracepoints" in facts and named:
            return [covering] if covering in named else named[:1]
        return named or [covering]

    def unsupported(self, facts):
        """The reason why this case cannot be had with these facts; empty if it can."""
        for value in self.header.get("unsupported", []):
            condition, _, reason = value.partition(":")
            if all(holds(part, facts) for part in condition.strip().split()):
                return reason.strip()
        return ""


def holds(condition, facts):
    """Does one of the comma-separated globs match one of the facts (debugger, collector, build)? Empty: always."""
    if not condition:
        return True
    globs = [glob.strip() for glob in condition.split(",")]
    return any(fnmatch.fnmatchcase(fact, glob) for glob in globs for fact in facts)


def comment_lines(path):
    """The text of the file's first comment block; of a .case file, every line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if path.suffix == ".case":
        return [line for line in lines if not line.startswith("#")]
    block = []
    for line in lines:
        if not line.startswith("//"):
            break
        block.append(line[3:] if line.startswith("// ") else line[2:])
    return block


def parse_expectation(value):
    if match := re.fullmatch(r"invocations? (\d+)(?:-(\d+))?", value):
        return Expectation("invocations", int(match[1]), int(match[2] or match[1]))
    if value in ("merged", "no files", "shown"):
        return Expectation(value)
    if match := re.fullmatch(r"(callgrind (?:total|calls)) (.+)", value):
        return Expectation(match[1], function=match[2])
    raise CaseError(f"unknown expectation: {value}")


def parse_tree_line(text):
    line = TreeLine("", None)
    if match := re.match(r"^\[([a-zA-Z0-9*,-]+)\] ", text):
        line.condition = match[1]
        text = text[match.end():]
    if text.startswith("? "):
        line.optional = True
        text = text[2:]
    stack, _, weight = text.rpartition(" ")
    if not stack or not (weight == "*" or weight.isdigit()):
        raise CaseError(f"a line of an expected tree is `STACK WEIGHT`, this is not: {text}")
    line.stack = stack
    line.weight = None if weight == "*" else int(weight)
    return line


def add_directive(case, match):
    key, value, condition = match["key"], (match["value"] or "").strip(), match["condition"] or ""
    if key == "builds" and condition:
        case.fewer_builds.append((value, condition))
    elif key in HEADER_KEYS:
        case.header.setdefault(key, []).append(value)
    elif key in COMMAND_KEYS:
        step = Step(key, value, condition)
        last = case.steps[-1] if case.steps else None
        if last and last.kind == key == "flamb" and last.condition and condition and not last.checks:
            # The same step, typed otherwise in another debugger.
            step.expectations, step.checks = last.expectations, last.checks
        case.steps.append(step)
    elif key in EXPECTATION_KEYS:
        if not case.steps or case.steps[-1].kind != "flamb":
            raise CaseError(f"`{key}:` comes before any `flamb:`")
        if key == "expect":
            case.steps[-1].expectations.append(parse_expectation(value))
        case.steps[-1].checks.append((key, value, condition))
    else:
        raise CaseError(f"{case.path}: unknown directive `{key}:`")


def parse(path):
    """Reads the case in a target's first comment, or in a .case file."""
    case = Case(path.stem, path)
    for line in comment_lines(path):
        if match := TREE_LINE.match(line):
            if not case.steps or not case.steps[-1].expectations:
                raise CaseError(f"{path}: a tree without `expect:`: {line}")
            if match["text"] == "...":
                case.steps[-1].expectations[-1].open_ended = True
            else:
                case.steps[-1].expectations[-1].lines.append(parse_tree_line(match["text"]))
        elif match := DIRECTIVE.match(line):
            add_directive(case, match)
    return case


def all_cases(targets, cases):
    """Every case: those in targets, those in .case files, by name."""
    files = sorted(targets.glob("*.c")) + sorted(targets.glob("*.cpp")) + sorted(cases.glob("*.case"))
    return [parse(path) for path in files]
