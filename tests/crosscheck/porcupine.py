# SPDX-License-Identifier: MIT
"""porcupine.py -- compares the published Porcupine with both judges.

Porcupine decides whether any order of the calls of a lock explains their answers.  Its model
(porcupine/model.go) has owners, levels of re-entry, readers and fences.  Its verdict is therefore
compared with whether each judge finds a violation of any of RULES.

Some histories are left out, because the model does not cover them: primitives; locks with a queue
or with several stores; records with gaps; news of a loss; grants that were answered too late;
renewals without an answer; calls of one owner that overlap; two calls of one owner that meet at an
instant that has an event of another owner.
"""
import json
import os
import subprocess

from history import NEVER
from lock import SLACK, Lock
from primitives import page_of

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "porcupine")
RULES = ("exclusion", "ownership", "kept", "reentry", "fence", "refusal")
_LAST = 1 << 62


class Missing(Exception):
    """The reason for which Go or the module of Porcupine is not available."""


def build(folder):
    """Build the Go program with the module of Porcupine from Go's module proxy; return its path."""
    program = os.path.join(folder, "porcupine")
    os.makedirs(folder, exist_ok=True)
    try:
        done = subprocess.run(["go", "build", "-o", program, "."], cwd=HERE, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except FileNotFoundError as error:
        raise Missing("the command go is missing; install it with: tools/deps.sh peers") from error
    if done.returncode != 0:
        raise Missing(done.stdout.decode(errors="replace").strip())
    return program


def _is_touching(lock):
    """Do two calls of one owner meet at an instant that also has an event of another owner?"""
    events = {}
    for call in lock.calls:
        for at in {call.invoke, call.answer}:
            events.setdefault(at, set()).add(call.who)
    return any(lock.after[i] and len(events[call.invoke]) > 1
               for i, call in enumerate(lock.calls))


def is_in_scope(history):
    if history.is_damaged or any(m.kind == "lost" for m in history.marks):
        return False
    for process in history.processes.values():
        if process.dropped is not None or process.caps & {"fair", "quorum"} or \
                process.variant == "multi":
            return False
    for name in history.names():
        lock = Lock(history, name)
        if page_of(lock.calls):
            return False
        if lock.overlapping() or _is_touching(lock) or any(
                c.kind == "renew" and lock.is_open[i] or
                c.kind == "acquire" and c.status == "timeout" and c.until is not None
                for i, c in enumerate(lock.calls)):
            return False
    return True


class Translation:
    """The operations of one lock.  The instant t is written as 4 t, which leaves room for
    operations between two instants."""

    def __init__(self, lock):
        self.lock, self.operations = lock, []
        self.owners = sorted({c.who for c in lock.calls})
        for i, call in enumerate(lock.calls):
            self.add_call(i, call)
        self.add("end", None, _LAST, _LAST)

    def add(self, kind, i, begin, end, **more):
        operation = {"Kind": kind, "From": begin, "To": end}
        if i is not None:
            call = self.lock.calls[i]
            operation.update(
                Who=self.owners.index(call.who), Call=i, Shared=call.mode != "",
                Begun=self.lock.begun.get(i, -1), Level=call.level, Fence=call.fence,
                Until=call.deadline if call.status == "ok" else 0,
                Status=self.lock.status[i] or "")
        operation.update(more)
        self.operations.append(operation)

    def add_call(self, i, call):
        lock = self.lock
        begin = 4 * call.invoke + (1 if lock.after[i] else 0)
        if call.kind == "abandon":
            return
        if not lock.is_open[i]:
            if lock.status[i] in ("io", "invalid", "unsupported", "nomem"):
                return
            self.add(call.kind, i, begin, max(begin, 4 * call.answer))
            if lock.status[i] == "ok" and call.kind != "release" and i in lock.begun:
                self.add_ends(i, call)
        elif call.kind == "release":
            if i in lock.begun:
                self.add("release", i, begin, _LAST - 1, Status="")
        elif call.kind == "acquire":
            self.add_ghost(i, call, begin)

    def add_ghost(self, i, call, begin):
        until = _LAST - 1
        lease = self.lock.process_of(call).lease
        if self.lock.caps >= {"expires", "atomic"} and lease > 0:
            until = 4 * (self.lock.ends_at(call) + lease + SLACK) + 2
        self.add("ghost", i, begin, until)
        self.add("gone", i, begin, until)

    def add_ends(self, i, call):
        """Add the operations by which a hold may end without a call after a grant or a renewal."""
        lock, begun = self.lock, self.lock.begun[i]
        over = min([c.answer for j, c in enumerate(lock.calls)
                    if lock.begun.get(j) == begun and j != begun
                    and c.answer >= min(call.deadline, NEVER - 1)
                    and lock.status[j] in ("ok", "lost") and c.kind != "abandon"],
                   default=NEVER)
        over = _LAST - 1 if over == NEVER else 4 * over
        if call.deadline < NEVER:
            self.add("expire", i, 4 * call.deadline, max(over, 4 * call.deadline),
                     Until=call.deadline)
            late = 4 * (max(c.lasting for j, c in enumerate(lock.calls[:i + 1])
                            if lock.begun.get(j) == begun and c.status == "ok"
                            and c.kind != "release") + SLACK) + 2
            self.add("stale", i, late, late, Until=call.deadline)
        if call.kind == "acquire" and begun == i and "expires" not in lock.caps:
            last = lock.last_of(call.process)  # the session lasts at least until then
            self.add("dead", i, 4 * last + 2, _LAST - 1)


def translate(history):
    """Yield an object for the JSON line of each lock, without its number."""
    for name in history.names():
        lock = Lock(history, name)
        yield {"Caps": sorted(lock.caps), "Operations": Translation(lock).operations}


def ask(program, histories):
    """Return for each history "Ok", "Unknown" or "Illegal": the worst verdict of its locks."""
    lines, owner = [], []
    for i, history in enumerate(histories):
        for lock in translate(history):
            lock["Number"] = len(owner)
            owner.append(i)
            lines.append(json.dumps(lock))
    done = subprocess.run([program], input="\n".join(lines).encode() + b"\n",
                          stdout=subprocess.PIPE, check=True)
    order = ("Ok", "Unknown", "Illegal")
    verdicts = ["Ok"] * len(histories)
    for line in done.stdout.decode().splitlines():
        number, verdict = line.split()
        i = owner[int(number)]
        verdicts[i] = max(verdicts[i], verdict, key=order.index)
    return verdicts
