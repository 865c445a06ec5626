"""Runs one command in the library, with GDB set up for it and put back."""

from typing import List, NamedTuple

import gdb

from .c_api import Results, decode, encode, load
from .debugger import Debugger


class Made(NamedTuple):
    """What a command made."""

    files: List[str]
    values: List[str]
    data: List[str]


def run(line: str, quiet: bool = False) -> Made:
    """Runs what follows `flamb` on the command line. gdb.GdbError: it failed, and why.

    The program stays where the command has left it; the frame that was selected stays so if the program has not run.
    The user sees the results, and where the program is now, as after `finish`; with `quiet` neither.
    """
    library = load()
    thread = gdb.selected_thread()
    frame = gdb.selected_frame() if thread is not None else None
    with Debugger(library, quiet=quiet) as debugger:
        worked = library.flamb_run(debugger.handle, encode(line))
        error = decode(library.flamb_error(debugger.handle))
        made = Made(*([decode(text) for text in library.results(debugger.handle, kind)] for kind in _RESULTS))
    if not debugger.has_run:
        if frame is not None and frame.is_valid():
            frame.select()
    elif debugger.has_moved and not quiet:
        _show_location(thread)
    if not worked:
        raise gdb.GdbError(error)
    return made


_RESULTS = (Results.FILE, Results.VALUE, Results.DATA)


def _show_location(thread_before) -> None:
    thread = gdb.selected_thread()
    if thread is None:
        return
    if thread_before is not None and thread_before != thread:
        gdb.write(gdb.execute("thread", to_string=True).replace("[Current thread is", "[Switching to thread"))
    gdb.execute("frame")
