# SPDX-License-Identifier: MIT
"""results_page.py -- a page of docs/results: its head, and what a measurement prints.

A program that measures imports this, and gives what it prints to a Page.
"""
import datetime
import os
import platform
import shlex
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def git(*words):
    """What git prints in this clone; "" without git or without a clone."""
    done = subprocess.run(["git", "-C", ROOT, *words], check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout.strip()


def head(command):
    """Date, commit, machine and command (words) of a measurement that begins now."""
    changed = git("status", "--porcelain", "--", ".", ":!docs", ":!*.md")
    machine = platform.uname()
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": (git("rev-parse", "--short=12", "HEAD") or "not in a git repository")
        + (", with changes that are not committed" if changed else ""),
        "machine": f"{machine.machine}, {machine.system} {machine.release}, {os.cpu_count()} processors",
        "command": shlex.join(command),
    }


def head_lines(facts):
    """The head as a table of Markdown."""
    rows = [f"| {key} | {f'`{value}`' if key == 'command' else value} |" for key, value in facts.items()]
    return ["| | |", "|---|---|", *rows]


class Page:
    """What a measurement says, on the terminal at once and in a file at its end.

    `path` None: only on the terminal.  `told` is the docstring of the program: its paragraphs between the
    first, which is the usage, and the last, which is about the exit status, explain the page.  `more` are rows of the head.
    """

    def __init__(self, path, title, told, command, **more):
        facts = head(command) | more
        facts["load before"] = f"{os.getloadavg()[0]:.1f} threads that computed, average of one minute"
        self.path = path
        self.lines = [f"# {title}", "", *head_lines(facts), "", *told.strip().split("\n\n", 1)[1].rsplit("\n\n", 1)[0].split("\n"), ""]

    def say(self, text=""):
        print(text, flush=True)
        self.lines.append(text)

    def write(self):
        if self.path:
            with open(self.path, "w", encoding="utf-8") as file:
                file.write("\n".join(self.lines).rstrip() + "\n")
