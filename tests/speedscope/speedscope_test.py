"""Opens what flamb writes in speedscope's own page, and compares what speedscope has understood with the collapsed stacks.

usage: speedscope_test.py CHROMIUM WRITE_SAMPLE [CASE...]
"""

import base64
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).parent.parent))
from chromium import Chromium, Page, run_cases

PAGE = pathlib.Path(__file__).with_name("node_modules") / "speedscope/dist/release/index.html"

# What differs from: the sample of the case's name, in the format speedscope, all of its calls weighing something.
CASES = {
    "server": {},
    "server_without_order": {},
    "hard_names": {},
    "merged": {},
    "merged_without_order": {},
    "weightless": {"every_call_weighs": False},
    "deep_3000": {"every_call_weighs": False},
    "wide_20000": {"every_call_weighs": False},
    "empty": {},
    "table": {"sample": "server", "view": "sandwich"},
    "collapsed": {"sample": "server", "format": "collapsed"},
    "perf_script": {"sample": "server", "format": "perf-script"},
    "perf_script_threads": {"sample": "threads", "format": "perf-script"},
}


def write(write_sample, sample, output_format, path):
    subprocess.run([write_sample, sample, output_format, path], check=True)
    return path.read_text(encoding="utf-8")


def open_in_speedscope(chromium, path, view, directory):
    """What read_back.js found: the title, the text and the table of the page, and the file that speedscope exports."""
    script = pathlib.Path(directory, "load.js")
    content = base64.b64encode(path.read_bytes()).decode()
    script.write_text(f"speedscope.loadFileFromBase64({json.dumps(path.name)}, {json.dumps(content)});\n", encoding="utf-8")
    url = f"{PAGE.as_uri()}#localProfilePath={script}" + (f"&view={view}" if view else "")
    with Page(chromium, height=700) as page:
        page.open(url, first=pathlib.Path(__file__).with_name("read_back.js").read_text(encoding="utf-8"))
        result = page.evaluate("readBack")
    assert result["file"] is not None, "speedscope did not load the file; it said:\n" + "\n".join(result["said"])
    return result


def collapsed_name(name):
    """A frame's name as collapsed stacks have it."""
    name = name.replace(";", ":")
    if name.endswith(" [inlined]"):
        return name.removesuffix(" [inlined]") + "_[i]"
    return re.sub(r" (\d+(\.\d*)?)$", r"_\1", name)


def stacks_of_events(file, name=collapsed_name):
    """Weights by stack, of all profiles."""
    frames = [name(frame["name"]) for frame in file["shared"]["frames"]]
    stacks = collections.Counter()
    for profile in file["profiles"]:
        stack, before = [], 0
        for event in profile["events"]:
            if event["at"] > before:
                stacks[";".join(stack)] += event["at"] - before
            before = event["at"]
            stack.append(frames[event["frame"]]) if event["type"] == "O" else stack.pop()
    return stacks


def as_perf_script(name):
    """Without what the format has to change: parentheses, and how inlined frames are marked."""
    name = name.replace("(anonymous namespace)", "{anonymous}").replace("_[i]", "")
    return name.translate(str.maketrans("()", "{}"))


def in_units(stacks, per_unit=1_000_000):
    """One of the unit is a microsecond, and speedscope counts seconds."""
    return collections.Counter({stack: round(weight * per_unit) for stack, weight in stacks.items()})


def stacks_of_collapsed(text):
    stacks = collections.Counter()
    for line in text.splitlines():
        stack, weight = line.rsplit(" ", 1)
        stacks[stack] += int(weight)
    return stacks


def events_by_name(file):
    """What happens in order, for each profile."""
    names = [frame["name"] for frame in file["shared"]["frames"]]
    return [[(event["type"], names[event["frame"]], event["at"]) for event in profile["events"]]
            for profile in file["profiles"]]


def expect_equal(actual, expected, what):
    assert actual == expected, f"{what}:\n  expected {str(expected)[:4000]}\n  actual   {str(actual)[:4000]}"


def expect_same_stacks(actual, expected):
    """Compared by what differs: there may be thousands."""
    wrong = {stack for stack in actual.keys() | expected.keys() if actual[stack] != expected[stack]}
    lines = [f"  expected {expected[stack]}, actual {actual[stack]}: {stack[:500]}" for stack in sorted(wrong)[:10]]
    assert not wrong, f"{len(wrong)} stacks differ:\n" + "\n".join(lines)


def expect_same_profiles(read, written, every_call_weighs):
    expect_equal(read["name"], written["name"], "name")
    for key in "name", "unit", "endValue":
        expect_equal([profile[key] for profile in read["profiles"]],
                     [profile[key] for profile in written["profiles"]], key)
    details = {frame["name"]: (frame.get("file"), frame.get("line")) for frame in written["shared"]["frames"]}
    for frame in read["shared"]["frames"]:
        expect_equal((frame.get("file"), frame.get("line")), details[frame["name"]], f"place of {frame['name'][:200]}")
    # speedscope shows no call that weighs nothing, so those in `written` are more.
    if every_call_weighs and all(profile["type"] == "evented" for profile in written["profiles"]):
        expect_equal(events_by_name(read), events_by_name(written), "calls in order")


def check_table(result, collapsed):
    """The sandwich view lists the functions, each with its total and self weight."""
    rows = {row[2].strip(): row[:2] for row in result["table"] if len(row) == 3}
    expect_equal(rows.get("deflate"), ["9,000 (12%)", "9,000 (12%)"], f"row of deflate in {rows}")
    whole = f"{sum(collapsed.values()):,} (100%)"
    expect_equal(rows.get("app::serve(app::Request const&)"), [whole, "1,200 (1.6%)"], f"row of the trigger in {rows}")


def run_case(chromium, write_sample, name):
    case = CASES[name]
    sample, output_format = case.get("sample", name), case.get("format", "speedscope")
    with tempfile.TemporaryDirectory() as directory:
        extension = {"speedscope": "speedscope.json"}.get(output_format, output_format)
        path = pathlib.Path(directory, f"serve-20261201T084548.762394-1.{extension}")
        text = write(write_sample, sample, output_format, path)
        collapsed = stacks_of_collapsed(write(write_sample, sample, "collapsed", pathlib.Path(directory, "collapsed")))
        result = open_in_speedscope(chromium, path, case.get("view"), directory)
    if output_format == "speedscope":
        written = json.loads(text)
        expect_equal(result["title"], f"{written['name']} - speedscope", "title of the page")
        expect_same_profiles(result["file"], written, case.get("every_call_weighs", True))
        expect_same_stacks(stacks_of_events(result["file"]), collapsed)
        shown = written["profiles"][0]["name"]
        assert shown in result["text"], f"text of the page:\n  expected in it {shown}\n  actual {result['text']}"
    elif output_format == "perf-script":
        expect_same_stacks(in_units(stacks_of_events(result["file"], name=as_perf_script)),
                           in_units({as_perf_script(stack): weight for stack, weight in collapsed.items()}, 1))
    else:
        expect_same_stacks(stacks_of_events(result["file"], name=str), collapsed)
    if name == "table":
        check_table(result, collapsed)


def main():
    program, write_sample, *names = sys.argv[1:]
    if not PAGE.exists():
        sys.exit("speedscope is not installed: run `npm ci` in tests/speedscope")
    with Chromium(program, "--enable-unsafe-swiftshader") as chromium:
        return run_cases(names or CASES, lambda name: run_case(chromium, write_sample, name))


if __name__ == "__main__":
    sys.exit(main())
