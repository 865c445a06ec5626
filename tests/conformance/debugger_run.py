"""Runs a debugger on a list of commands, in a pipe or at a terminal, and gives back what it printed."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path


class RunError(Exception):
    """The debugger hung or ended early; `output` is what it had printed."""

    def __init__(self, message, output):
        super().__init__(message)
        self.output = output


def end_processes_of(case_id):
    """Kills what a case has left running: everything that was started with its mark in the environment."""
    mark = f"FLAMB_CASE={case_id}".encode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes()
            if mark in environment.split(b"\0") and int(pid) != os.getpid():
                os.kill(int(pid), signal.SIGKILL)
        except OSError:
            continue


def run_batch(dialect, program, commands, directory, environment, timeout):
    """Feeds all commands at once. Returns everything printed."""
    script = directory / "script"
    script.write_text("\n".join([*commands, "kill", "quit", ""]), encoding="utf-8")
    with open(script if dialect.name == "gdb" else os.devnull, "rb") as standard_input:
        process = subprocess.Popen(dialect.argv(program, script), stdin=standard_input, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, cwd=directory, env=environment, start_new_session=True)
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            end_processes_of(environment["FLAMB_CASE"])
            output, _ = process.communicate()
            raise RunError(f"the debugger did not end within {timeout} s", output.decode(errors="replace")) from None
    return output.decode(errors="replace")


class Terminal:
    """A debugger at a pseudo terminal of its own, for what only a user can do: Ctrl-C."""

    def __init__(self, argv, directory, environment, deadline, echoes):
        """`echoes`: the debugger shows what is typed even where the terminal does not."""
        self.output = b""
        self.deadline = deadline
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            # LLDB's line editor needs a size, and lines must not wrap.
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 30000, 0, 0))
            if echoes:
                # Not the kernel too: what is typed ahead would land within what a command prints.
                modes = termios.tcgetattr(0)
                modes[3] &= ~termios.ECHO
                termios.tcsetattr(0, termios.TCSANOW, modes)
            os.chdir(directory)
            os.execvpe(argv[0], argv, environment)

    def send(self, line):
        os.write(self.master, line.encode() + b"\n")

    def press_control_c(self):
        os.write(self.master, b"\x03")

    def read(self, other=None):
        """Waits for output, or for `other` (a file descriptor) to become readable; says whether that one did."""
        left = self.deadline - time.monotonic()
        watched = [self.master] + ([other] if other is not None else [])
        ready, _, _ = select.select(watched, [], [], max(left, 0))
        if not ready:
            raise RunError("the debugger did not answer in time", self.text())
        if self.master in ready:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                data = b""
            if not data:
                raise RunError("the debugger ended early", self.text())
            self.output += data
        return other in ready

    def wait_for_line(self, text):
        """Until a line of output is `text` and nothing else. The echo of what was typed follows a prompt: it is not."""
        wanted = text.encode()
        while not any(line.strip(b"\r") == wanted for line in self.output.split(b"\n")[:-1]):
            self.read()

    def wait_for_mark(self, pipe):
        while not self.read(pipe):
            pass
        os.read(pipe, 1)

    def text(self):
        return self.output.decode(errors="replace")

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.master)
