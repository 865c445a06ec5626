"""Tests the runner itself: it must pass what is right, and fail each thing that may be wrong."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import case_file
import dialects
import plan
import trees

HERE = Path(__file__).parent
CASE = """# A case for the fake debugger.
both: break leaf
flamb: capture work
expect: invocation 1
  work 1
  work;leaf 2
same-place: yes
stopped-in: main
"""


def run_fake(fault, case=CASE):
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "fake.case"
        path.write_text(case, encoding="utf-8")
        command = [sys.executable, HERE / "run_case.py", "--case", path, "--debugger", "gdb",
                   "--collector", "breakpoints", "--build", "gcc-O0", "--program", sys.executable,
                   "--flamb", directory, "--gdb", HERE / "fake_gdb.py"]
        environment = {**os.environ, "FAKE_FAULT": fault, "FLAMB_CASE_TIMEOUT": "2"}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=30)


class RunnerTest(unittest.TestCase):
    def assert_fails(self, fault, *words, case=CASE):
        result = run_fake(fault, case)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        for word in words:
            self.assertIn(word, result.stdout)

    def test_passes_what_is_right(self):
        result = run_fake("")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_shows_expected_and_actual_of_a_wrong_tree(self):
        self.assert_fails("wrong-tree", "- work;leaf 2", "+ work;leaf 3")

    def test_wants_every_file(self):
        self.assert_fails("no-file", "no file was written for invocation 1")

    def test_wants_no_other_file(self):
        self.assert_fails("two-files", "unexpected file")
        self.assert_fails("strange-file", "work.tmp")

    def test_sees_a_breakpoint_left_behind(self):
        self.assert_fails("left-breakpoint", "left behind", "0x1140")

    def test_sees_what_was_not_put_back(self):
        self.assert_fails("user-breakpoint", "the user's breakpoints changed")
        self.assert_fails("setting", "the settings changed", "+ width")
        self.assert_fails("signal", "what happens at signals changed")
        self.assert_fails("moved", "the selected frame changed", "should be stopped in main")

    def test_wants_an_honest_report(self):
        self.assert_fails("silent", "does not name")
        self.assert_fails("incomplete", "calls it incomplete")
        self.assert_fails("", "because of: exception", case=CASE + "incomplete: exception\n")
        self.assert_fails("", "does not say: nearly", case=CASE + "says: nearly\n")

    def test_sees_a_debugger_that_ends_or_hangs(self):
        self.assert_fails("end", "did not get past this command")
        self.assert_fails("hang", "did not end within")


class TreesTest(unittest.TestCase):
    def difference(self, lines, tree, facts=("gdb",)):
        expectation = case_file.Expectation("invocations", lines=[case_file.parse_tree_line(line) for line in lines])
        return trees.difference(expectation, tree, facts)

    def test_a_placeholder_leaves_exact_stacks_to_their_own_lines(self):
        tree = {"a;b+0x12": 2, "a;b+0x34": 2}
        self.assertEqual(self.difference(["a;b+0x@hex@ 2", "a;b+0x12 2"], tree), "")
        self.assertIn("+ a;b+0x34 2", self.difference(["a;b+0x12 2"], tree))

    def test_optional_lines_and_conditions(self):
        self.assertEqual(self.difference(["a 1", "? a;b *", "[lldb] a;c 1"], {"a": 1}), "")
        self.assertIn("- a;c 1", self.difference(["a 1", "[gdb,gcc-*] a;c 1"], {"a": 1}))

    def test_collapsed_lines_are_checked(self):
        for wrong in ("a;b", "a;b 1.5", " 3", "a 1\na 2"):
            self.assertRaises(ValueError, trees.read_collapsed, wrong)


class PlanTest(unittest.TestCase):
    def test_options_are_added_where_the_case_gives_none(self):
        self.assertEqual(plan.with_options("capture work 2", "stepping", "/o"),
                         "capture work 2 --collector stepping --measure calls --output-directory /o")
        self.assertEqual(plan.with_options("apply f(1)", "breakpoints", "/o"),
                         "apply --collector breakpoints --output-directory /o f(1)")
        self.assertEqual(plan.with_options("help capture", "breakpoints", "/o"), "help capture")

    def test_leaves_out_what_lldb_says_of_a_killed_process_but_not_of_one_that_ended(self):
        lldb = dialects.Lldb({})
        killed = "Current breakpoints:\nProcess 42 exited with status = 9 (0x00000009) killed\n1: name\n"
        self.assertEqual(lldb.clean(killed), "Current breakpoints:\n1: name\n")
        ended = "Process 42 exited with status = 3 (0x00000003)\n"
        self.assertEqual(lldb.clean(ended), ended)

    def test_sections_are_what_was_printed_after_a_marker(self):
        lldb = dialects.Lldb(None)
        output = "(lldb) # @@1.a@@\n(lldb) frame info\nframe #0\n(lldb) # @@1.b@@\n(lldb) version\n"
        self.assertEqual(dialects.split_sections(output, lldb), {"1.a": "frame #0", "1.b": ""})
        gdb = dialects.Gdb(None)
        self.assertEqual(dialects.split_sections("(gdb) \n@@1.a@@\n(gdb) #0  main\n(gdb) \n@@1.b@@\n", gdb),
                         {"1.a": "#0  main", "1.b": ""})


class CaseFileTest(unittest.TestCase):
    def test_every_case_can_be_read(self):
        cases = case_file.all_cases(HERE.parent / "targets", HERE / "cases")
        self.assertGreater(len([case for case in cases if case.steps]), 30)

    def test_no_directive_was_joined_to_the_line_before(self):
        keys = "|".join(case_file.HEADER_KEYS | case_file.COMMAND_KEYS | case_file.EXPECTATION_KEYS)
        for case in case_file.all_cases(HERE.parent / "targets", HERE / "cases"):
            for line in case_file.comment_lines(case.path):
                self.assertNotRegex(line, rf"\S.*\. (?:{keys}):", case.path)

    def test_a_directive_that_is_unknown_is_an_error(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "x.case"
            path.write_text("flamb: capture work\nexpekt: invocation 1\n", encoding="utf-8")
            self.assertRaises(case_file.CaseError, case_file.parse, path)


class SectionsTest(unittest.TestCase):
    def test_an_echo_within_a_line_of_output_is_taken_out(self):
        output = "@@1.flamb@@\r\n/tmp/out/work-1.colinfo threads\r\nlapsed\r\n@@1.threads@@\r\n(gdb) info threads\r\n  1\r\n"
        sections = dialects.split_sections(output, dialects.Gdb(None), ["info threads"])
        self.assertEqual(sections, {"1.flamb": "/tmp/out/work-1.collapsed", "1.threads": "  1"})


if __name__ == "__main__":
    unittest.main()
