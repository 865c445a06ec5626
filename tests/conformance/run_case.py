#!/usr/bin/python3
"""Runs one conformance case in one debugger, with one collector, on one build, and says what is wrong.

Exit status: 0 it holds, 1 it does not, 77 it cannot be run here (the reason is printed).
"""

import argparse
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import case_file
import debugger_run
import dialects
import plan as planning
import verdict

TIMEOUT = float(os.environ.get("FLAMB_CASE_TIMEOUT", "50"))
SKIPPED = 77


class Skip(Exception):
    """This case cannot be run here."""


def make_core(installation, program, directory):
    """A core file of the program, stopped in main."""
    core = directory / "target.core"
    subprocess.run([installation.gdb, "-nx", "-batch", "-ex", "break main", "-ex", "run", "-ex", f"gcore {core}",
                    str(program)], check=True, capture_output=True, stdin=subprocess.DEVNULL)
    return core


def mount_full(directory):
    """A file system without room for anything more."""
    full = directory / "full"
    full.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4k", "flamb-test", str(full)]
    mounted = subprocess.run(mount, capture_output=True, check=False)
    if mounted.returncode != 0:
        raise Skip("a full file system needs the right to mount one: " + mounted.stderr.decode().strip())
    with open(full / "filler", "wb") as filler:
        filler.write(bytes(4096))
    (full / "room").mkdir()
    return full


