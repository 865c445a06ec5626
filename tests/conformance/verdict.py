"""Judges what a run printed and wrote against its case. What is returned is a list of complaints: empty is a pass."""

import os
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import callgrind
import trees

FILE_NAME = re.compile(r"[A-Za-z0-9_.-]{1,60}-\d{8}T\d{6}\.\d{6}-(\d+)\.([a-z.]+)")


def written_files(directory):
    """{(number, extension): path} of the files flamb wrote, and complaints about other names."""
    files, complaints = {}, []
    if directory.startswith("/sys/"):  # the system's own directories are not looked through
        return files, complaints
    for path in sorted(Path(directory).iterdir()) if Path(directory).is_dir() else []:
        if match := FILE_NAME.fullmatch(path.name):
            files[int(match[1]), match[2]] = path
        else:
            complaints.append(f"a file with a strange name was left: {path.name}")
    return files, complaints


def check_tree(expectation, path, facts):
    try:
        tree = trees.read_collapsed(path.read_text(encoding="utf-8"))
    except (ValueError, UnicodeDecodeError) as error:
        return [f"{path.name}: {error}"]
    difference = trees.difference(expectation, tree, facts)
    return [f"{path.name}: {difference}"] if difference else []


def check_callgrind(expectation, path, case):
    tree = trees.read_collapsed(path.read_text(encoding="utf-8"))
    if expectation.what == "callgrind total":
        expected = callgrind.total(case.program, expectation.function)
        actual = sum(tree.values())
        return [] if actual == expected else [f"callgrind counts {expected} instructions, flamb {actual}"]
    expected = callgrind.calls(case.program, expectation.function)
    actual = trees.calls_by_function(tree)
    different = {name: (count, actual.get(name, 0)) for name, count in expected.items() if actual.get(name, 0) != count}
    return [f"{name}: callgrind counts {was} calls, flamb {now}" for name, (was, now) in sorted(different.items())]


def check_other_formats(files):
    complaints = []
    for (_, extension), path in files.items():
        text = path.read_text(encoding="utf-8")
        if not text.strip():
            complaints.append(f"{path.name} is empty")
        elif extension == "svg":
            try:
                ElementTree.fromstring(text)
            except ElementTree.ParseError as error:
                complaints.append(f"{path.name} is not well-formed: {error}")
    return complaints


def check_files(step, directory, report, case):
    """The files of one flamb command."""
    files, complaints = written_files(directory)
    wanted = set()
    for expectation in step.expectations:
        if expectation.what == "shown":
            complaints += check_shown(expectation, report, case.facts)
            continue
        if expectation.what == "no files":
            continue
        for number in range(expectation.first, expectation.last + 1):
            wanted.add(number)
            path = files.get((number, "collapsed"))
            if path is None:
                complaints.append(f"no file was written for invocation {number}")
            elif expectation.what.startswith("callgrind"):
                complaints += check_callgrind(expectation, path, case)
            else:
                complaints += check_tree(expectation, path, case.facts)
    complaints += [f"an unexpected file was written: {path.name}" for (number, _), path in files.items()
                   if number not in wanted]
    complaints += [f"the report does not name {path}" for path in files.values()
                   if str(path) not in report and path.name not in report]
    return complaints[:20] + check_other_formats(files)


def check_shown(expectation, report, facts):
    """The data in the command's own output: lines that read as collapsed stacks."""
    lines = [line for line in report.splitlines() if re.fullmatch(r"\S.* \d+", line)]
    tree = {stack: int(weight) for stack, _, weight in (line.rpartition(" ") for line in lines)}
    difference = trees.difference(expectation, tree, facts)
    return [f"the output: {difference}"] if difference else []


def check_report(step, report, facts):
    complaints = []
    low = report.lower()
    if "which has been deleted" in low:
        complaints.append("the report shows the stop as one at a breakpoint of flamb's")
    reasons = step.values("incomplete", facts)
    if not reasons and "incomplete:" in low:
        complaints.append("the report calls it incomplete")
    for reason in reasons:
        if "incomplete" not in low or reason.lower() not in low:
            complaints.append(f"the report does not call it incomplete because of: {reason}")
    complaints += [f"the output does not say: {text}" for text in step.values("says", facts) if text.lower() not in low]
    complaints += [f"the output says: {text}" for text in step.values("never-says", facts) if text.lower() in low]
    return complaints


def check_printed(step, report, printed, dialect, facts):
    """apply must show the value that the debugger's own command shows, or fail with its words."""
    complaints = []
    for expression in step.values("prints-as", facts):
        match = dialect.value.search(printed)
        if match and match[1] != "void":
            if match[1] not in report:
                complaints.append(f"the debugger prints {expression} as {match[1]}, flamb printed: {report}")
        elif not match and dialect.value.search(report):
            complaints.append(f"the debugger prints no value for {expression}, flamb printed: {report}")
    return complaints


