"""How LLDB and GDB are started, set up, asked for their state and read."""

import re
from dataclasses import dataclass
from pathlib import Path

PROCESS_CHECK = Path(__file__).with_name("process_check.py")


@dataclass
class Installation:
    """Where the things under test are."""

    build: Path  # flamb's build tree, or an installed one
    lldb: str
    gdb: str


class Gdb:
    name = "gdb"
    echoes = False
    probes = {
        "breakpoints": ["info breakpoints"],
        "internal-breakpoints": ["maint info breakpoints"],
        "settings": ["show"],
        "signals": ["info signals"],
        "threads": ["info threads"],
        "place": ["frame"],
    }

    def __init__(self, installation):
        self.installation = installation

    def argv(self, program, script):
        del script  # read from standard input
        return [self.installation.gdb, "-nx", "-q", *([str(program)] if program else [])]

    def preamble(self):
        return ["set confirm off", "set pagination off", "set width 0", "set debuginfod enabled off",
                f"source {PROCESS_CHECK}", f"source {self.installation.build}/share/flamb/gdb/flamb.py"]

    def source(self, path):
        """Nothing: a failing command would end the script."""
        del path

    def marker(self, name):
        return [f"echo \\n@@{name}@@\\n"]

    def arguments(self, text):
        return [f"set args {text}"]

    def stop_in(self, function):
        return [f"break {function}", "run", "delete breakpoints"]

    def print_value(self, expression):
        return [f"print {expression}"]

    def say(self, line):
        return [f"python print({line!r})"]

    def check_process(self, case_id, program):
        return [f"python check_process({case_id!r}, {str(program)!r})"]

    # The words a printed value comes with: `$1 = 7`.
    value = re.compile(r"^\$\d+ = (.*)$", re.MULTILINE)

    def clean(self, section):
        return re.sub(r"^(\(gdb\) )+", "", section, flags=re.MULTILINE)

    # GDB's own internal breakpoints, by type. Any other type below zero was made by someone else.
    own_kinds = ("shlib events", "longjmp master", "std::terminate master", "exception master", "thread event",
                 "overlay event", "exception resume", "longjmp resume", "jit event", "longjmp")

    def foreign_breakpoints(self, section):
        """Internal breakpoints that are not the debugger's own."""
        lines = [line for line in section.splitlines() if re.match(r"-\d+ ", line)]
        return [line for line in lines if not line.split(maxsplit=1)[1].startswith(self.own_kinds)]


class Lldb:
    name = "lldb"
    echoes = True
    probes = {
        "breakpoints": ["breakpoint list", "watchpoint list"],
        "internal-breakpoints": ["breakpoint list --internal"],
        "settings": ["settings show"],
        "signals": ["process handle"],
        "threads": ["thread list"],
        "place": ["frame info"],
    }

    def __init__(self, installation):
        self.installation = installation

    def argv(self, program, script):
        words = [self.installation.lldb, "--no-lldbinit", "--no-use-colors"]
        words += ["--one-line", self.source(script)]
        return words + ([str(program)] if program else [])

    def preamble(self):
        return ["settings set auto-confirm true", f"command script import {PROCESS_CHECK}",
                f"plugin load {self.installation.build}/lib/flamb/flamb-lldb.so"]

    def source(self, path):
        """LLDB writes the echo of what is typed ahead and its prompt from two threads, one within the other."""
        return f"command source -e false {path}"

    def marker(self, name):
        return [f"# @@{name}@@"]

    def arguments(self, text):
        return [f"settings set target.run-args {text}"]

    def stop_in(self, function):
        return [f"breakpoint set --name {function}", "run", "breakpoint delete --force"]

    def print_value(self, expression):
        return [f"expression -- {expression}"]

    def say(self, line):
        return [f"script print({line!r})"]

    def check_process(self, case_id, program):
        return [f"script {PROCESS_CHECK.stem}.check_process({case_id!r}, {str(program)!r})"]

    # `(int) $0 = 7`
    value = re.compile(r"^\([^$]*\) \$\d+ = (.*)$", re.MULTILINE)

    def clean(self, section):
        section = re.sub(r"^\(lldb\) .*\n?", "", section, flags=re.MULTILINE)
        # What LLDB says of a process that was killed comes whenever its event thread gets to it: it is no one section's.
        return re.sub(r"^Process \d+ exited with status = 9 \([^)]*\) killed\n?", "", section, flags=re.MULTILINE)

    own_kinds = ("shared-library-event", "thread-creation", "jit-debug-register", "language-exception",
                 "Exception", "exception")

    def foreign_breakpoints(self, section):
        foreign = []
        kind = ""
        for line in section.splitlines():
            if line.startswith("Kind: "):
                kind = line.removeprefix("Kind: ")
            elif re.match(r"-\d+: ", line):
                if not kind.startswith(self.own_kinds) and not self.is_of_expression(line):
                    foreign.append(line)
                kind = ""
        return foreign

    def is_of_expression(self, line):
        """What LLDB sets for an expression: for exceptions, and where a call that is cut short would return."""
        return "'__cxa_throw'" in line or " tid: " in line


DIALECTS = {"lldb": Lldb, "gdb": Gdb}


def split_sections(output, dialect, typed=()):
    """{name: what was printed after the marker of that name, up to the next}, without the echo of what was typed."""
    # The terminal's echo of what was typed ahead may come in the middle of a line of output.
    for text in sorted(set(typed), key=len, reverse=True):
        output = output.replace(text + "\r\n", "")
    echo = tuple(typed)  # and in the middle of a prompt
    sections = {}
    current = None
    for line in output.splitlines():
        if match := re.match(r"^(?:\((?:lldb|gdb)\) )*(?:# )?@@(\S+)@@$", line.rstrip("\r")):
            current = match[1]
            sections[current] = []
        elif current is not None and not (echo and line.rstrip("\r").endswith(echo)):
            sections[current].append(line.rstrip("\r"))
    return {name: dialect.clean("\n".join(lines)).strip("\n") for name, lines in sections.items()}
