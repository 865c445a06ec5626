"""Compares the code of a running program with its files, byte for byte. Runs inside the debugger: to start a process after
every command would take longer than the command.
"""

import os


def find_process(case, program):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if not os.path.samefile(f"/proc/{pid}/exe", program):
                continue
            with open(f"/proc/{pid}/environ", "rb") as environment:
                if f"FLAMB_CASE={case}".encode() in environment.read().split(b"\0"):
                    return int(pid)
        except OSError:
            continue
    return None


def code_mappings(pid):
    """(start, end, offset, path) of each executable mapping of a file."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        for line in maps:
            fields = line.rstrip("\n").split(maxsplit=5)
            if len(fields) == 6 and "x" in fields[1] and fields[5].startswith("/") and "/ld-linux" not in fields[5]:
                start, end = (int(bound, 16) for bound in fields[0].split("-"))
                yield start, end, int(fields[2], 16), fields[5]


def cpus(pid):
    return ",".join(str(cpu) for cpu in sorted(os.sched_getaffinity(pid)))


def check_process(case, program):
    """The process is the one that runs `program` with `case` in its environment's FLAMB_CASE.

    Prints `no process`, or a line for each byte that differs, then `compared N bytes`. The loader is left out: debuggers
    keep breakpoints of their own in it. Says also which CPUs the debugger and the program may use.
    """
    print(f"the debugger may use CPUs {cpus(0)}")
    pid = find_process(case, program)
    if pid is None:
        print("no process")
        return
    for thread in os.listdir(f"/proc/{pid}/task"):
        print(f"the target may use CPUs {cpus(int(thread))}")
    compared = 0
    with open(f"/proc/{pid}/mem", "rb") as memory:
        for start, end, offset, path in code_mappings(pid):
            with open(path, "rb") as file:
                file.seek(offset)
                expected = file.read(end - start)
            memory.seek(start)
            actual = memory.read(len(expected))
            compared += len(expected)
            if expected == actual:
                continue
            for index, (was, now) in enumerate(zip(expected, actual)):
                if was != now:
                    print(f"differs at {start + index:#x} ({path}+{offset + index:#x}): {was:02x} became {now:02x}")
    print(f"compared {compared} bytes")
