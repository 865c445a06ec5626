"""Prints the conformance list for CMake: the programs to build, and a test for each way a case is run.

Usage: list_cases.py TARGETS_DIRECTORY CASES_DIRECTORY [every-build]
"""

import itertools
import sys
from pathlib import Path

import case_file


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$") + '"'


def call(function, *arguments):
    print(f"{function}({' '.join(quoted(str(argument)) for argument in arguments)})")


def list_programs(cases, targets):
    """Each target once a build: those its own case asks for, and those of the cases that borrow it."""
    builds = {}
    for case in cases:
        if case.steps and "program" not in case.header:
            target = case.text("target") or case.name
            builds.setdefault(target, set()).update(case.builds())
    sources = {case.name: case for case in cases if case.path.parent == targets}
    for target, wanted in sorted(builds.items()):
        header = sources[target]
        for build in sorted(wanted):
            call("flamb_target", target, build, header.path, header.text("flags"), header.text("link"),
                 header.text("library"), header.text("plugin"), header.text("strip"))


def list_tests(case, every_build):
    hosts = itertools.product(case.words("debuggers", case_file.ALL_DEBUGGERS),
                              case.words("collectors", case_file.ALL_COLLECTORS))
    runs = [(*host, build) for host in hosts for build in case.builds(host, every_build)]
    for debugger, collector, build in runs:
        reason = case.unsupported([debugger, collector, build])
        target = case.text("target") or case.name
        call("flamb_case", debugger, collector, build, case.name, case.path, target, case.text("program"), reason)


def main(targets, cases, every_build=""):
    listed = case_file.all_cases(Path(targets), Path(cases))
    list_programs(listed, Path(targets))
    for case in listed:
        if case.steps:
            list_tests(case, bool(every_build))


if __name__ == "__main__":
    main(*sys.argv[1:])
