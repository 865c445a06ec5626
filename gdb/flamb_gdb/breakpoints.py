"""GDB's breakpoints: those of the core, and where all of them are."""

import re
from typing import Callable, Set

import gdb

# What `maint info breakpoints` shows: a row for each breakpoint, of the user's and of GDB's own (whose numbers are
# negative), and under it one for each of its locations. Lines of another shape belong to the row above.
_BREAKPOINT = re.compile(r"(?P<number>-?\d+)\s+(?P<type>\S.*?)\s+(?:keep|del|dis|dstp)\s+(?P<enabled>[yn])\s")
_STEP_RESUME = re.compile(r"0\s+high-priority step resume\s.*?\s0x0*(?P<address>[0-9a-f]+)\b")
_LOCATION = re.compile(r"(?P<number>-?\d+)\.\d+\s+(?P<enabled>\S+)\s+0x(?P<address>[0-9a-f]+)\b")


class Breakpoint(gdb.Breakpoint):
    """One of the core's breakpoints. Thousands of hits a second pass here: everything else is done in the library.

    `hit` is flamb_breakpoint_hit, to be called with the session and the breakpoint's number in it.
    """

    def __init__(self, where: int, hit: Callable, session: int, number: int):
        super().__init__(f"*{where:#x}", internal=True)
        self.silent = True
        self._hit = hit
        self._session = session
        self._number = number

    def stop(self) -> bool:
        _, lwp, tid = gdb.selected_thread().ptid
        return self._hit(self._session, self._number, lwp or tid)


def addresses() -> Set[int]:
    """Where GDB has a breakpoint in the code, or will have one when the program runs."""
    found = set()
    in_code = set()
    for line in gdb.execute("maint info breakpoints", to_string=True).splitlines():
        breakpoint = _BREAKPOINT.match(line)
        location = _LOCATION.match(line)
        if breakpoint and breakpoint["enabled"] == "y" and _is_in_code(breakpoint["type"]):
            in_code.add(breakpoint["number"])
        elif location and location["enabled"] == "y" and location["number"] in in_code:
            found.add(int(location["address"], 16))
    return found


def steps_off_again(where: int) -> bool:
    """Has a signal come while GDB stepped a thread off a breakpoint at this address?

    GDB then lets the signal's handler run and has a breakpoint of its own here, to step off again when it returns.
    Until that step is made, all breakpoints here are hit once more.
    """
    rows = gdb.execute("maint info breakpoints", to_string=True).splitlines()
    return any(row and int(row["address"], 16) == where for row in map(_STEP_RESUME.match, rows))


def _is_in_code(kind: str) -> bool:
    """Does a breakpoint of this kind change the program's code?"""
    return not kind.startswith("hw ") and "watchpoint" not in kind and "tracepoint" not in kind
