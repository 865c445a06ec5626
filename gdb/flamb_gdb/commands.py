"""The `flamb` commands of GDB: they take the line to the core, and show the user what it says."""

from typing import List, Optional, Union

import gdb

from .c_api import Completes, Library, load
from .debugger import Debugger
from .session import run

_registered: List[gdb.Command] = []


class _Command(gdb.Command):
    """`flamb` or one of its subcommands; the docstring that GDB's help shows is the core's help."""

    def __init__(self, library: Library, name: str, is_prefix: bool):
        super().__init__(name, gdb.COMMAND_RUNNING, prefix=is_prefix)
        self._library = library
        self._name = name.partition(" ")[2]

    def invoke(self, argument: str, from_tty: bool) -> None:
        del from_tty
        self.dont_repeat()
        run(self._line(argument))

    def complete(self, text: str, word: Optional[str]) -> Union[List[str], int]:
        if word is None:
            return gdb.COMPLETE_NONE
        with Debugger(self._library, runs=False) as debugger:
            what, words = self._library.complete(debugger.handle, self._line(text))
        if what == Completes.EXPRESSION:
            words = _of_print(words[0])
        return _from_the_word(words, text, word)

    def _line(self, rest: str) -> str:
        return f"{self._name} {rest}" if self._name else rest


def _of_print(typed: str) -> List[str]:
    """What GDB would complete an expression to."""
    start = "print "
    lines = gdb.execute(f"complete {start}{typed}", to_string=True).splitlines()
    return [line[len(start) :] for line in lines if line.startswith(start + typed)]


def _from_the_word(candidates: List[str], text: str, word: str) -> List[str]:
    """GDB wants what replaces `word`, which begins after its last break character; the candidates begin earlier."""
    found = []
    for candidate in candidates:
        kept = next((n for n in range(min(len(candidate), len(text)), -1, -1) if text.endswith(candidate[:n])), 0)
        found.append(candidate[max(kept - len(word), 0) :])
    return found


def _command(library: Library, name: str, topic: str, is_prefix: bool = False) -> gdb.Command:
    kind = type("FlambCommand", (_Command,), {"__doc__": library.help(topic)})
    return kind(library, name, is_prefix)


def register() -> None:
    """Adds the commands to GDB. Once more does nothing. LibraryError: the library cannot be used."""
    if _registered:
        return
    library = load()
    _registered.append(_command(library, "flamb", "", is_prefix=True))
    for name in ("capture", "apply"):
        _registered.append(_command(library, f"flamb {name}", name))
    _registered.append(_command(library, "flamb help", ""))
