"""Why the target stopped: GDB's events as the stops of core/debugger.h."""

import os
import signal
from typing import List, NamedTuple, Optional

import gdb

from .c_api import Kind
from .threads import thread_id

FROM_THE_KERNEL = 0x80  # si_code of a signal that a terminal sent


class Stop(NamedTuple):
    kind: int
    thread: int
    code: int
    description: str


class _Hit(NamedTuple):
    """A breakpoint at a stop: what is said of it now, as it may be gone later."""

    number: int
    is_internal: bool
    description: str


def _describe(breakpoint: "gdb.Breakpoint") -> str:
    if breakpoint.type == gdb.BP_BREAKPOINT or breakpoint.type == gdb.BP_HARDWARE_BREAKPOINT:
        word = "breakpoint"
    elif breakpoint.type == getattr(gdb, "BP_CATCHPOINT", None):
        word = "catchpoint"
    else:
        word = "watchpoint"
    return f"{word} {breakpoint.number}"


def signal_number(name: str) -> int:
    """The number of a signal by GDB's name: SIGSEGV, SIG34, ..."""
    known = getattr(signal, name, None)
    if known is not None:
        return int(known)
    digits = name[3:] if name.startswith("SIG") else ""
    return int(digits) if digits.isdigit() else 0


def _is_from_the_debugger() -> bool:
    """Is the SIGINT of the selected thread that of a Ctrl-C, rather than one of the program's own?"""
    try:
        info = gdb.parse_and_eval("$_siginfo")
        code = int(info["si_code"])
        sender = int(info["_sifields"]["_kill"]["si_pid"])
    except gdb.error:
        return True  # this target has no such information
    return code == FROM_THE_KERNEL or sender == os.getpid()


class StopListener:
    """Keeps GDB's last stop. A stop whose breakpoint commands let the target go on is followed by another."""

    def __init__(self) -> None:
        self._event: Optional[gdb.Event] = None
        self._hits: List[_Hit] = []
        self._exec_catchpoint: Optional[gdb.Breakpoint] = None
        self._exec_number = 0

    def connect(self) -> None:
        gdb.events.stop.connect(self._on_event)
        gdb.events.exited.connect(self._on_event)

    def disconnect(self) -> None:
        gdb.events.stop.disconnect(self._on_event)
        gdb.events.exited.disconnect(self._on_event)
        if self._exec_catchpoint is not None and self._exec_catchpoint.is_valid():
            self._exec_catchpoint.delete()

    def expect(self) -> None:
        """To be called before the target runs."""
        self._event = None
        self._hits = []
        # Once the program has replaced itself our breakpoints would be put into another's code: GDB has to stop there.
        if self._exec_catchpoint is None or not self._exec_catchpoint.is_valid():
            gdb.execute("tcatch exec", to_string=True)
            self._exec_catchpoint = gdb.breakpoints()[-1]
            self._exec_number = self._exec_catchpoint.number

    def is_ours(self, breakpoint: "gdb.Breakpoint") -> bool:
        return breakpoint.number == self._exec_number or breakpoint.number < 0

    def _on_event(self, event: "gdb.Event") -> None:
        self._event = event
        self._hits = [
            _Hit(each.number, each.number < 0, _describe(each)) for each in getattr(event, "breakpoints", [])
        ]

    def last(self) -> Optional[Stop]:
        """The last stop, or None if there was none since `expect`."""
        if self._event is None:
            return None
        if isinstance(self._event, gdb.ExitedEvent):
            return self._ended(self._event)
        thread = gdb.selected_thread()
        where = thread_id(thread) if thread is not None and thread.is_valid() else 0
        kind, code, description = self._kind(self._event)
        return Stop(kind, where, code, description)

    @staticmethod
    def _ended(event: "gdb.ExitedEvent") -> Stop:
        if hasattr(event, "exit_code"):
            return Stop(Kind.EXITED, 0, event.exit_code, f"exited with code {event.exit_code}")
        number = gdb.convenience_variable("_exitsignal")
        code = int(number) if number is not None else 0
        name = signal.Signals(code).name if code in signal.valid_signals() and code else "a signal"
        return Stop(Kind.KILLED, 0, code, name)

    def _kind(self, event: "gdb.Event"):
        if any(hit.number == self._exec_number for hit in self._hits):
            return Kind.EXEC, 0, "the program replaced itself (exec)"
        users = [hit.description for hit in self._hits if not hit.is_internal]
        if users:
            return Kind.USER, 0, ", ".join(users)
        if self._hits:
            return Kind.REQUESTED, 0, ""
        if isinstance(event, gdb.SignalEvent):
            name = event.stop_signal
            if name in ("SIGINT", "0") and _is_from_the_debugger():
                # By default GDB does not pass SIGINT on; the user may have set it to.
                gdb.execute("queue-signal 0", to_string=True)
                return Kind.INTERRUPTED, 0, "interrupted"
            return Kind.SIGNAL, signal_number(name), name
        return Kind.MODULES, 0, "libraries changed"
