"""GDB's threads by the operating system's ids, and what is read of their frames."""

from typing import Callable, List, Optional

import gdb

from .c_api import Fault
from .errors import Refusal


def thread_id(thread: "gdb.InferiorThread") -> int:
    """The operating system's id; bare remote targets have only their own."""
    _, lwp, tid = thread.ptid
    return lwp or tid


def _find(thread: int) -> "gdb.InferiorThread":
    for each in gdb.selected_inferior().threads():
        if thread_id(each) == thread:
            return each
    raise Refusal(Fault.TARGET, f"thread {thread} is not there")


def select(thread: int) -> None:
    """Selects the thread for the user."""
    _find(thread).switch()


def in_thread(thread: int, function: Callable):
    """The function's result with the thread selected; the user's selection is put back."""
    before = gdb.selected_thread()
    if before is not None and thread_id(before) == thread:
        return function()
    found = _find(thread)
    frame = gdb.selected_frame() if before is not None else None
    found.switch()
    try:
        return function()
    finally:
        if before is not None and before.is_valid():
            before.switch()
        if frame is not None and frame.is_valid():
            frame.select()


def register(name: str) -> int:
    """The register's value in the selected thread."""
    return int(gdb.newest_frame().read_register(name).format_string(format="x"), 16)


def return_addresses(limit: int) -> List[int]:
    """Those of the frames above the innermost one. Inlined functions and frames that tail calls left have none."""
    shown = (gdb.NORMAL_FRAME, gdb.SIGTRAMP_FRAME, gdb.DUMMY_FRAME)
    physical = []
    frame: Optional[gdb.Frame] = gdb.newest_frame()
    while frame is not None and len(physical) <= limit:
        if frame.type() in shown:
            physical.append(frame.pc())
        frame = frame.older()
    return physical[1:]
