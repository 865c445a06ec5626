"""What a command changes in GDB, and puts back."""

import contextlib
import ctypes
import signal
from typing import Callable, Dict, Iterator

import gdb

# Quiet, no questions, and a stop whenever the dynamic loader has changed something.
DURING_A_COMMAND = {
    "pagination": "off",
    "confirm": "off",
    "suppress-cli-notifications": "on",
    "print thread-events": "off",
    "print inferior-events": "off",
    "stop-on-solib-events": "1",
}
LOCKING = "scheduler-locking"


def _value(name: str) -> str:
    value = gdb.parameter(name)
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


class Settings:
    """GDB's settings during a command; `restore` makes them what they were."""

    def __init__(self) -> None:
        self._before: Dict[str, str] = {}

    def apply(self) -> None:
        for name, value in DURING_A_COMMAND.items():
            self.set(name, value)

    def let_all_threads_run(self) -> None:
        """GDB takes this setting only while there is a process, and its default lets them run too."""
        if _value(LOCKING) in ("on", "step"):
            self.set(LOCKING, "off")

    @contextlib.contextmanager
    def others_stopped(self) -> Iterator[None]:
        """A command runs the selected thread alone meanwhile."""
        before = _value(LOCKING)
        gdb.execute(f"set {LOCKING} on", to_string=True)
        try:
            yield
        finally:
            # Where the process is gone meanwhile, GDB refuses it; it has its default then.
            with contextlib.suppress(gdb.error):
                gdb.execute(f"set {LOCKING} {before}", to_string=True)

    def set(self, name: str, value: str) -> None:
        current = _value(name)
        if current == value:
            return
        self._before.setdefault(name, current)
        gdb.execute(f"set {name} {value}", to_string=True)

    def restore(self) -> None:
        while self._before:
            name, value = self._before.popitem()
            try:
                gdb.execute(f"set {name} {value}", to_string=True)
            except gdb.error as error:
                gdb.write(f"warning: {name} is no longer {value}: {error}\n", gdb.STDERR)


class Interrupts:
    """Ctrl-C during a command: noted instead of raised.

    GDB turns a Ctrl-C that comes while Python runs into a KeyboardInterrupt at whatever instruction is next. In a
    breakpoint's stop or at the door of a ctypes callback nobody can catch that one. Python's own table of handlers is
    changed for the time of a command; the process's handler stays GDB's.
    """

    def __init__(self, note: Callable[[], None]) -> None:
        self._note = note
        self._before = None

    def defer(self) -> None:
        self._before = self._exchange(lambda _signal, _frame: self._note())

    def restore(self) -> None:
        if self._before is not None:
            self._exchange(self._before)
            self._before = None

    @staticmethod
    def _exchange(handler):
        sigaction = ctypes.CDLL(None, use_errno=True).sigaction
        gdbs_own = ctypes.create_string_buffer(256)  # more than a struct sigaction has
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            sigaction(signal.SIGINT, None, gdbs_own)
            before = signal.signal(signal.SIGINT, handler)
            sigaction(signal.SIGINT, gdbs_own, None)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        return before
