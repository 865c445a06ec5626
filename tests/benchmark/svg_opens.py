"""How long headless Chromium takes from being sent to an SVG until it is painted. Prints a row a sample, fails on nothing.

usage: svg_opens.py CHROMIUM WRITE_SAMPLE [RUNS]
"""

import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).parent.parent))
from chromium import Chromium, Page

# The first says what it takes to open anything.
SAMPLES = ["empty", "server", "wide", "deep"]

# The second frame begins when the first, with all that the page's script made, has been painted.
PAINTED = """new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"""
FRAMES = "JSON.parse(document.querySelector('#data').textContent).frames.length"


def open_once(chromium, svg):
    """Milliseconds, and the number of frames."""
    with Page(chromium) as page:
        page.open(svg.as_uri())
        return page.evaluate(PAINTED), page.evaluate(FRAMES)


def main():
    program, write_sample, runs = sys.argv[1], sys.argv[2], int((sys.argv[3:] or ["7"])[0])
    print("| sample | frames | size | median | best |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as directory, Chromium(program, "--disable-gpu") as chromium:
        for sample in SAMPLES:
            svg = pathlib.Path(directory, f"{sample}.svg")
            subprocess.run([write_sample, sample, "svg", svg], check=True)
            opened = [open_once(chromium, svg) for _ in range(runs)]
            times = [time for time, _ in opened]
            print(f"| {sample} | {opened[0][1]:,} | {svg.stat().st_size / 1e6:.1f} MB | {statistics.median(times):.0f} ms |"
                  f" {min(times):.0f} ms |", flush=True)


if __name__ == "__main__":
    main()
