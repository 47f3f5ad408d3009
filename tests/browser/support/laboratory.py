# SPDX-License-Identifier: MIT
"""laboratory.py -- a laboratory of the test's own with `seckill show` in it, and TAP."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SECKILL = os.path.join(ROOT, "build", "seckill")
PATIENCE_S = 180  # as long as the slowest machine may need


def end_as_asked(*_):
    """On SIGTERM, end the browser and the laboratory before the test."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(143)


signal.signal(signal.SIGTERM, end_as_asked)


def soon(what, condition):
    """Repeat until the condition holds, and return its value.  An AssertionError names the awaited state."""
    deadline = time.monotonic() + PATIENCE_S
    answer = None
    while time.monotonic() < deadline:
        answer = condition()
        if answer:
            return answer
        time.sleep(0.05)
    raise AssertionError(f"waited {PATIENCE_S} s in vain: {what}")


class Show:
    """`seckill show` with a lab of its own, in a directory that goes away with it."""

    def __init__(self, *flags, program=SECKILL, lab=()):
        """`lab`: the flags of a lab that is there before."""
        self.directory = tempfile.mkdtemp(prefix="seckill-browser-")
        self.lab = os.path.join(self.directory, "lab")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("SECKILL_") or k == "SECKILL_LAB_DATA"}
        self.errors = open(os.path.join(self.directory, "errors"), "w+", encoding="utf-8")
        if lab:
            subprocess.run([program, "lab", "up", "--dir", self.lab, *lab], env=environment,
                           stdout=self.errors, check=True)
        self.process = subprocess.Popen(
            [program, "show", "--dir", self.lab, "--out", self.directory, *flags],
            stdout=subprocess.PIPE, stderr=self.errors, text=True, env=environment)
        line = self.process.stdout.readline()
        found = re.match(r"open +((http://\S+?)/#token=(\w+))", line)
        if not found:
            self.errors.seek(0)
            raise AssertionError(f"it printed {line!r}, and {self.errors.read()}")
        self.address, self.base, self.token = found.groups()

    def ask(self, path, body=None, headers=None, method=None):
        """Send a request without the browser.  Return (status, JSON)."""
        if headers is None:
            headers = {"Authorization": "Bearer " + self.token}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data=data, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"null")

    def state(self):
        return self.ask("/api/state")[1]

    def wait_begun(self, before):
        """The state of the sale that was begun after the state `before`.  The number of the sale tells it from
        the one before, and a sale may have ended before a busy machine looks."""
        def begun():
            now = self.state()
            is_other = before["phase"] == "ready" or now["run"]["id"] > before["run"]["id"]
            return now if is_other and now["phase"] in ("running", "ended", "failed") else None
        state = soon("the sale has begun", begun)
        assert state["phase"] != "failed", state["run"]
        return state

    def sql(self, text):
        """The first line that psql prints for it, in the lab's database."""
        script = '. "$0"; exec psql -XAtq "$SECKILL_LAB_DATABASE_URL" -c "$1"'
        done = subprocess.run(["sh", "-c", script, os.path.join(self.lab, "env"), text],
                              capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def orders(self):
        return int(self.sql(f"SELECT count(*) FROM tb_voucher_order WHERE voucher_id = {self.state()['run']['voucher']}"))

    def stop(self, number=signal.SIGINT):
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(timeout=PATIENCE_S)

    def close(self):
        try:
            self.stop()
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if os.path.exists(os.path.join(self.lab, "state.json")):
            subprocess.run([SECKILL, "lab", "down", "--dir", self.lab], capture_output=True, check=False)
        self.errors.close()
        shutil.rmtree(self.directory, ignore_errors=True)


class Tap:
    """The results, as tests/run reads them."""

    def __init__(self, count):
        self.count, self.number, self.failed = count, 0, 0
        print(f"1..{count}", flush=True)

    def check(self, name, function):
        self.number += 1
        try:
            function()
        except Exception as error:  # a browser that has gone is a failure of this check, too
            for line in (str(error) or repr(error)).splitlines():
                print(f"# {line}")
            self.failed += 1
            print(f"not ok {self.number} - {name}", flush=True)
        else:
            print(f"ok {self.number} - {name}", flush=True)

    def end(self):
        sys.exit(1 if self.failed or self.number != self.count else 0)
