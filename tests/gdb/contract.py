"""Runs one check of the contract suite inside GDB: gdb -batch -x contract.py PROGRAM.

FLAMB_LIBRARY is the library that has the checks, FLAMB_CHECK the name of one, FLAMB_VARIANT `contract` or `remote`,
FLAMB_PYTHON where flamb_gdb is.
"""

import ctypes
import os
import sys
import traceback

import gdb

sys.path.insert(0, os.environ["FLAMB_PYTHON"])
# pylint: disable=wrong-import-position
from flamb_gdb import c_api  # noqa: E402
from flamb_gdb.debugger import Debugger  # noqa: E402
from flamb_gdb.settings import DURING_A_COMMAND  # noqa: E402


def state() -> str:
    """All that a user could see changed."""
    lines = [gdb.execute("info breakpoints", to_string=True), *settings()]
    if gdb.selected_thread() is not None:
        frame = gdb.selected_frame()
        lines.append(f"thread {gdb.selected_thread().num} frame {frame.level()} {frame.name()}")
    return "\n".join(lines)


def settings() -> list:
    return [gdb.execute(f"show {name}", to_string=True) for name in DURING_A_COMMAND]


BREAK_AT = ctypes.CFUNCTYPE(None, ctypes.c_char_p)
STATE = ctypes.CFUNCTYPE(ctypes.c_char_p)


def as_if_remote() -> None:
    """Makes the library ask GDB for all that it would else read itself."""

    def refuse(_self):
        raise gdb.error("not native")

    Debugger._cb_native_thread = refuse  # pylint: disable=protected-access


def check(name: str) -> list:
    library = c_api.load()
    contract = ctypes.PyDLL(os.environ[c_api.LIBRARY_VARIABLE])
    contract.flamb_contract_arguments.restype = ctypes.c_char_p
    contract.flamb_contract_run.restype = ctypes.c_char_p
    contract.flamb_contract_run.argtypes = [ctypes.c_void_p, ctypes.c_char_p, BREAK_AT, STATE]
    arguments = contract.flamb_contract_arguments(name.encode())
    if arguments is None:
        return [f"there is no check named {name}"]
    gdb.execute("set args " + arguments.decode())
    before = settings()
    kept = []

    def describe() -> bytes:
        kept[:] = [state().encode()]
        return kept[0]

    break_at = BREAK_AT(lambda function: gdb.execute("break " + function.decode(), to_string=True) and None)
    with Debugger(library) as debugger:
        failures = contract.flamb_contract_run(debugger.handle, name.encode(), break_at, STATE(describe)).decode()
    failed_checks = [failures] if failures else []
    if settings() != before:
        failed_checks.append(f"settings: expected {before}, got {settings()}")
    left = [each.location for each in gdb.breakpoints() if each.number < 0]
    if left:
        failed_checks.append(f"breakpoints were left: {left}")
    return failed_checks


if os.environ["FLAMB_VARIANT"] == "remote":
    as_if_remote()
try:
    failed = check(os.environ["FLAMB_CHECK"])
except BaseException:  # pylint: disable=broad-except
    failed = [traceback.format_exc()]
if gdb.selected_inferior().pid:
    gdb.execute("kill", to_string=True)
sys.__stdout__.flush()
for failure in failed:
    print(failure)
gdb.execute(f"quit {1 if failed else 0}")
