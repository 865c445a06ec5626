"""hotspot, without a screen and on one that nobody sees."""

import contextlib
import os
import pathlib
import re
import subprocess
import tempfile

from perf import Sample


def environment(directory, **more):
    """Its own settings, and a runtime directory as Qt wants it."""
    runtime = pathlib.Path(directory, "runtime")
    runtime.mkdir(mode=0o700, exist_ok=True)
    return {**os.environ, "XDG_RUNTIME_DIR": str(runtime), "XDG_CONFIG_HOME": str(runtime), **more}


@contextlib.contextmanager
def running(command, **options):
    """It ends no later than the block does."""
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def samples(path, count):
    """The `count` samples of a file as hotspot understands them. It prints them for its own tests, and does not exit."""
    with tempfile.TemporaryDirectory() as directory, running(
            ["hotspot", str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=environment(directory, QT_QPA_PLATFORM="offscreen", HOTSPOT_GENERATE_SCRIPT_OUTPUT="1")) as process:
        # Lines end in "\n" only: a name may have what else Python takes for an end.
        for raw in process.stdout:
            line = raw.decode("utf-8").rstrip("\n")
            head = re.fullmatch(r"\t(\d+)\t([\d.]+):\t(\d+) (.*)", line)
            frame = re.fullmatch(r"\t([0-9a-f]{16}) (.*) \((.*)\)", line)
            if head:
                sample = Sample(int(head[1]), float(head[2]), int(head[3]), head[4], [])
            elif frame:
                sample.stack.insert(0, frame[2])
            elif line == "" and count > 0:
                yield sample
                count -= 1
            if count == 0:
                return


class Screen:
    """An X server with one window of hotspot, and what can be seen there. It waits for states: the caller limits the time."""

    def __init__(self, path, directory, width=1200, height=800):
        self.directory = directory
        self.size = (width, height)
        self.path = path
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        width, height = self.size
        read, write = os.pipe()
        self.stack.enter_context(running(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp"],
            pass_fds=[write], stderr=subprocess.DEVNULL))
        os.close(write)
        with os.fdopen(read, encoding="ascii") as numbers:
            self.env = environment(self.directory, DISPLAY=":" + numbers.readline().strip())
        self.stack.enter_context(running(["hotspot", str(self.path)], env=self.env, stderr=subprocess.DEVNULL))
        self.window = self.xdo("search", "--sync", "--onlyvisible", "--name", " - Hotspot$").split()[-1]
        self.xdo("windowmove", self.window, "0", "0", "windowsize", "--sync", self.window, str(width), str(height))
        return self

    def __exit__(self, *error):
        self.stack.close()

    def xdo(self, *words):
        return subprocess.run(["xdotool", *words], env=self.env, capture_output=True, text=True, check=True).stdout

    def shot(self, path):
        subprocess.run(["import", "-window", "root", str(path)], env=self.env, check=True)

    def share_of_flames(self):
        """How much of the screen has the colours of hotspot's flame graph: red to yellow."""
        image = subprocess.run(["import", "-window", "root", "-depth", "8", "rgb:-"], env=self.env, capture_output=True,
                               check=True).stdout
        flames = sum(red > 200 and red - blue > 60 for red, blue in zip(image[0::3], image[2::3]))
        return flames / (self.size[0] * self.size[1])

    def show_flame_graph(self, least):
        """Goes to its tab, and waits until that much of the screen is in flames."""
        share = 0
        for _ in range(100):
            # A click before the window is ready is lost, another does no harm.
            self.xdo("mousemove", "345", "55", "click", "1")
            share = self.share_of_flames()
            if share >= least:
                return
        raise AssertionError(f"expected {least:.0%} of the screen to be the flame graph, actual {share:.2%}")
