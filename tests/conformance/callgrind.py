"""What valgrind's callgrind says of the same program: an independent count."""

import re
import subprocess
import tempfile
from pathlib import Path


def run(program, function, options=()):
    """The lines of callgrind's output file, collected while `function` (as valgrind names it) runs."""
    with tempfile.TemporaryDirectory() as directory:
        out = Path(directory) / "callgrind.out"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", f"--toggle-collect={function}",
                   *options, str(program)]
        subprocess.run(command, check=True, capture_output=True)
        return out.read_text(encoding="utf-8").splitlines()


def total(program, function):
    """Instructions from the function's entry to its return."""
    for line in run(program, function):
        if line.startswith(("summary:", "totals:")):
            return int(line.split()[1])
    raise ValueError("callgrind wrote no total")


def plain_names(mangled):
    """{mangled: demangled with parameters, without the return type}."""
    names = "\n".join(mangled) + "\n"
    full = subprocess.run(["c++filt"], input=names, capture_output=True, text=True, check=True).stdout.split("\n")
    bare = subprocess.run(["c++filt", "-p"], input=names, capture_output=True, text=True, check=True).stdout.split("\n")
    plain = {}
    for name, with_parameters, without in zip(mangled, full, bare):
        at = with_parameters.find(without + "(")
        plain[name] = with_parameters[at:] if at > 0 else with_parameters
    return plain


def calls(program, function):
    """{function: calls} for the functions of the program itself, called below `function` (a name with parameters)."""
    symbols = subprocess.run(["nm", str(program)], capture_output=True, text=True, check=True).stdout.split("\n")
    mangled = [line.split()[-1] for line in symbols if line]
    wanted = [name for name, plain in plain_names(mangled).items() if plain == function]
    counts, names, objects = {}, {}, {}
    in_program = None
    called = None
    for line in run(program, wanted[0], ["--demangle=no"]):
        if match := re.match(r"^(c?ob|c?fn)=\((\d+)\)(?: (.*))?$", line):
            kind, number, name = match.groups()
            table = objects if kind.endswith("ob") else names
            if name:
                table[number] = name
            if kind == "ob":
                in_program = table[number] == str(program)
            elif kind == "cob":
                called_in_program = table[number] == str(program)
                called = (called_in_program, None)
            elif kind == "cfn":
                called = (called[0] if called else in_program, table[number])
        elif match := re.match(r"^calls=(\d+)", line):
            if called and called[0]:
                counts[called[1].partition("'")[0]] = counts.get(called[1].partition("'")[0], 0) + int(match[1])
            called = None
    plain = plain_names(list(counts))
    result = {}
    for name, count in counts.items():
        if name in ("main", "(below main)"):  # they call the function, they are not below it
            continue
        result[plain[name]] = result.get(plain[name], 0) + count
    return result
