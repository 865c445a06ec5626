"""Turns a case into what is typed, and names the parts of the output by markers."""

import re
from dataclasses import dataclass

import case_file


@dataclass
class Typed:
    text: str
    is_tried: bool = False  # it is what the case is about


@dataclass
class Marked:
    name: str


@dataclass
class Interrupted:
    """Waits until the target says that it is there, then presses Ctrl-C."""


def is_by_hand(action):
    """At a terminal, what the user's own hands do."""
    return isinstance(action, Interrupted) or (isinstance(action, Typed) and action.is_tried)


def with_options(line, collector, output_directory):
    """A flamb line with the options that the runner adds where the case does not give its own."""
    command, _, rest = line.partition(" ")
    if command not in ("capture", "apply"):
        return line
    options = []
    if "-collector" not in rest:
        options.append(f"--collector {collector}")
    if collector != "breakpoints" and "-measure" not in rest:
        options.append("--measure calls")
    if "-output-directory" not in rest:
        options.append(f"--output-directory {output_directory}")
    added = " ".join(options)
    return f"apply {added} {rest}" if command == "apply" else f"capture {rest} {added}"


class Plan:
    """The actions of one run. Steps are numbered from 0; the state after step N is probed as `N.PROBE`, that before
    the flamb command of step N as `N-before.PROBE`."""

    def __init__(self, case, dialect, collector, facts, places, case_id):
        self.case = case
        self.dialect = dialect
        self.collector = collector
        self.facts = facts
        self.places = places  # what stands between braces in a case
        self.case_id = case_id
        self.setup = dialect.preamble()
        self.actions = []
        self.before = {}  # flamb step -> name of the probe before it
        self.output_directories = {}
        self._build()

    def _build(self):
        if "args" in self.case.header:
            self.setup += self.dialect.arguments(self.case.text("args"))
        for number, step in enumerate(self.case.steps):
            step.checks = [(key, self._fill(value, number), condition) for key, value, condition in step.checks]
        steps = [(n, step) for n, step in enumerate(self.case.steps) if case_file.holds(step.condition, self.facts)]
        probed = None
        for number, step in steps:
            text = self._fill(step.text, number)
            if step.kind == "flamb":
                if probed is None:
                    probed = f"{number}-before"
                    self._probe(probed)
                self._flamb(number, step, text, probed)
                probed = str(number)
            elif commands := self._native(step.kind, text):
                self._add(f"{number}.native", commands)
                probed = None

    def _fill(self, text, number):
        places = {**self.places, "out": f"{self.places['dir']}/out{number}"}
        return re.sub(r"\{([a-z-]+)\}", lambda match: str(places.get(match[1], match[0])), text)

    def _native(self, kind, text):
        if kind == "stop-in":
            return self.dialect.stop_in(text)
        if kind == "args":
            return self.dialect.arguments(text)
        return [text] if kind in ("both", self.dialect.name) else []

    def _flamb(self, number, step, text, probed):
        directory = self._fill("{out}", number)
        given = re.search(r"-output-directory[= ](\S+)", text)
        self.before[number] = probed
        self.output_directories[number] = given[1] if given else directory
        self.actions.append(Marked(f"{number}.flamb"))
        self.actions.append(Typed("flamb " + with_options(text, self.collector, directory), is_tried=True))
        if step.values("interrupt", self.facts):
            self.actions.append(Interrupted())
        for expression in step.values("prints-as", self.facts):
            self._add(f"{number}.printed", self.dialect.print_value(expression))
        self._probe(str(number))

    def _probe(self, name):
        for probe, commands in self.dialect.probes.items():
            self._add(f"{name}.{probe}", commands)
        if self.places["program"]:
            self._add(f"{name}.text", self.dialect.check_process(self.case_id, self.places["program"]))
        self.actions.append(Marked(f"{name}.end"))

    def _add(self, name, commands):
        self.actions.append(Marked(name))
        self.actions += [Typed(command) for command in commands]

    def at_terminal(self, actions):
        """Commands, with markers that stand on a line of their own in what is printed."""
        commands = []
        for action in actions:
            marker = isinstance(action, Marked)
            commands += self.dialect.say(f"@@{action.name}@@") if marker else [action.text]
        return commands

    def batch(self):
        """All commands, markers included."""
        commands = list(self.setup)
        for action in self.actions:
            if isinstance(action, Typed):
                commands.append(action.text)
            elif isinstance(action, Marked):
                commands += self.dialect.marker(action.name)
        return commands
