#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""size.py weight | check | shrink -- the sizes of the tree, which tools/budget.def limits.

weight prints files, lines and bytes of every directory, and how far it is from its budget. check
(a part of `make lint`) names what is larger than tools/budget.def allows, and each number there
that the tree no longer needs. shrink lowers these numbers.

Exit: 0 everything keeps its limit, 1 something does not.
"""
import ast
import collections
import pathlib
import re
import subprocess
import sys

LIMITS = pathlib.Path("tools/budget.def")
COLUMNS = 100
FUNCTION_LINES = 60
LONG_FUNCTIONS = 10
PROGRAM = ("app/", "base/", "db/", "lock/", "loadtest/")


def git_files(*options):
    names = subprocess.check_output(["git", "ls-files", "-z", *options], text=True)
    return sorted(name for name in set(names.split("\0")) if pathlib.Path(name).is_file())


def text_of(name):
    return pathlib.Path(name).read_text(encoding="utf-8", errors="replace")


def rows(kind):
    """The rows of one kind in the list of limits, as lists of words."""
    lines = (line.split() for line in text_of(LIMITS).splitlines())
    return [words[1:] for words in lines if words and words[0] == kind]


def language(name):
    kind = pathlib.Path(name).suffix
    if kind in (".c", ".h", ".py", ".sh", ".js", ".sql", ".lua", ".java"):
        return kind
    return ".sh" if not kind and text_of(name).startswith("#!/bin/bash") else ""


def directory_sizes():
    """Files, lines and bytes by row of the list: a row `db+lua` counts two directories."""
    row_of = {part: row[0] for row in rows("directory") for part in row[0].split("+")}
    sizes = collections.defaultdict(lambda: [0, 0, 0])
    for name in git_files():
        content = pathlib.Path(name).read_bytes()
        top = name.split("/")[0] if "/" in name else "root"
        row = row_of.get(top, "root")
        for i, count in enumerate((1, content.count(b"\n"), len(content))):
            sizes[row][i] += count
    return sizes


def weight():
    form = "{:<10} {:>6} {:>8} {:>10} {:>8} {:>8} {:>8}"
    print(form.format("directory", "files", "lines", "bytes", "limit", "budget", "over"))
    total = [0] * 6
    sizes = directory_sizes()
    for name, _, limit, budget in rows("directory"):
        files, lines, size = sizes[name]
        row = (files, lines, size, int(limit), int(budget), lines - int(budget))
        total = [a + b for a, b in zip(total, row)]
        print(form.format(name, *row))
    print(form.format("all", *total))


def c_functions(text):
    """Name and lines of each function: its body's braces each begin a line."""
    name, start = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        head = re.match(r"[A-Za-z_][^(;=]*?(\w+)\(", line)
        if line.startswith("{"):
            start = number - 1
        elif line.startswith("}") and start:
            yield name, number - start + 1
            name, start = "", 0
        elif head and not start and not line.rstrip().endswith(";"):
            name = head[1]


def shell_functions(text):
    name, start = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        head = re.match(r"(\w+)\(\) [{(]$", line)
        if head:
            name, start = head[1], number
        elif line in ("}", ")") and start:
            yield name, number - start + 1
            start = 0


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.end_lineno - node.lineno + 1


FUNCTIONS = {".c": c_functions, ".h": c_functions, ".java": c_functions, ".lua": c_functions,
             ".sh": shell_functions, ".py": python_functions}


def functions(name):
    kind = language(name)
    return FUNCTIONS[kind](text_of(name)) if kind in FUNCTIONS else ()


def directories_over():
    sizes = directory_sizes()
    for name, _, limit, _ in rows("directory"):
        if sizes[name][1] > int(limit):
            yield f"{name}: {sizes[name][1]} lines; its limit is {limit}"


def functions_over(files):
    excused = {(row[0], row[1]): row[2:] for row in rows("function")}
    if len(excused) > LONG_FUNCTIONS:
        yield f"{LIMITS}: {len(excused)} exceptions for functions; {LONG_FUNCTIONS} are the most"
    long = {(file, name): lines for file in files for name, lines in functions(file)
            if lines > FUNCTION_LINES}
    for place, lines in long.items():
        if not excused.get(place):
            yield f"{place[0]}: {place[1]} has {lines} lines; {FUNCTION_LINES} are the most"
    for place in excused.keys() - long.keys():
        yield f"{LIMITS}: function {place[0]} {place[1]}: it is no longer needed"


def long_lines(files):
    """How many lines are too long, by file."""
    counts = ((name, sum(len(line) > COLUMNS for line in text_of(name).splitlines()))
              for name in files if language(name))
    return {name: count for name, count in counts if count}


def lines_over(files):
    allowed = {name: int(count) for name, count in rows("long")}
    found = long_lines(files)
    for name in sorted(found.keys() | allowed.keys()):
        most = 0 if name.endswith((".c", ".h")) else allowed.get(name, 0)
        if found.get(name, 0) > most:
            yield f"{name}: {found[name]} lines of more than {COLUMNS} columns; {most} are allowed"
        if found.get(name, 0) < allowed.get(name, 0):
            yield f"{LIMITS}: long {name}: {found.get(name, 0)} are left; run tools/size.py shrink"


def shared_names(files):
    """The number of the program's C functions whose name another file defines too."""
    places = collections.defaultdict(set)
    for file in files:
        if file.startswith(PROGRAM) and language(file) in (".c", ".h"):
            for name, _ in functions(file):
                places[name].add(file)
    return sum(len(at) for at in places.values() if len(at) > 1)


def names_over(files):
    most, found = int(rows("shared-names")[0][0]), shared_names(files)
    if found > most:
        yield f"{found} functions have a name that another file defines too; {most} are allowed"
    if found < most:
        yield f"{LIMITS}: shared-names: {found} are left; run tools/size.py shrink"


def check():
    files = git_files("-co", "--exclude-standard")
    complaints = [*directories_over(), *functions_over(files), *lines_over(files),
                  *names_over(files)]
    for complaint in complaints:
        print(f"size: {complaint}")
    return len(complaints) > 0


def shrink():
    files = git_files("-co", "--exclude-standard")
    found = long_lines(files)
    kept = []
    for line in text_of(LIMITS).splitlines():
        words = line.split()
        if words and words[0] == "long":
            count = min(int(words[2]), found.get(words[1], 0))
            line = f"long {words[1]} {count}" if count else None
        elif words and words[0] == "shared-names":
            line = f"shared-names {min(int(words[1]), shared_names(files))}"
        if line is not None:
            kept.append(line)
    LIMITS.write_text("\n".join(kept) + "\n", encoding="utf-8")


if __name__ == "__main__":
    modes = {"weight": weight, "check": check, "shrink": shrink}
    if sys.argv[1:] not in [[mode] for mode in modes]:
        sys.exit(__doc__)
    sys.exit(modes[sys.argv[1]]())
