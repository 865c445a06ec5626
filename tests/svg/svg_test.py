"""Opens sample SVGs in headless Chromium and runs the cases of cases.js in them, each in a page of its own.

usage: svg_test.py CHROMIUM WRITE_SAMPLE [CASE...]
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.append(str(pathlib.Path(__file__).parent.parent))
from chromium import Chromium, Page, run_cases

# What differs from: the sample "server", no address, 1200 pixels, light, with scripts.
CASES = {
    "opens": {},
    "without_scripts": {"scripts": False},
    "hover": {},
    "zoom": {},
    "search": {},
    "match_case": {},
    "keyboard": {},
    "address": {},
    "kept_address": {"address": "#x=58325&y=1&s=deflate&case=1"},
    "stale_address": {"address": "#x=nonsense&y=77&s=%5B"},
    "narrow": {"width": 420},
    "dark": {"dark": True},
    "hard_names": {"sample": "hard_names"},
    "deep": {"sample": "deep"},
    "wide": {"sample": "wide"},
    "empty": {"sample": "empty"},
}

LISTEN = "window.pageErrors = []; addEventListener('error', (event) => pageErrors.push(event.message));"


def write_sample(program, sample, directory):
    path = pathlib.Path(directory, f"{sample}.svg")
    if not path.exists():
        subprocess.run([program, sample, "svg", path], check=True)
        xml.etree.ElementTree.parse(path)
    return path


def outcome(chromium, svg, name):
    case = CASES[name]
    cases = pathlib.Path(__file__).with_name("cases.js").read_text(encoding="utf-8")
    with Page(chromium, width=case.get("width", 1200)) as page:
        scheme = "dark" if case.get("dark") else "light"
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        page.call("Emulation.setScriptExecutionDisabled", value=not case.get("scripts", True))
        page.open(svg.as_uri() + case.get("address", ""), first=LISTEN)
        return page.evaluate(f"{cases}\nrun({json.dumps(name)})")


def main():
    program, sample_writer, *names = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory, Chromium(program, "--disable-gpu") as chromium:
        def run(name):
            svg = write_sample(sample_writer, CASES[name].get("sample", "server"), directory)
            error = outcome(chromium, svg, name)
            assert error is None, error

        return run_cases(names or CASES, run)


if __name__ == "__main__":
    sys.exit(main())
