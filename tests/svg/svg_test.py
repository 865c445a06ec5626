"""Opens a sample SVG in headless Chromium and runs one case of cases.js in it.

usage: svg_test.py CHROMIUM WRITE_SAMPLE CASE
"""

import html
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

# What differs from: the sample "server", no address, 1200 pixels, light.
CASES = {
    "opens": {},
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

CHROMIUM_OPTIONS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--virtual-time-budget=10000", "--dump-dom",
]


def script(text):
    return f"<script><![CDATA[{text}]]></script>"


def with_case(svg, case):
    """The SVG with the case's script behind its own, and an ear for errors before it."""
    listen = "const pageErrors = []; addEventListener('error', (event) => pageErrors.push(event.message));"
    cases = pathlib.Path(__file__).with_name("cases.js").read_text(encoding="utf-8")
    body, end = svg.rsplit("</svg>", 1)
    body = body.replace("<script>", script(listen) + "<script>", 1)
    return f"{body}{script(cases + f'run({json.dumps(case)});')}</svg>{end}"


def dump(chromium, page, case, profile):
    command = [chromium, *CHROMIUM_OPTIONS, f"--user-data-dir={profile}", f"--window-size={case.get('width', 1200)},600"]
    if case.get("dark"):
        command.append("--blink-settings=preferredColorScheme=0")
    command.append(page.as_uri() + case.get("address", ""))
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=50, check=False)
    return done.stdout, done.stderr


def main():
    chromium, write_sample, name = sys.argv[1:]
    case = CASES[name]
    with tempfile.TemporaryDirectory() as directory:
        page = pathlib.Path(directory, "page.svg")
        subprocess.run([write_sample, case.get("sample", "server"), "svg", page], check=True)
        xml.etree.ElementTree.parse(page)
        page.write_text(with_case(page.read_text(encoding="utf-8"), name), encoding="utf-8")
        dom, errors = dump(chromium, page, case, pathlib.Path(directory, "profile"))
    found = re.search(r"result:(.*):end", html.unescape(dom), re.DOTALL)
    if not found:
        sys.exit(f"the page gave no result; Chromium said:\n{errors}\n{dom[:2000]}")
    outcome = json.loads(found.group(1))
    if outcome != "passed":
        sys.exit(f"{name}: {outcome}")


if __name__ == "__main__":
    main()
