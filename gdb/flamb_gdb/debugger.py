"""GDB as the debugger that flamb's core asks for: the callbacks of core/c_api.h."""

import contextlib
import ctypes
import os
import re
import signal
from typing import Callable, Dict, List, Optional

import gdb

from . import breakpoints, modules, threads
from .c_api import ABI_VERSION, CALLBACKS, DONE, FAILED, Callbacks, Fault, Kind, Library, State, decode, encode
from .errors import Refusal
from .settings import Interrupts, Settings
from .stops import Stop, StopListener
from .threads import thread_id
from .values import ReturnValues, call_refusal, printed_value, was_cut_short, was_unwound

# In the processor's own numbering, as in core/debugger.h.
REGISTERS = "rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15 rip eflags".split()
NOTES = ("flamb: ", "warning: ")  # how what is no result begins


class Debugger:
    """One command's session with the library: a context in which GDB is set up for it, and then put back.

    Without `runs` nothing is set up: the target is only asked, never run. With `quiet` the results are not printed, only
    what there is to say of them.

    `has_run`: the target was started, resumed or made to call something.
    `has_moved`: it is, or may be, elsewhere than before.
    """

    _open: Optional["Debugger"] = None

    def __init__(self, library: Library, runs: bool = True, quiet: bool = False):
        self.library = library
        self._runs = runs
        self._quiet = quiet
        self.handle: Optional[int] = None
        self.has_run = False
        self.has_moved = False
        self._settings = Settings()
        self._stops = StopListener()
        self._interrupts = Interrupts(self._note_interrupt)
        self._breakpoints: Dict[int, breakpoints.Breakpoint] = {}
        self._values = ReturnValues()
        self._suspended: List[gdb.Breakpoint] = []
        self._put_back = contextlib.ExitStack()
        self._captures_output = False
        self._held_back: List[str] = []
        self._callbacks = self._table()

    # The command's frame.

    def __enter__(self) -> "Debugger":
        if Debugger._open is not None:
            raise gdb.GdbError("flamb is already running a command; wait until it ends.")
        handle = self.library.flamb_open(ctypes.byref(self._callbacks))
        if not handle:
            raise gdb.GdbError(decode(self.library.flamb_last_error()))
        self.handle = handle
        Debugger._open = self
        with contextlib.ExitStack() as until_now:
            until_now.callback(self._close)
            if self._runs:
                self._prepare(until_now)
            self._put_back = until_now.pop_all()
        return self

    def _prepare(self, until_now: contextlib.ExitStack) -> None:
        until_now.callback(self._interrupts.restore)
        self._interrupts.defer()
        until_now.callback(self._settings.restore)
        self._settings.apply()
        until_now.callback(gdb.events.inferior_call.disconnect, self._on_inferior_call)
        gdb.events.inferior_call.connect(self._on_inferior_call)
        until_now.callback(self._stops.disconnect)
        self._stops.connect()
        until_now.callback(self._suspend, False)
        until_now.callback(self._values.forget)
        until_now.callback(self._delete_breakpoints)

    def __exit__(self, *exception) -> None:
        self._put_back.__exit__(*exception)

    def _close(self) -> None:
        self.library.flamb_close(self.handle)
        Debugger._open = None

    def _delete_breakpoints(self) -> None:
        for breakpoint in self._breakpoints.values():
            if breakpoint.is_valid():
                breakpoint.delete()
        self._breakpoints.clear()

    # The table.

    def _table(self) -> Callbacks:
        table = Callbacks(version=ABI_VERSION, size=ctypes.sizeof(Callbacks))
        table.debugger_name = encode("GDB " + re.sub(r"^.*?(\d+\.\d+\S*).*$", r"\1", gdb.VERSION))
        for name, kind in CALLBACKS:
            setattr(table, name, kind(self._guarded(getattr(self, "_cb_" + name))))
        return table

    def _guarded(self, function: Callable) -> Callable:
        """No exception crosses into the library: it becomes an error there."""

        def callback(*arguments) -> int:
            try:
                function(*arguments)
                return DONE
            except Refusal as error:
                self._reply_error(error.fault, str(error), error.next_action)
            except KeyboardInterrupt:
                self._note_interrupt()
            except gdb.error as error:
                self._reply_error(Fault.FLAMB, f"GDB: {error}")
            except Exception as error:  # pylint: disable=broad-except
                self._reply_error(Fault.FLAMB, f"internal error in {function.__name__}: {error!r}")
            return FAILED

        return callback

    def _reply_error(self, fault: int, message: str, next_action: str = "") -> None:
        self.library.flamb_reply_error(self.handle, fault, encode(message), encode(next_action))

    def _reply_numbers(self, *numbers: int) -> None:
        for number in numbers:
            self.library.flamb_reply_number(self.handle, number)

    def _reply_text(self, text: str) -> None:
        self.library.flamb_reply_text(self.handle, encode(text))

    def _reply_stop(self, stop: Stop) -> None:
        self.library.flamb_reply_stop(self.handle, stop.kind, stop.thread, stop.code, encode(stop.description))

    def _note_interrupt(self) -> None:
        self.library.flamb_note_interrupt(self.handle)

    # What the target is.

    def _cb_target(self) -> None:
        inferior = gdb.selected_inferior()
        program = gdb.current_progspace().filename or ""
        connection = inferior.connection
        kind = connection.type if connection is not None else ""
        if kind == "core":
            state = State.CORE_FILE
        elif inferior.pid:
            state = State.STOPPED
            self._check_target(inferior)
        elif not program:
            state = State.NONE
        elif self._has_ended():
            state = State.EXITED
        else:
            state = State.NOT_STARTED
        pid = inferior.pid if state == State.STOPPED else 0
        self.library.flamb_reply_target(self.handle, state, encode(program), pid, int(kind == "native"))

    @staticmethod
    def _has_ended() -> bool:
        return any(
            value is not None and value.type.code != gdb.TYPE_CODE_VOID
            for value in (gdb.convenience_variable("_exitcode"), gdb.convenience_variable("_exitsignal"))
        )

    @staticmethod
    def _check_target(inferior: "gdb.Inferior") -> None:
        architecture = inferior.architecture().name()
        if architecture != "i386:x86-64":
            raise Refusal(Fault.USER, f"flamb knows x86-64 programs only; GDB says that this one is {architecture}")
        if gdb.parameter("non-stop"):
            raise Refusal(
                Fault.USER,
                "flamb needs GDB's all-stop mode",
                "type `set non-stop off` and start the program again",
            )

    def _cb_native_thread(self) -> None:
        inferior = gdb.selected_inferior()
        connection = inferior.connection
        thread = gdb.selected_thread()
        if connection is None or connection.type != "native" or thread is None:
            raise Refusal(Fault.USER, "the target is not a process of this machine")
        self._reply_numbers(inferior.pid, thread_id(thread), threads.register("rsp"))

    def _cb_modules(self) -> None:
        for path, load_bias, is_program in modules.loaded():
            self.library.flamb_reply_module(self.handle, encode(path), load_bias, int(is_program))

    # Threads, registers, memory.

    def _cb_threads(self) -> None:
        live = sorted(gdb.selected_inferior().threads(), key=lambda thread: thread.num)
        self._reply_numbers(*map(thread_id, live))

    def _cb_selected_thread(self) -> None:
        thread = gdb.selected_thread()
        if thread is None:
            raise Refusal(Fault.USER, "no thread is selected: the program is not being run")
        self._reply_numbers(thread_id(thread))

    def _cb_read_register(self, thread: int, number: int) -> None:
        self._reply_numbers(threads.in_thread(thread, lambda: threads.register(REGISTERS[number])))

    def _cb_read_memory(self, start: int, to: int, size: int) -> None:
        try:
            found = gdb.selected_inferior().read_memory(start, size)
        except gdb.MemoryError as error:
            raise Refusal(Fault.TARGET, f"{size} bytes at {start:#x} cannot be read") from error
        ctypes.memmove(to, bytes(found), size)

    def _cb_memory_changed(self) -> None:
        frame = gdb.selected_frame() if gdb.selected_thread() is not None else None
        gdb.execute("maint flush dcache", to_string=True)
        gdb.execute("maint flush register-cache", to_string=True)  # and with it the frames
        if frame is not None and frame.is_valid():
            frame.select()

    def _cb_callers(self, thread: int, limit: int) -> None:
        self._reply_numbers(*threads.in_thread(thread, lambda: threads.return_addresses(limit)))

    # Breakpoints.

    def _cb_set_breakpoint(self, number: int, where: int) -> None:
        hit = self.library.flamb_breakpoint_hit
        self._breakpoints[number] = breakpoints.Breakpoint(where, hit, self.handle, number)

    def _cb_remove_breakpoint(self, number: int) -> None:
        breakpoint = self._breakpoints.pop(number, None)
        if breakpoint is not None and breakpoint.is_valid():
            breakpoint.delete()

    def _cb_breakpoint_addresses(self) -> None:
        self._reply_numbers(*breakpoints.addresses())

    def _cb_steps_off_again(self, where: int) -> None:
        self._reply_numbers(int(breakpoints.steps_off_again(where)))

    def _cb_suspend_user_breakpoints(self, suspend: int) -> None:
        self._suspend(bool(suspend))

    def _suspend(self, suspend: bool) -> None:
        for breakpoint in self._suspended:
            if breakpoint.is_valid():
                breakpoint.enabled = True
        self._suspended = []
        if not suspend:
            return
        for breakpoint in gdb.breakpoints():
            if breakpoint.enabled and not self._stops.is_ours(breakpoint):
                breakpoint.enabled = False
                self._suspended.append(breakpoint)

    # Running.

    def _cb_launch(self) -> None:
        self._run("starti")
        stop = self._stops.last()
        if stop is None or stop.kind in (Kind.EXITED, Kind.KILLED):
            raise Refusal(Fault.TARGET, "the program ended before its first instruction")
        self._reply_stop(stop._replace(kind=Kind.REQUESTED, code=0, description="entry"))

    def _cb_resume(self) -> None:
        self._run("continue")
        stop = self._stops.last()
        if stop is None:
            raise Refusal(Fault.FLAMB, "GDB let the program run but reported no stop")
        self._reply_stop(stop)

    def _cb_step(self, thread: int) -> None:
        stop = threads.in_thread(thread, self._step)
        if stop is None:
            raise Refusal(Fault.TARGET, f"thread {thread} ended")
        # GDB says of no stop but that of a step, and of one for changed libraries, nothing at all.
        if stop.kind == Kind.MODULES:
            stop = stop._replace(kind=Kind.REQUESTED, description="step")
        elif stop.kind != Kind.REQUESTED:
            threads.select(stop.thread)
        self._reply_stop(stop)

    def _step(self) -> Optional[Stop]:
        frame = gdb.selected_frame()
        self._run("stepi", alone=True)
        stop = self._stops.last()
        if frame.is_valid():
            frame.select()
        return stop

    def _run(self, command: str, alone: bool = False) -> None:
        """Runs a command that runs the target, or its selected thread alone. What it was about is what `_stops` says."""
        self._stops.expect()
        self.has_run = True
        self.has_moved = True
        if gdb.selected_inferior().pid:
            self._settings.let_all_threads_run()
        try:
            with self._settings.others_stopped() if alone else contextlib.nullcontext():
                self._execute(command)
        except gdb.error as error:
            if self._stops.last() is None:
                raise Refusal(Fault.TARGET, f"GDB cannot run the program: {error}") from error

    def _execute(self, command: str) -> str:
        """The output of a command. What the core prints meanwhile comes after it."""
        self._captures_output = True
        try:
            return gdb.execute(command, to_string=True)
        finally:
            self._captures_output = False
            for text in self._held_back:
                gdb.write(text)
            self._held_back.clear()

    # Calls and values.

    def _cb_call(self, expression: bytes, alone: int) -> None:
        self._stops.expect()
        if gdb.selected_inferior().pid:
            self._settings.let_all_threads_run()
        # A stop in mid-call would lose the value.
        self._settings.set("stop-on-solib-events", "0")
        try:
            if alone:
                with self._settings.others_stopped():
                    self._reply_text(printed_value(self._execute(f"with language c -- call {decode(expression)}")))
            else:
                self._reply_text(printed_value(self._execute(f"call {decode(expression)}")))
        except gdb.error as error:
            self._reply_stop(self._stop_in_call(error))
        finally:
            self._settings.set("stop-on-solib-events", "1")

    def _stop_in_call(self, error: "gdb.error") -> Stop:
        """Where a call ended that did not return; raises what is to be said if there was none."""
        stop = self._stops.last()
        if stop is not None and was_unwound(error):
            return stop._replace(kind=Kind.SIGNAL, code=signal.SIGABRT, description="an uncaught exception")
        if stop is None or not was_cut_short(error):
            raise call_refusal(error) from error
        self.has_moved = True
        return stop

    def _on_inferior_call(self, event: "gdb.Event") -> None:
        if isinstance(event, gdb.InferiorCallPreEvent):
            self.has_run = True
            _, lwp, tid = event.ptid
            self.library.flamb_calling(self.handle, lwp or tid, event.address)

    def _cb_expect_return_value(self, thread: int) -> None:
        self._values.expect(thread)

    def _cb_return_value(self, thread: int, _function: int) -> None:
        self._reply_text(self._values.take(thread))

    # The user.

    def _cb_poll(self) -> None:
        """Python notes a Ctrl-C on its way here."""

    def _cb_print(self, text: bytes) -> None:
        shown = text.decode("utf-8", "replace")
        if self._quiet and not shown.startswith(NOTES):
            return
        if self._captures_output:
            self._held_back.append(shown)
        else:
            gdb.write(shown)

    def _cb_progress(self, line: bytes) -> None:
        # Not through gdb.write: what GDB executes now has its output captured.
        if os.isatty(2):
            os.write(2, b"\r" + line + b"\x1b[K")
