"""flamb's commands and Python functions as a user of GDB has them."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

GDB = os.environ["FLAMB_GDB"]
BUILD = Path(os.environ["FLAMB_BUILD"])
TARGET = os.environ["FLAMB_TARGET"]
STUB = os.environ["FLAMB_STUB_LIBRARY"]
FLAMB = BUILD / "share/flamb/gdb/flamb.py"


class Commands(unittest.TestCase):
    """Each test looks at what GDB prints."""

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def gdb(self, *commands, program=TARGET, **environment):
        """What GDB prints for the commands, both streams, once flamb.py is sourced."""
        words = [GDB, "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off", "-x", str(FLAMB)]
        for command in commands:
            words += ["-ex", command]
        ran = subprocess.run(
            words + ([program] if program else []),
            cwd=self.directory.name,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=50,
            check=False,
        )
        return ran.stdout

    def files(self):
        return sorted(os.listdir(self.directory.name))

    def test_every_way_to_the_help_shows_the_same_text(self):
        shown = self.gdb("flamb help capture")
        self.assertIn("Usage: flamb capture FUNCTION", shown)
        self.assertEqual(shown.strip(), self.gdb("help flamb capture").strip())
        self.assertEqual(shown.strip(), self.gdb("flamb capture --help").strip())
        top = self.gdb("flamb")
        self.assertIn("flamb capture FUNCTION", top)
        self.assertEqual(top, self.gdb("flamb help"))
        self.assertTrue(self.gdb("help flamb").startswith(top.rstrip()), self.gdb("help flamb"))

    def test_a_wrong_command_is_the_cores_error(self):
        self.assertIn("nosuch", self.gdb("flamb nosuch"))
        self.assertNotIn("Traceback", self.gdb("flamb nosuch"))

    def test_sourcing_twice_is_harmless(self):
        self.assertEqual(self.gdb("flamb"), self.gdb(f"source {FLAMB}", "flamb"))

    def test_a_capture_shows_its_file_and_where_the_program_is(self):
        shown = self.gdb("flamb capture outer")
        self.assertEqual(len(self.files()), 1, shown)
        self.assertIn(self.files()[0], shown)
        self.assertIn("in main (", shown.replace("main(", "main ("))
        written = Path(self.directory.name, self.files()[0]).read_text(encoding="utf-8")
        self.assertEqual(sorted(written.splitlines()), ["outer 1", "outer;inner 2"])

    def test_an_apply_prints_the_value_and_stays(self):
        shown = self.gdb("break ready", "run", "flamb apply add(3, 4)", "print $", "info breakpoints", "frame")
        self.assertIn("$1 = 7\n", shown)
        self.assertIn("$2 = 7\n", shown)
        self.assertIn("breakpoint already hit 1 time", shown)
        self.assertIn("#0  ready ()", shown)

    def test_an_apply_that_throws_is_written_and_the_target_put_back(self):
        shown = self.gdb("break ready", "run", "flamb apply throws()", "frame")
        self.assertIn("incomplete: the program received an uncaught exception", shown)
        self.assertIn("#0  ready ()", shown)
        self.assertEqual(len(self.files()), 1, shown)

    def test_gdbs_own_words_and_what_works_instead(self):
        program = os.environ["FLAMB_STRING_TARGET"]
        calls = ["flamb apply length_of(3.5)", "flamb apply length_of(text)"]
        shown = self.gdb("tbreak length_of", "run", *calls, program=program)
        self.assertIn("GDB cannot make a temporary object", shown)
        self.assertIn("$1 = 4", shown)

    def test_completion(self):
        def complete(line):
            return self.gdb(f"complete {line}").splitlines()

        self.assertEqual(complete("flamb "), ["flamb apply", "flamb capture", "flamb help"])
        self.assertEqual(complete("flamb capture --output-f"), ["flamb capture --output-format"])
        self.assertEqual(complete("flamb capture --output-format=sv"), ["flamb capture --output-format=svg"])
        self.assertEqual(
            complete("flamb capture --output-format=svg,te"), ["flamb capture --output-format=svg,text"]
        )
        self.assertEqual(complete("flamb capture -f sv"), ["flamb capture -f svg"])
        self.assertEqual(complete("flamb capture worker_"), ["flamb capture worker_step"])
        self.assertEqual(complete("flamb capture --merge worker_"), ["flamb capture --merge worker_step"])
        self.assertEqual(
            complete("flamb apply 1 + worker_st"), ["flamb apply 1 + worker_step", "flamb apply 1 + worker_step()"]
        )

    def test_python_functions_return_what_the_commands_print(self):
        shown = self.gdb(
            "python import flamb_gdb",
            "python print(repr(flamb_gdb.capture('outer', 2, output_format=['collapsed', 'text'])))",
            "python print([int(v) for v in flamb_gdb.capture('outer', 2, returns='value')])",
            "python print(repr(flamb_gdb.apply('add(3, 4)', returns='flamegraph', modules='contract_target')))",
            "python print(repr(flamb_gdb.apply('give_nothing()')), int(flamb_gdb.apply('give_pair()')['right']))",
            "python print(repr(flamb_gdb.apply('add(1, 2)', returns='filename', output_directory='.')))",
        )
        lines = [line for line in shown.splitlines() if line and line != "Program stopped."]
        self.assertEqual(len(lines), 5, shown)
        paths = eval(lines[0])  # pylint: disable=eval-used
        self.assertEqual([Path(path).suffix for path in paths], [".collapsed", ".txt", ".collapsed", ".txt"])
        self.assertEqual(lines[1], "[10, 14]")
        self.assertEqual(sorted(eval(lines[2]).splitlines()), ["add 1", "add;outer 1", "add;outer;inner 2"])
        self.assertEqual(lines[3], "None 4")
        self.assertIn(Path(lines[4].strip("'")).name, self.files())

    def test_python_functions_raise_the_cores_error(self):
        shown = self.gdb("python import flamb_gdb; flamb_gdb.capture('outer', no_such_option=1)")
        self.assertIn("--no-such-option", shown)

    def test_quotes_in_an_option_of_python(self):
        Path(self.directory.name, 'a "b" \\c').mkdir()
        self.gdb("python import flamb_gdb; flamb_gdb.capture('outer', output_directory='a \"b\" \\\\c')")
        self.assertEqual(len(list(Path(self.directory.name, 'a "b" \\c').iterdir())), 1)

    def test_settings_and_selection_after_an_error(self):
        shown = self.gdb(
            "break inner",
            "run",
            "up",
            "set pagination on",
            "set scheduler-locking step",
            "flamb capture no_such_one --timeout x",
            "frame",
            "show pagination",
            "show scheduler-locking",
            "show stop-on-solib-events",
        )
        self.assertIn("#1 ", shown)
        self.assertIn("State of pagination is on", shown)
        self.assertIn('"step"', shown)
        self.assertIn("Stopping for shared library events is 0", shown)

    def test_a_library_that_is_not_there(self):
        shown = self.gdb("echo still here\\n", FLAMB_LIBRARY="/nonexistent/libflamb.so")
        self.assertIn("flamb was not loaded: flamb's library is not at /nonexistent/libflamb.so", shown)
        self.assertIn("still here", shown)

    def test_a_library_of_another_version(self):
        shown = self.gdb(FLAMB_LIBRARY=STUB)
        self.assertIn("speaks version 999 of flamb's interface", shown)
        self.assertIn("install both from one build", shown)

    def test_outside_gdb(self):
        ran = subprocess.run([sys.executable, str(FLAMB)], capture_output=True, text=True, check=False)
        self.assertIn("runs inside GDB", ran.stderr)

    def test_a_gdb_that_is_too_old(self):
        shown = self.gdb("python gdb.VERSION = '11.2'", f"source {FLAMB}")
        self.assertIn("flamb needs GDB 12 or newer; this is 11.2", shown)

    def test_modules_without_proc_are_those_of_proc(self):
        """What is asked of GDB for a target on another machine, compared here."""
        shown = self.gdb(
            "break ready", "run", "python from flamb_gdb import modules",
            "python import os; print([(os.path.realpath(p), b) for p, b, _ in modules.loaded()])",
            "python print([(os.path.realpath(l.split()[-1]), int(l.split('-')[0], 16)) for l in "
            "open(f'/proc/{gdb.selected_inferior().pid}/maps') if l.split()[2] == '00000000' and '/' in l])",
        )
        asked, mapped = (eval(line) for line in shown.splitlines()[-2:])  # pylint: disable=eval-used
        self.assertGreater(len(asked), 2)
        for module in asked:
            self.assertIn(module, mapped)


if __name__ == "__main__":
    unittest.main()
