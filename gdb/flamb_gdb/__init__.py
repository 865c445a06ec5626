"""flamb for scripts in GDB.

    import flamb_gdb

    paths = flamb_gdb.capture("parse_request", 3, output_format="svg")
    value = flamb_gdb.apply("checksum(buffer, 64)")
    graph = flamb_gdb.apply("checksum(buffer, 64)", returns="flamegraph", output_format="text")

Options are those of the commands (`help flamb capture`), with underscores: --max-depth 5 is max_depth=5, --merge is
merge=True, a list is a list or its parts between commas. --return is `returns`. What fails raises gdb.GdbError.
"""

from typing import Iterable, List, Optional, Union

import gdb

from .session import Made, run
from .values import IN_HISTORY

__all__ = ["apply", "capture"]

Option = Union[None, bool, int, float, str, Iterable[str]]


def capture(
    function: str,
    count: int = 1,
    *,
    output_format: Union[str, Iterable[str]] = "collapsed",
    output_directory: Optional[str] = None,
    returns: str = "filename",
    **options: Option,
) -> list:
    """Waits for the next invocations of a function and makes a flame graph of each, in order of entry.

    Returns a list: of the paths that were written, with returns="value" of the function's values (as `apply` returns
    them), with returns="flamegraph" of the graphs themselves.
    """
    words = _options(output_format=output_format, output_directory=output_directory, returns=returns, **options)
    made = run(" ".join(["capture", *words, _quoted(function), str(count)]), quiet=True)
    return _chosen(made, returns)


def apply(expression: str, *, returns: str = "value", **options: Option):
    """Evaluates an expression and makes a flame graph of all that it calls.

    Returns its value: a gdb.Value, None for void. With returns="filename" the path that was written, with
    returns="flamegraph" the graph itself; a list of them if there are several formats.
    """
    words = _options(returns=returns, **options)
    chosen = _chosen(run(" ".join(["apply", *words, "--", expression]), quiet=True), returns)
    if len(chosen) > 1:
        return chosen
    return chosen[0] if chosen else None


def _chosen(made: Made, returns: str) -> list:
    if returns == "value":
        return [_value(text) for text in made.values]
    return made.data if returns == "flamegraph" else made.files


def _value(text: str) -> Union["gdb.Value", str, None]:
    """The value that GDB printed, out of its history; None for void."""
    printed = IN_HISTORY.match(text)
    if printed:
        return gdb.history(int(printed.group(1)))
    return text or None


def _options(**options: Option) -> List[str]:
    words = []
    for name, value in options.items():
        option = "--" + ("return" if name == "returns" else name.replace("_", "-"))
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            words.append(f"{option}={_quoted(_text(value))}")
    return words


def _text(value: Option) -> str:
    if isinstance(value, (str, int)):
        return str(value)
    if isinstance(value, float):
        return f"{value:f}"
    return ",".join(value)


def _quoted(word: str) -> str:
    """One word of the command line, whatever is in it."""
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
