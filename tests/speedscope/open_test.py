"""Has --open start speedscope as npm installs it, with a BROWSER that tells which page it is to show.

usage: open_test.py OPEN_FILE
"""

import base64
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse

BIN = pathlib.Path(__file__).with_name("node_modules") / ".bin"


def fake_browser(directory):
    """A browser that hands its argument over."""
    fifo = directory / "fifo"
    os.mkfifo(fifo)
    browser = directory / "browser"
    browser.write_text(f"#!/bin/sh\nprintf '%s' \"$1\" >'{fifo}'\n", encoding="utf-8")
    browser.chmod(0o700)
    return browser, fifo


def expect(condition, what, actual):
    if not condition:
        sys.exit(f"expected {what}\n  actual {actual[:2000]}")


def main():
    open_file = sys.argv[1]
    if not (BIN / "speedscope").exists():
        sys.exit("speedscope is not installed: run `npm ci` in tests/speedscope")
    check(open_file, {})
    check(open_file, {"DISPLAY": ":0"})  # where the desktop's opener has ideas of its own


def check(open_file, display):
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        graph = directory / "a graph, with 'quotes'.speedscope.json"
        graph.write_bytes(b'{"some": "file"}')
        browser, fifo = fake_browser(directory)
        environment = {"PATH": f"{BIN}:{os.environ['PATH']}", "BROWSER": str(browser), "TMPDIR": name, "HOME": name, **display}
        done = subprocess.run([open_file, "speedscope", graph], env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
        expect(done.returncode == 0, "to be started", done.stderr)
        started = f"{BIN}/speedscope in {browser}\n"
        expect(done.stdout == started, started, done.stdout)

        url = urllib.parse.urlparse(fifo.read_text(encoding="utf-8"))  # waits for the browser to be started
        expect(url.path.endswith("speedscope/dist/release/index.html"), "speedscope's page", url.geturl())
        script = pathlib.Path(urllib.parse.parse_qs(url.fragment)["localProfilePath"][0]).read_text(encoding="utf-8")
        content = re.fullmatch(r'speedscope\.loadFileFromBase64\((".*"), "(.*)"\)', script)
        expect(content is not None, "a script that loads a file", script)
        expect(content.group(1) == f'"{graph.name}"', f'"{graph.name}"', content.group(1))
        expect(base64.b64decode(content.group(2)) == graph.read_bytes(), "the file's content", content.group(2))


if __name__ == "__main__":
    main()