def breakpoint_lines(section):
    """The user's breakpoints without what running changes: hits and addresses found later."""
    kept = []
    for line in section.splitlines():
        if not line.strip() or re.search(r"already hit|^Number of supported hardware|^\s*(?:old|new) value: ", line):
            continue
        line = re.sub(r"0x[0-9a-f]+|<PENDING>|<MULTIPLE>|, (?:hit count|resolved|locations) = \d+|, (?:un)?resolved"
                      r"| \(pending\)", "", line)
        kept.append(re.sub(r"\s+", " ", line).strip())
    return [line for line in kept if not re.match(r"^\d+\.\d+[: ]", line)]


def settings_lines(section):
    """{setting: value} without what the debugger works out by itself."""
    lines = (re.sub(r"[;(]\s*currently [^)\"]*[)\"]?", "", line) for line in section.splitlines())
    return [line for line in lines if not re.match(r"^(?:history|values|convenience|user)\b|^\$", line)]


def signal_changes(before, after):
    """Signals that the debugger treats otherwise than before. LLDB knows none without a process; GDB sets those of the
    threads library when it has loaded."""
    was = dict(line.split(maxsplit=1) for line in before.splitlines() if line.startswith("SIG"))
    now = dict(line.split(maxsplit=1) for line in after.splitlines() if line.startswith("SIG"))
    changed = [name for name in was if name in now and was[name].split() != now[name].split()]
    return [f"what happens at signals changed: {name} was {was[name]}, is {now[name]}" for name in changed
            if name not in ("SIG32", "SIG33")]


def thread_lines(section):
    """The threads, without what LLDB adds of the last expression."""
    lines = (line.partition(", stop reason = ")[0] for line in section.splitlines())
    return [line for line in lines if re.match(r"^[* ] (?:thread #)?\d", line)]


def lines_difference(what, before, after):
    if before == after:
        return []
    gone = [f"  - {line}" for line in before if line not in after]
    new = [f"  + {line}" for line in after if line not in before]
    return ["\n".join([f"{what} changed:  - before   + after", *(gone + new or ["  the order of lines"])])]


def check_text(section, breakpoints):
    """No byte of the code may differ, but where the breakpoints are that the debugger lists: flamb's own among these
    are a fault of their own."""
    known = {int(address, 16) for address in re.findall(r"0x[0-9a-f]+", breakpoints)}
    differing = re.findall(r"^differs at (0x[0-9a-f]+).*$", section, re.MULTILINE)
    if not section.strip():
        return ["the target's code was not compared: the check printed nothing"]
    lines = [line for line in section.splitlines() if line.startswith("differs")]
    return [line for line, address in zip(lines, differing) if int(address, 16) not in known]


def check_cpus(section):
    """The debugger and the target may use the CPUs that they were given."""
    all_cpus = ",".join(str(cpu) for cpu in sorted(os.sched_getaffinity(0)))
    found = re.findall(r"^(.* may use CPUs) (.*)$", section, re.MULTILINE)
    return sorted({f"{who} {given}, not {all_cpus}" for who, given in found if given != all_cpus})


def check_state(before, after, dialect, same_place):
    """What must be so after any ending. `before` and `after` are {probe: section}."""
    complaints = []
    foreign = dialect.foreign_breakpoints(after["internal-breakpoints"])
    complaints += [f"a breakpoint was left behind: {line}" for line in foreign]
    complaints += lines_difference("the user's breakpoints", breakpoint_lines(before["breakpoints"]),
                                   breakpoint_lines(after["breakpoints"]))
    complaints += lines_difference("the settings", settings_lines(before["settings"]),
                                   settings_lines(after["settings"]))
    complaints += signal_changes(before["signals"], after["signals"])
    if same_place:
        complaints += lines_difference("the selected frame", before["place"].splitlines(), after["place"].splitlines())
        complaints += lines_difference("the threads", thread_lines(before["threads"]), thread_lines(after["threads"]))
    if "text" in after:
        complaints += check_text(after["text"], after["breakpoints"] + after["internal-breakpoints"])
        complaints += check_cpus(after["text"])
    return complaints


def check_place(step, place, facts):
    first = place.splitlines()[0] if place else ""
    return [f"the target should be stopped in {function}, it is in: {first}" for function in
            step.values("stopped-in", facts) if not re.search(rf"(?:\b|`){re.escape(function)}\b", first)]
