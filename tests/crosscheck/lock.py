# SPDX-License-Identifier: MIT
"""lock.py -- one lock of a history: its calls in order, and what is known of them before
any search.

A hold is made of the calls of one owner in one mode: the acquire that began it, the
acquires that entered it again, and as many releases.  A release without an answer is a
release; the library sends none twice.
"""
import history

SLACK = 50       # ms that a store may keep a lock beyond what was promised
TICK = 2000      # ms between the ticks of ZooKeeper's servers, at which sessions end
# Statuses of calls that may have been executed, and of calls that were not.
OPEN = {"acquire": frozenset((None, "unknown", "protocol", "cancelled")),
        "release": frozenset((None, "unknown", "protocol", "io")),
        "renew": frozenset((None, "unknown", "protocol", "io")),
        "abandon": frozenset()}
QUIET = frozenset(("io", "invalid", "unsupported", "nomem"))


class Lock:
    """Indices are those of `calls`."""

    def __init__(self, source, name):
        self.history, self.name = source, name
        self.end = source.end
        self.calls = sorted((c for c in source.calls
                             if c.name == name and c.invoke < self.end),
                            key=lambda c: (c.invoke, c.answer))
        self.marks = [m for m in source.marks if m.name == name and m.at < self.end]
        claims = [source.processes[c.process].caps for c in self.calls]
        self.caps = frozenset.intersection(*claims) if claims else frozenset()
        self.is_divided = "quorum" in self.caps or any(
            source.processes[c.process].variant in ("redlock", "multi")
            for c in self.calls)
        self.is_reentrant = "reentrant" in self.caps
        self.status = [self._status(c) for c in self.calls]
        self.last = {}  # of each process: when it last gave a sign of life
        self._note_life()
        self.begun = {}  # call -> the acquire that began its hold
        self.works = {}  # that acquire -> until when its owner is known to work
        self.seen = {}   # and when it last asked, and was told that it still has the lock
        self.abandoned = set()  # acquires whose holds were abandoned
        self.told_at = {}  # and when a call of its was first told that it is lost
        self.is_open = [s in OPEN.get(c.kind, ()) for c, s in zip(self.calls, self.status)]
        self.inner = set()    # releases of a level that was not the last
        self.unanswered = {}  # acquire -> calls of its hold that may have been executed
        self._follow_owners()
        self.queued = self._queue()
        self.ambiguous = {i for i, c in enumerate(self.calls) if c.kind == "renew"
                          and any(self._is_new_during(j, c) for j in self.begun)}
        self.told_lost = sorted((m.at, m.who) for m in self.marks if m.kind == "lost")
        self.after = [self._after(i) for i in range(len(self.calls))]

    def _status(self, call):
        """The answer of the call, as far as the records are whole."""
        return call.status if call.answer < self.end else None

    def _note_life(self):
        for call in self.history.calls:
            for at in (call.invoke, call.answer):
                if at != history.NEVER:
                    self.last[call.process] = max(at, self.last.get(call.process, 0))
        for mark in self.history.marks:
            self.last[mark.process] = max(mark.at, self.last.get(mark.process, 0))

    def _follow_owners(self):
        inside = {}  # (who, mode) -> [acquire that began it, depth, promised until when]
        for i, call in enumerate(self.calls):
            key = (call.who, call.mode)
            if call.kind == "acquire" and self.status[i] == "ok":
                if self._is_entered_again(call, inside.get(key)):
                    inside[key][1] += 1
                    inside[key][2] = max(inside[key][2], call.deadline)
                else:
                    inside[key] = [i, 1, call.deadline]
                self.begun[i] = inside[key][0]
            elif key in inside:
                self._follow(i, call, inside, key)

    def _is_entered_again(self, call, hold):
        """Where no level is said, it was if the lease had not ended."""
        if hold is None or not self.is_reentrant:
            return False
        return call.level > 1 or call.level == 0 and hold[2] > call.invoke

    def _follow(self, i, call, inside, key):
        self.begun[i] = inside[key][0]
        if self.status[i] == "ok" and call.kind != "abandon":
            self.seen[inside[key][0]] = call.invoke
        if self.status[i] == "lost":
            told = self.told_at.get(inside[key][0], call.answer)
            self.told_at[inside[key][0]] = min(told, call.answer)
        if self.status[i] == "ok" and call.kind == "renew":
            inside[key][2] = max(inside[key][2], call.deadline)
        if self.is_open[i]:
            self.unanswered.setdefault(inside[key][0], []).append(i)
        if call.kind == "release":
            inside[key][1] -= 1
            if inside[key][1] > 0:
                self.inner.add(i)
        if call.kind == "abandon":
            self.abandoned.add(inside[key][0])
        if call.kind in ("release", "abandon"):
            self.works[inside[key][0]] = call.invoke
        if call.kind == "abandon" or inside[key][1] == 0:
            del inside[key]

    def _is_new_during(self, j, renewal):
        """Did call j begin a hold of the same owner while the renewal was under way?"""
        call = self.calls[j]
        return (self.begun[j] == j and (call.who, call.mode) == (renewal.who, renewal.mode)
                and call.answer > renewal.invoke and call.invoke < renewal.answer)

    def _queue(self):
        """call -> [(since when it is known to wait, when it gave its place up)]"""
        queued = {}
        for mark in sorted(self.marks, key=lambda m: m.at):
            for i, call in enumerate(self.calls):
                if (mark.kind == "wait" and call.kind == "acquire"
                        and call.who == mark.who
                        and call.invoke <= mark.at <= call.answer):
                    stays = queued.setdefault(i, [])
                    waits = stays and stays[-1][1] == history.NEVER
                    if mark.given_up and waits:
                        stays[-1] = (stays[-1][0], mark.at)
                    elif not mark.given_up and not waits:
                        stays.append((mark.at, history.NEVER))
        return queued

    def _after(self, i):
        """Calls of the same owner that touch this one and came before it.  The watchdog's
        renewals are made beside the owner's calls, once it has the lock."""
        call = self.calls[i]
        kinds = ("acquire",) if call.kind == "renew" else ("acquire", "release")
        return [j for j, c in enumerate(self.calls[:i])
                if c.who == call.who and c.answer == call.invoke and c.kind in kinds
                and not self.is_open[j]]

    def process_of(self, call):
        return self.history.processes[call.process]

    def lingers(self, call):
        """How much longer than its process the session of this call may last."""
        process = self.process_of(call)
        if not process.variant.startswith("zk-"):
            return 0  # the connection ends with the process
        return max(process.lease, 2 * TICK) + TICK

    def ends_at(self, call):
        """Until when a request of this call without an answer may be executed."""
        process = self.process_of(call)
        if call.answer < self.end and call.answer != history.NEVER:
            return call.answer
        return process.killed if process.killed is not None else \
            self.last[call.process]

    def has_ties(self):
        """Was a call made at the very instant at which another was answered, or a wait was
        recorded?  Or did a process, with which its session ends, give its last sign of
        life at the instant of another's call?"""
        known = {since for stays in self.queued.values() for since, _ in stays}
        if any(call.invoke in known or call.invoke == other.answer
               for call in self.calls for other in self.calls if call is not other):
            return True
        return "expires" not in self.caps and any(
            self.last_of(other.process) in (call.invoke, call.answer)
            for call in self.calls for other in self.calls
            if other.process != call.process)

    def last_of(self, process):
        """When it surely lived last: its session did then."""
        killed = self.history.processes[process].killed
        return self.last[process] if killed is None else killed

    def overlapping(self):
        """Do calls of one owner, other than renewals, overlap in time?"""
        until = {}
        for call in self.calls:
            if call.kind == "renew":
                continue
            if call.invoke < until.get(call.who, -1):
                return True
            until[call.who] = max(until.get(call.who, -1), call.answer)
        return False


def conflict(mode, other):
    """Readers share; anybody else excludes and is excluded."""
    return not (mode and other)
