"""Installs flamb into a directory of its own and uses it from there."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

BUILD = os.environ["FLAMB_BUILD"]
SOURCE = os.environ["FLAMB_SOURCE"]
PROGRAM = os.environ["FLAMB_PROGRAM"]


class InstallTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.prefix = self.root / "prefix"
        self.output = self.root / "output"
        self.output.mkdir()
        self.plugin = self.prefix / "lib/flamb/flamb-lldb.so"
        self.script = self.prefix / "share/flamb/gdb/flamb.py"
        self.program = shutil.copy(PROGRAM, self.root)
        self.run_ok(os.environ["FLAMB_CMAKE"], "--install", BUILD, "--prefix", self.prefix, "--strip")

    def run_ok(self, *command):
        """Runs a command as someone without settings of their own would; returns all it printed."""
        environment = {"HOME": str(self.root), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        done = subprocess.run([str(word) for word in command], cwd=self.root, env=environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=50,
                              check=False)
        self.assertEqual(0, done.returncode, done.stdout)
        return done.stdout

    def assert_written(self, suffixes, said):
        files = sorted(self.output.iterdir())
        self.assertEqual(sorted(suffixes), sorted(file.suffix for file in files), said)
        for file in files:
            self.assertIn(str(file), said)
            self.assertGreater(file.stat().st_size, 0, file)

    def test_tree(self):
        installed = {str(file.relative_to(self.prefix)) for file in self.prefix.rglob("*") if file.is_file()}
        wanted = {"lib/flamb/flamb-lldb.so", "lib/flamb/libflamb.so", "share/flamb/gdb/flamb.py",
                  "share/flamb/gdb/flamb_gdb/__init__.py", "share/doc/flamb/LICENSE", "share/doc/flamb/README.md",
                  "share/doc/flamb/CHANGELOG.md", "share/doc/flamb/docs/architecture.md"}
        self.assertEqual(set(), wanted - installed, f"missing; installed are {sorted(installed)}")

    def test_independence(self):
        for file in self.prefix.rglob("*"):
            self.assertFalse(file.is_symlink(), file)
            if file.suffix in (".so", ".py"):
                self.assertNotIn(SOURCE.encode(), file.read_bytes(), f"{file} knows where its source was")

    def test_entry_point(self):
        exported = self.run_ok("nm", "--dynamic", "--defined-only", "--demangle", self.plugin)
        self.assertIn("lldb::PluginInitialize(lldb::SBDebugger)", exported)
        self.assertEqual(1, len(exported.splitlines()), f"exported beside the entry point:\n{exported}")

    def test_lldb(self):
        said = self.run_ok("lldb-19", "--no-lldbinit", "--batch", "-O", f"plugin load {self.plugin}",
                           "-O", "settings set target.disable-aslr false",
                           "-o", f"flamb capture parse_request --output-format collapsed,svg --output-directory {self.output}",
                           "--", self.program)
        self.assert_written([".collapsed", ".svg"], said)

    def test_gdb(self):
        said = self.run_ok("gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", f"source {self.script}",
                           "-ex", "break answer", "-ex", "run",
                           "-ex", f"flamb apply --return filename --output-format collapsed,svg"
                                  f" --output-directory {self.output} checksum(buffer, 64)",
                           self.program)
        self.assert_written([".collapsed", ".svg"], said)


if __name__ == "__main__":
    unittest.main()
