#!/usr/bin/python3
"""Stands in for GDB in harness_test.py: reads commands from its standard input and answers as FAKE_FAULT says.

FAKE_FAULT: empty (all is well), or one of wrong-tree, no-file, two-files, strange-file, left-breakpoint,
user-breakpoint, setting, signal, moved, incomplete, silent, end, hang.
"""

import os
import re
import sys
import time
from pathlib import Path

FAULT = os.environ.get("FAKE_FAULT", "")
STACKS = "work 1\nwork;leaf 2\n"


class Fake:
    def __init__(self):
        self.ran = False

    def faulty(self, name):
        return self.ran and name == FAULT

    def flamb(self, line):
        self.ran = True
        directory = Path(re.search(r"--output-directory (\S+)", line)[1])
        path = directory / "work-20260101T000000.000000-1.collapsed"
        if FAULT == "end":
            sys.exit(1)
        if FAULT == "hang":
            time.sleep(600)
        if FAULT != "no-file":
            path.write_text(STACKS.replace("2", "3") if FAULT == "wrong-tree" else STACKS, encoding="utf-8")
        if FAULT == "two-files":
            (directory / "work-20260101T000000.000000-2.collapsed").write_text(STACKS, encoding="utf-8")
        if FAULT == "strange-file":
            (directory / "work.tmp").write_text("wor", encoding="utf-8")
        if FAULT != "silent":
            print(f"{path}{' (incomplete: SIGSEGV)' if FAULT == 'incomplete' else ''}")

    def answer(self, line):
        if line.startswith("echo "):
            print(line[5:].replace("\\n", "\n"), end="")
        elif line.startswith("flamb "):
            self.flamb(line)
        elif line == "info breakpoints":
            print("1  breakpoint  keep y  0x1139 in leaf" if not self.faulty("user-breakpoint") else "No breakpoints.")
        elif line == "maint info breakpoints":
            print("-1  shlib events  keep y  0x7f00")
            if self.faulty("left-breakpoint"):
                print("-7  breakpoint  keep y  0x1140")
        elif line == "show":
            print("width:  Number of characters is " + ("80." if self.faulty("setting") else "unlimited."))
        elif line == "info signals":
            print("SIGUSR1  Yes  Yes  " + ("No" if self.faulty("signal") else "Yes"))
        elif line == "frame":
            print("#0  leaf (n=1)" if self.faulty("moved") else "#0  main () at target.c:1")
        elif line.startswith("python "):
            print("no process")


fake = Fake()
for typed in sys.stdin:
    fake.answer(typed.rstrip("\n"))
    sys.stdout.flush()
