"""The files of a target, where /proc does not tell: not started, or on another machine."""

import os
import re
import struct
from typing import Iterator, Optional, Tuple

import gdb

ENTRY_POINT = re.compile(r"Entry point: (0x[0-9a-f]+)")
LIBRARY = re.compile(r"^(0x[0-9a-f]+)\s+0x[0-9a-f]+\s+\S+\s+(?:\(\*\)\s+)?(.*)$", re.MULTILINE)

Module = Tuple[str, int, bool]  # path, load bias, is it the program?


def loaded() -> Iterator[Module]:
    """The program, then its libraries."""
    program = gdb.current_progspace().filename
    if not program:
        return
    if not gdb.selected_inferior().pid:
        yield program, 0, True
        return
    yield program, _program_bias(program), True
    for start, name in LIBRARY.findall(gdb.execute("info sharedlibrary", to_string=True)):
        path = _local(name)
        text = _text_address(path) if path else None
        if path and text is not None:
            yield path, int(start, 16) - text, False


def _local(name: str) -> Optional[str]:
    """Where the file can be read here: it is taken for the target's own, as GDB does."""
    path = name[len("target:") :] if name.startswith("target:") else name
    return path if os.path.isfile(path) else None


def _program_bias(path: str) -> int:
    found = ENTRY_POINT.search(gdb.execute("info files", to_string=True))
    with open(path, "rb") as file:
        header = file.read(64)
    if not found or len(header) < 64 or header[:5] != b"\x7fELF\x02":
        return 0
    return int(found.group(1), 16) - struct.unpack_from("<Q", header, 24)[0]


def _text_address(path: str) -> Optional[int]:
    """The address in the file of its section .text, from which GDB shows a library."""
    with open(path, "rb") as file:
        data = file.read()
    if len(data) < 64 or data[:5] != b"\x7fELF\x02":
        return None
    (sections,) = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)

    def section(index: int):
        return struct.unpack_from("<IIQQQQ", data, sections + index * size)

    strings = section(names)[4]
    for index in range(count):
        name, _, _, address, _, _ = section(index)
        if data[strings + name : strings + name + 6] == b".text\0":
            return address
    return None
