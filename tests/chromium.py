"""One headless Chromium for many pages: to start it costs more than all that a case does in it.

It is spoken to over a pipe, in the DevTools protocol: https://chromedevtools.github.io/devtools-protocol/
"""

import json
import os
import select
import subprocess
import tempfile

OPTIONS = [
    "--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--remote-debugging-pipe",
]
PATIENCE = 50  # seconds until a page counts as hung


class Chromium:
    """Chromium with its own profile, for a `with` statement."""

    def __init__(self, program, *options):
        self._profile = tempfile.TemporaryDirectory()
        # It reads its file descriptor 3 and writes to 4.
        command = ["sh", "-c", 'exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null', program, *OPTIONS, *options,
                   f"--user-data-dir={self._profile.name}"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self._received = b""
        self._last_id = 0
        self._events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._send({"id": 0, "method": "Browser.close"})
        try:
            self._process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
        self._profile.cleanup()

    def call(self, method, session=None, **parameters):
        self._last_id += 1
        message = {"id": self._last_id, "method": method, "params": parameters}
        self._send(message | ({"sessionId": session} if session else {}))
        while True:
            answer = self._receive()
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._events.append(answer)

    def wait_for(self, method, session):
        while True:
            for event in self._events:
                if (event.get("method"), event.get("sessionId")) == (method, session):
                    self._events.remove(event)
                    return
            self._events.append(self._receive())

    def _send(self, message):
        self._process.stdin.write(json.dumps(message).encode() + b"\0")
        self._process.stdin.flush()

    def _receive(self):
        while b"\0" not in self._received:
            if not select.select([self._process.stdout], [], [], PATIENCE)[0]:
                raise TimeoutError(f"Chromium has said nothing for {PATIENCE} s")
            more = os.read(self._process.stdout.fileno(), 1 << 20)
            if not more:
                raise EOFError("Chromium has ended")
            self._received += more
        message, self._received = self._received.split(b"\0", 1)
        return json.loads(message)


class Page:
    """A page of its own, for a `with` statement."""

    def __init__(self, chromium, width=1200, height=600):
        self._chromium = chromium
        self._target = chromium.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = chromium.call("Target.attachToTarget", targetId=self._target, flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._chromium.call("Target.closeTarget", targetId=self._target)

    def call(self, method, **parameters):
        return self._chromium.call(method, self._session, **parameters)

    def open(self, url, first=""):
        """Goes there and waits until it is loaded; the script `first` runs before any of the page's own."""
        self.call("Page.addScriptToEvaluateOnNewDocument", source=first)
        self.call("Page.navigate", url=url)
        self._chromium.wait_for("Page.loadEventFired", self._session)

    def evaluate(self, script):
        """What the script's last expression gives, or, of a promise, what it is kept with."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", answer["exceptionDetails"]))
        return answer["result"].get("value")


def run_cases(names, run):
    """Runs each, tells which fail and how, and gives the exit status."""
    failed = []
    for name in names:
        try:
            run(name)
            print(f"passed: {name}", flush=True)
        except (AssertionError, RuntimeError, TimeoutError) as error:
            failed.append(name)
            print(f"FAILED: {name}: {error}", flush=True)
    if failed:
        print(f"{len(failed)} of {len(names)} cases failed: {', '.join(failed)}")
    return 1 if failed else 0
