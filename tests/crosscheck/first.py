# SPDX-License-Identifier: MIT
"""first.py -- the first judge, `seckill check`, asked about one history."""
import json
import os
import subprocess
import tempfile


class Broken(Exception):
    """The first judge gave no verdict: its history, and its output."""


class First:
    """Asks `seckill check` for one verdict after another; close() removes the file of the history."""

    def __init__(self, program):
        self.program = program
        handle, self.path = tempfile.mkstemp(prefix="seckill-crosscheck-")
        os.close(handle)

    def close(self):
        if os.path.exists(self.path):
            os.remove(self.path)

    def judge(self, history):
        """{property: verdict}, with "overall"; properties that the lock does not promise are missing."""
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(history.text())
        done = subprocess.run([self.program, "check", "--json", self.path],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=False)
        try:
            told = json.loads(done.stdout)
            verdicts = {f["property"]: f["verdict"] for f in told["findings"]
                        if f["claimed"]}
            verdicts["overall"] = told["verdict"]
        except (ValueError, KeyError) as error:
            raise Broken(f"exit {done.returncode}: "
                         f"{done.stderr.decode(errors='replace').strip()}") from error
        return verdicts
