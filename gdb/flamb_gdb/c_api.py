"""libflamb.so through ctypes: core/c_api.h in Python."""

import ctypes
import os
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char_p,
    c_int32,
    c_int64,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import List, Optional, Tuple

ABI_VERSION = 3
LIBRARY_VARIABLE = "FLAMB_LIBRARY"

FAILED, DONE = 0, 1


class Fault:
    """Whose doing an error is."""

    USER, TARGET, FLAMB = range(3)


class State:
    """TargetState of core/debugger.h."""

    NONE, NOT_STARTED, STOPPED, EXITED, CORE_FILE = range(5)


class Kind:
    """Stop::Kind of core/debugger.h."""

    REQUESTED, MODULES, USER, SIGNAL, INTERRUPTED, EXITED, KILLED, EXEC, LOST = range(9)


class Results:
    """FLAMB_RESULT_* of core/c_api.h."""

    FILE, VALUE, DATA = range(3)


class Completes:
    """FLAMB_COMPLETE_* of core/c_api.h."""

    WORDS, EXPRESSION = range(2)


class LibraryError(Exception):
    """libflamb.so cannot be used; the message says why and what to do."""


CALLBACKS = [
    ("target", CFUNCTYPE(c_int32)),
    ("native_thread", CFUNCTYPE(c_int32)),
    ("modules", CFUNCTYPE(c_int32)),
    ("threads", CFUNCTYPE(c_int32)),
    ("selected_thread", CFUNCTYPE(c_int32)),
    ("read_register", CFUNCTYPE(c_int32, c_uint64, c_int32)),
    ("read_memory", CFUNCTYPE(c_int32, c_uint64, c_void_p, c_uint64)),
    ("callers", CFUNCTYPE(c_int32, c_uint64, c_uint64)),
    ("set_breakpoint", CFUNCTYPE(c_int32, c_uint64, c_uint64)),
    ("remove_breakpoint", CFUNCTYPE(c_int32, c_uint64)),
    ("breakpoint_addresses", CFUNCTYPE(c_int32)),
    ("steps_off_again", CFUNCTYPE(c_int32, c_uint64)),
    ("memory_changed", CFUNCTYPE(c_int32)),
    ("launch", CFUNCTYPE(c_int32)),
    ("resume", CFUNCTYPE(c_int32)),
    ("step", CFUNCTYPE(c_int32, c_uint64)),
    ("call", CFUNCTYPE(c_int32, c_char_p, c_int32)),
    ("expect_return_value", CFUNCTYPE(c_int32, c_uint64)),
    ("return_value", CFUNCTYPE(c_int32, c_uint64, c_uint64)),
    ("suspend_user_breakpoints", CFUNCTYPE(c_int32, c_int32)),
    ("poll", CFUNCTYPE(c_int32)),
    ("print", CFUNCTYPE(c_int32, c_char_p)),
    ("progress", CFUNCTYPE(c_int32, c_char_p)),
]


class Callbacks(Structure):
    """flamb_callbacks."""

    _fields_ = [("version", c_uint32), ("size", c_uint32), ("debugger_name", c_char_p)] + CALLBACKS


PROTOTYPES = {
    "flamb_version": (c_char_p, []),
    "flamb_open": (c_void_p, [POINTER(Callbacks)]),
    "flamb_close": (None, [c_void_p]),
    "flamb_last_error": (c_char_p, []),
    "flamb_run": (c_int32, [c_void_p, c_char_p]),
    "flamb_error": (c_char_p, [c_void_p]),
    "flamb_result_count": (c_uint64, [c_void_p, c_int32]),
    "flamb_result": (c_void_p, [c_void_p, c_int32, c_uint64, POINTER(c_uint64)]),
    "flamb_help": (c_char_p, [c_char_p]),
    "flamb_complete": (c_int32, [c_void_p, c_char_p, POINTER(c_uint64)]),
    "flamb_completion": (c_char_p, [c_void_p, c_uint64]),
    "flamb_breakpoint_hit": (c_int32, [c_void_p, c_uint64, c_uint64]),
    "flamb_calling": (None, [c_void_p, c_uint64, c_uint64]),
    "flamb_note_interrupt": (None, [c_void_p]),
    "flamb_reply_error": (None, [c_void_p, c_int32, c_char_p, c_char_p]),
    "flamb_reply_target": (None, [c_void_p, c_int32, c_char_p, c_int64, c_int32]),
    "flamb_reply_number": (None, [c_void_p, c_uint64]),
    "flamb_reply_text": (None, [c_void_p, c_char_p]),
    "flamb_reply_module": (None, [c_void_p, c_char_p, c_uint64, c_int32]),
    "flamb_reply_stop": (None, [c_void_p, c_int32, c_uint64, c_int32, c_char_p]),
}