def require_watchpoints(installation, program):
    """Some virtual machines take the processor's debug registers and never trap: no debugger's watchpoint triggers there."""
    commands = ["break main", "run", "watch watched", "continue"]
    words = [word for command in commands for word in ("-ex", command)]
    shown = subprocess.run([installation.gdb, "-nx", "-batch", *words, str(program)], check=False, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    if "exited normally" in shown.stdout:
        raise Skip("hardware watchpoints do not trigger on this machine, without flamb neither")


class Run:
    """One run of a case, with a directory of its own."""

    def __init__(self, options, directory):
        self.case = case_file.parse(Path(options.case))
        self.facts = [options.debugger, options.collector, options.build]
        self.case.facts = self.facts
        self.case.program = options.program
        self.directory = directory
        self.case_id = f"{os.getpid()}-{self.case.name}"
        self.installation = dialects.Installation(Path(options.flamb), options.lldb, options.gdb)
        self.dialect = dialects.DIALECTS[options.debugger](self.installation)
        self.waited = {}  # step -> seconds from Ctrl-C to the next answer
        self.typed = []   # at a terminal
        self.full = None
        self.places = {"dir": directory, "program": options.program, "mark": directory / "mark"}
        self._prepare(self.case.words("needs"))
        self.plan = planning.Plan(self.case, self.dialect, options.collector, self.facts, self.places, self.case_id)
        for output_directory in self.plan.output_directories.values():
            if re.fullmatch(re.escape(str(directory)) + r"/out\d+", output_directory):
                os.mkdir(output_directory)

    def _prepare(self, needs):
        os.mkfifo(self.places["mark"])
        if "core" in needs:
            self.places["core"] = make_core(self.installation, self.places["program"], self.directory)
        if "watchpoints" in needs:
            require_watchpoints(self.installation, self.places["program"])
        if "full" in needs:
            self.full = mount_full(self.directory)
            self.places["full"] = self.full / "room"
        if "no-program" in needs:
            self.case.program = self.places["program"] = None

    def environment(self):
        return {**os.environ, "FLAMB_CASE": self.case_id, "FLAMB_MARK": str(self.places["mark"]), "TERM": "dumb",
                "TMPDIR": str(self.directory), "SHELL": "/bin/sh",
                "LC_ALL": "C.UTF-8", "INPUTRC": os.devnull, "HOME": str(self.directory)}

    def run(self):
        """What the debugger printed."""
        if self.case.words("terminal"):
            return self._run_at_terminal()
        # The pipe is held open so that the target never waits for a reader.
        pipe = os.open(self.places["mark"], os.O_RDWR | os.O_NONBLOCK)
        try:
            return debugger_run.run_batch(self.dialect, self.case.program, self.plan.batch(), self.directory,
                                          self.environment(), TIMEOUT)
        finally:
            os.close(pipe)

    def _run_at_terminal(self):
        script = self.directory / "script"
        script.write_text("\n".join(self.plan.setup) + "\n", encoding="utf-8")
        argv = self.dialect.argv(self.case.program, script)
        if self.dialect.name == "gdb":
            argv[1:1] = ["-x", str(script)]
        pipe = os.open(self.places["mark"], os.O_RDWR | os.O_NONBLOCK)
        terminal = debugger_run.Terminal(argv, self.directory, self.environment(), time.monotonic() + TIMEOUT,
                                         self.dialect.echoes)
        try:
            self._type(terminal, pipe)
            return terminal.text()
        finally:
            terminal.close()
            os.close(pipe)

    def _type(self, terminal, pipe):
        """Types what is tried; what sets up and probes comes from files where the debugger can read them."""
        pressed = None
        for by_hand, actions in itertools.groupby(self.plan.actions, planning.is_by_hand):
            actions = list(actions)
            if by_hand:
                pressed = self._try(terminal, pipe, actions)
                continue
            for command in self._from_file(self.plan.at_terminal(actions)):
                self._send(terminal, command)
            for action in actions:
                if not isinstance(action, planning.Marked):
                    continue
                terminal.wait_for_line(f"@@{action.name}@@")
                if pressed is not None:
                    self.waited[action.name.partition(".")[0]] = time.monotonic() - pressed
                    pressed = None

    def _try(self, terminal, pipe, actions):
        """Types the command; gives the time when Ctrl-C was pressed, if it was."""
        pressed = None
        for action in actions:
            if isinstance(action, planning.Interrupted):
                terminal.wait_for_mark(pipe)
                terminal.press_control_c()
                pressed = time.monotonic()
            else:
                self._send(terminal, action.text)
        return pressed

    def _from_file(self, commands):
        """The command that runs the commands from a file; the commands themselves if the debugger has none."""
        path = self.directory / f"script{len(self.typed)}"
        source = self.dialect.source(path)
        if not source:
            return commands
        path.write_text("\n".join(commands) + "\n", encoding="utf-8")
        return [source]

    def _send(self, terminal, text):
        self.typed.append(text)
        terminal.send(text)

    def judge(self, output):
        """Complaints, each with the step it is about."""
        sections = dialects.split_sections(output, self.dialect, self.typed)
        complaints = []
        for number, before in self.plan.before.items():
            step = self.case.steps[number]
            found = self._judge_step(number, step, before, sections)
            complaints += [f"flamb {step.text}: {complaint}" for complaint in found]
        if not self.plan.before:
            complaints.append("the case runs no flamb command in this debugger")
        return complaints

    def _judge_step(self, number, step, before, sections):
        after = self._probes(str(number), sections)
        if f"{number}.end" not in sections:
            return ["the debugger did not get past this command"]
        report = sections[f"{number}.flamb"]
        finished_apply = step.text.startswith("apply") and not step.values("incomplete", self.facts)
        same_place = (step.values("same-place", self.facts) or ["yes" if finished_apply else "no"])[-1] == "yes"
        complaints = verdict.check_report(step, report, self.facts)
        complaints += verdict.check_files(step, self.plan.output_directories[number], report, self.case)
        printed = sections.get(f"{number}.printed", "")
        complaints += verdict.check_printed(step, report, printed, self.dialect, self.facts)
        complaints += verdict.check_state(self._probes(before, sections), after, self.dialect, same_place)
        complaints += verdict.check_place(step, after["place"], self.facts)
        for limit in step.values("within", self.facts):
            if self.waited.get(str(number), 0) > float(limit):
                complaints.append(f"the prompt came back after {self.waited[str(number)]:.1f} s, not within {limit} s")
        return complaints

    def _probes(self, name, sections):
        prefix = name + "."
        return {key.removeprefix(prefix): text for key, text in sections.items() if key.startswith(prefix)}

    def clean_up(self):
        debugger_run.end_processes_of(self.case_id)
        if self.full:
            subprocess.run(["umount", str(self.full)], check=False)


def without_state(output):
    """The transcript without the long lists of settings and signals."""
    kept, hidden = [], False
    for line in output.splitlines():
        if "@@" in line:
            hidden = any(name in line for name in (".settings@@", ".signals@@", "breakpoints@@"))
        if not hidden:
            kept.append(line)
    return "\n".join(kept)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", required=True, help="a target's source or a .case file")
    parser.add_argument("--debugger", required=True, choices=sorted(dialects.DIALECTS))
    parser.add_argument("--collector", required=True, choices=case_file.ALL_COLLECTORS)
    parser.add_argument("--build", required=True)
    parser.add_argument("--program", required=True, help="the built target")
    parser.add_argument("--flamb", required=True, help="flamb's build tree or the prefix it is installed in")
    parser.add_argument("--lldb", default="lldb-19")
    parser.add_argument("--gdb", default="gdb")
    parser.add_argument("--keep", action="store_true", help="keep the directory of the run")
    return parser.parse_args()


def main():
    options = parse_options()
    directory = Path(tempfile.mkdtemp(prefix="flamb-case-"))
    run = None
    try:
        run = Run(options, directory)
        output = run.run()
        complaints = run.judge(output)
    except Skip as reason:
        print(f"skipped: {reason}")
        return SKIPPED
    except debugger_run.RunError as error:
        output, complaints = error.output, [str(error)]
    finally:
        if run:
            run.clean_up()
        if not options.keep:
            shutil.rmtree(directory, ignore_errors=True)
    if not complaints:
        return 0
    print(f"{options.case} in {options.debugger}, {options.collector}, {options.build}:")
    print("\n".join(f"* {complaint}" for complaint in complaints))
    print("---- what the debugger printed\n" + without_state(output))
    return 1


if __name__ == "__main__":
    sys.exit(main())
