"""Values as GDB prints them: of expressions, and of functions that return."""

import re
from typing import Dict, List

import gdb

from .c_api import Fault
from .errors import Refusal

IN_HISTORY = re.compile(r"^\$(\d+) = ", re.MULTILINE)
NO_TEMPORARY = (
    "GDB cannot make a temporary object (a std::string, say) for a call: pass a variable of the program, or call a "
    "function that takes plain values such as const char *"
)
# GDB's words when an argument would need a temporary object.
NEEDS_TEMPORARY = ("to any overloaded instance", "not located in memory", "Invalid cast.")


def printed_value(output: str) -> str:
    """The value in the output of `call`: "$1 = 5", empty for void."""
    value = IN_HISTORY.search(output)
    return output[value.start() :].rstrip("\n") if value else ""


def _words(error: "gdb.error") -> str:
    return " ".join(str(error).split())


def was_cut_short(error: "gdb.error") -> bool:
    """Did the error come because the target stopped before the function returned?"""
    return any(words in _words(error) for words in ("in a function called from GDB", "making a function call from GDB"))


def was_unwound(error: "gdb.error") -> bool:
    """Did the function throw, so that GDB put the target back to before the call?"""
    return "std::terminate" in str(error)


def call_refusal(error: "gdb.error") -> Refusal:
    """GDB's own words, with what works instead where that is known."""
    message = str(error)
    needs_temporary = any(words in message for words in NEEDS_TEMPORARY)
    fault = Fault.TARGET if was_cut_short(error) else Fault.USER
    return Refusal(fault, message, NO_TEMPORARY if needs_temporary else "")


class _Finish(gdb.FinishBreakpoint):
    """Notes the value of a function that returns."""

    def __init__(self, frame: "gdb.Frame", is_void: bool):
        super().__init__(frame, internal=True)
        self.silent = True
        self.is_void = is_void
        self.returned = False

    def stop(self) -> bool:
        self.returned = True
        return False


class ReturnValues:
    """The values of functions that were seen at their entry."""

    def __init__(self) -> None:
        self._expected: Dict[int, List[_Finish]] = {}

    def expect(self, thread: int) -> None:
        """In the stop at a function's entry."""
        frame = gdb.newest_frame()
        symbol = frame.function()
        if symbol is None:
            name = frame.name() or "this function"
            raise Refusal(
                Fault.USER, f"GDB does not know what {name} returns: it has no debug information", "compile it with -g"
            )
        returns = symbol.type.target().strip_typedefs()
        try:
            finish = _Finish(frame, returns.code == gdb.TYPE_CODE_VOID)
        except (gdb.error, ValueError) as error:
            raise Refusal(Fault.TARGET, f"the value of {frame.name()} cannot be waited for: {error}") from error
        self._expected.setdefault(thread, []).append(finish)

    def take(self, thread: int) -> str:
        """The value of the function that has just returned, which goes into GDB's history; empty for void."""
        returned = [each for each in self._expected.get(thread, []) if each.returned]
        if not returned:
            raise Refusal(Fault.TARGET, "GDB did not see the function return")
        last = returned[-1]
        value = None if last.is_void else last.return_value
        for each in returned:
            self._expected[thread].remove(each)
            if each.is_valid():
                each.delete()
        if last.is_void:
            return ""
        if value is None:
            raise Refusal(Fault.TARGET, "GDB cannot tell the value that the function returned")
        number = gdb.add_history(value)
        return f"${number} = " + gdb.execute(f"output ${number}", to_string=True)

    def forget(self) -> None:
        """No value is expected any more."""
        for finish in [each for of_thread in self._expected.values() for each in of_thread]:
            if finish.is_valid():
                finish.delete()
        self._expected.clear()