def encode(text: str) -> bytes:
    """A string as the library takes it: bytes that are no UTF-8 (in a path, say) are kept as they were."""
    return text.encode("utf-8", "surrogateescape").replace(b"\0", b"")


def decode(text: bytes) -> str:
    """The reverse of encode."""
    return text.decode("utf-8", "surrogateescape")


class Library:
    """libflamb.so, loaded and checked; its functions are attributes."""

    def __init__(self, path: str):
        self._functions = self._load(path)
        self._check_version(path)
        for name, (result, arguments) in PROTOTYPES.items():
            function = getattr(self._functions, name)
            function.restype = result
            function.argtypes = arguments
            setattr(self, name, function)

    @staticmethod
    def _load(path: str) -> ctypes.PyDLL:
        # PyDLL keeps Python's lock: breakpoints are hit thousands of times a second, and taking it anew costs more than
        # the call.
        if not os.path.exists(path):
            raise LibraryError(
                f"flamb's library is not at {path}: build or install flamb again, or set "
                f"{LIBRARY_VARIABLE} in the environment to the path of libflamb.so"
            )
        try:
            return ctypes.PyDLL(path)
        except OSError as error:
            raise LibraryError(f"flamb's library cannot be loaded: {error}") from error

    def _check_version(self, path: str) -> None:
        try:
            function = self._functions.flamb_abi_version
        except AttributeError:
            raise LibraryError(f"{path} is not flamb's library") from None
        function.restype = c_uint32
        found = function()
        if found != ABI_VERSION:
            raise LibraryError(
                f"{path} speaks version {found} of flamb's interface, these Python files version {ABI_VERSION}; "
                "install both from one build"
            )

    def help(self, topic: str = "") -> str:
        """The help of flamb itself or of one of its commands."""
        return decode(self.flamb_help(encode(topic)))

    def results(self, session: int, kind: int) -> List[bytes]:
        """What the session's last command made, of one of `Results`."""
        found = []
        size = c_uint64()
        for index in range(self.flamb_result_count(session, kind)):
            text = self.flamb_result(session, kind, index, ctypes.byref(size))
            found.append(ctypes.string_at(text, size.value))
        return found

    def complete(self, session: int, line: str) -> Tuple[int, List[str]]:
        """(one of `Completes`, the words) for the last word of what follows `flamb`."""
        count = c_uint64()
        what = self.flamb_complete(session, encode(line), ctypes.byref(count))
        return what, [decode(self.flamb_completion(session, index)) for index in range(count.value)]


_library: Optional[Library] = None


def load() -> Library:
    """The library; loaded at the first call from where it is installed beside these files, or from $FLAMB_LIBRARY."""
    global _library
    if _library is None:
        _library = Library(os.environ.get(LIBRARY_VARIABLE) or _installed())
    return _library


def _installed() -> str:
    """P/lib/flamb/libflamb.so for P/share/flamb/gdb/flamb_gdb/c_api.py, by the path as it is given.

    A build tree has a link to the sources in it, which must not be followed.
    """
    package = os.path.dirname(os.path.abspath(__file__))
    return os.path.normpath(os.path.join(package, *[os.pardir] * 4, "lib", "flamb", "libflamb.so"))
