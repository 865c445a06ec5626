"""Compares what flamb wrote with what a case expects."""

import re

import case_file

PLACEHOLDERS = {"@hex@": "[0-9a-f]+", "@any@": ".*", "@long@": "(?:long_name_){5,1000}[.…]*"}


def read_collapsed(text):
    """Collapsed stacks as {stack: weight}. ValueError: a line is not `STACK WEIGHT`, or a stack is given twice."""
    tree = {}
    for line in text.splitlines():
        stack, space, weight = line.rpartition(" ")
        if not space or not weight.isdigit() or not stack:
            raise ValueError(f"not a collapsed line: {line!r}")
        if stack in tree:
            raise ValueError(f"a stack is given twice: {stack!r}")
        tree[stack] = int(weight)
    return tree


def pattern(stack):
    parts = re.split("(" + "|".join(PLACEHOLDERS) + ")", stack)
    return re.compile("".join(PLACEHOLDERS.get(part) or re.escape(part) for part in parts))


def matches(line, stack, weight):
    if line.weight is not None and line.weight != weight:
        return False
    if "@" not in line.stack:
        return line.stack == stack
    return pattern(line.stack).fullmatch(stack) is not None


def difference(expectation, tree, facts):
    """The readable difference between an expected tree and {stack: weight}; empty when they agree."""
    lines = [line for line in expectation.lines if case_file.holds(line.condition, facts)]
    left = dict(tree)
    missing = []
    # Exact stacks first, so that a placeholder does not take what another line names.
    for line in sorted(lines, key=lambda line: "@" in line.stack):
        found = next((stack for stack, weight in left.items() if matches(line, stack, weight)), None)
        if found is not None:
            del left[found]
        elif not line.optional:
            missing.append(line)
    if expectation.open_ended:
        left = {}
    if not missing and not left:
        return ""
    shown = ["the tree differs:  - expected   + actual"]
    shown += [f"  - {line.stack} {'*' if line.weight is None else line.weight}" for line in missing]
    shown += [f"  + {stack} {weight}" for stack, weight in left.items()]
    shown.append("all of the actual tree:")
    shown += [f"    {stack} {weight}" for stack, weight in list(tree.items())[:100]]
    return "\n".join(shown)


def calls_by_function(tree):
    """How often each function was called, from a tree in the unit calls."""
    calls = {}
    for stack, weight in tree.items():
        function = stack.rpartition(";")[2]
        calls[function] = calls.get(function, 0) + weight
    return calls
