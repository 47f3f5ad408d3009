# SPDX-License-Identifier: MIT
"""lock.py -- one lock of a history: its calls in order, and the facts that need no search.

A hold consists of calls of one owner in one mode: the acquire that began the hold, the acquires of
further levels, and as many releases.  A release without an answer ends a level as any other
release does.
"""
import history

SLACK = 50       # ms for which a store may keep a lock beyond the promised end
TICK = 2000      # ms between the ticks of ZooKeeper's servers, at which sessions end
# OPEN: the statuses with which the store may have executed the call, or not.  QUIET: the statuses
# of calls that the store did not execute; OPEN takes precedence, as for `io` of a release.
OPEN = {"acquire": frozenset((None, "unknown", "protocol", "cancelled")),
        "release": frozenset((None, "unknown", "protocol", "io")),
        "renew": frozenset((None, "unknown", "protocol", "io")),
        "abandon": frozenset()}
QUIET = frozenset(("io", "invalid", "unsupported", "nomem"))


class Lock:
    """The calls of one name.  All indices are those of `calls`."""

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
        self.last = {}  # process -> the instant of its last call, answer or mark
        self._note_life()
        self.begun = {}  # call -> the acquire that began its hold
        self.works = {}  # that acquire -> the instant at which its owner ends its work
        self.seen = {}   # that acquire -> when the owner sent the last call answered `ok`
        self.abandoned = set()  # acquires whose holds were abandoned
        self.told_at = {}  # that acquire -> the first answer `lost` to a call of its hold
        self.is_open = [s in OPEN.get(c.kind, ()) for c, s in zip(self.calls, self.status)]
        self.inner = set()    # releases of a level above the first
        self.unanswered = {}  # acquire -> calls of its hold that may have been executed
        self._follow_owners()
        self.queued = self._queue()
        self.ambiguous = {i for i, c in enumerate(self.calls) if c.kind == "renew"
                          and any(self._is_new_during(j, c) for j in self.begun)}
        self.told_lost = sorted((m.at, m.who) for m in self.marks if m.kind == "lost")
        self.after = [self._after(i) for i in range(len(self.calls))]

    def _status(self, call):
        """Return the status of the call, or None if the records end before its answer."""
        return call.status if call.answer < self.end else None

    def _note_life(self):
        for call in self.history.calls:
            for at in (call.invoke, call.answer):
                if at != history.NEVER:
                    self.last[call.process] = max(at, self.last.get(call.process, 0))
        for mark in self.history.marks:
            self.last[mark.process] = max(mark.at, self.last.get(mark.process, 0))

    def _follow_owners(self):
        inside = {}  # (who, mode) -> [first acquire, number of levels, promised end]
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
        """Is the grant a further level of the hold?  If the record has no level, the grant is a
        further level if the lease had not ended."""
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
        """Did call j begin a hold of the same owner while the renewal was in progress?"""
        call = self.calls[j]
        return (self.begun[j] == j and (call.who, call.mode) == (renewal.who, renewal.mode)
                and call.answer > renewal.invoke and call.invoke < renewal.answer)

    def _queue(self):
        """Return {call: [(the instant of its mark `wait`, the instant at which it gave up)]}."""
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
        """Return the earlier calls of the same owner that were answered at the instant of this
        call.  The watchdog renews concurrently with the owner's calls, so a renewal comes only
        after an acquire."""
        call = self.calls[i]
        kinds = ("acquire",) if call.kind == "renew" else ("acquire", "release")
        return [j for j, c in enumerate(self.calls[:i])
                if c.who == call.who and c.answer == call.invoke and c.kind in kinds
                and not self.is_open[j]]

    def process_of(self, call):
        return self.history.processes[call.process]

    def lingers(self, call):
        """Return for how many ms the session of this call may outlast its process."""
        process = self.process_of(call)
        if not process.variant.startswith("zk-"):
            return 0  # the connection ends with the process
        return max(process.lease, 2 * TICK) + TICK

    def ends_at(self, call):
        """Return the last instant at which a request of this call may be executed."""
        process = self.process_of(call)
        if call.answer < self.end and call.answer != history.NEVER:
            return call.answer
        return process.killed if process.killed is not None else \
            self.last[call.process]

    def has_ties(self):
        """Do two events of the same instant have an unknown order?  Such events are a call and
        an answer to another call, a call and a mark `wait`, and, if a hold ends with its process,
        the last event of that process and a call or an answer of another process."""
        known = {since for stays in self.queued.values() for since, _ in stays}
        if any(call.invoke in known or call.invoke == other.answer
               for call in self.calls for other in self.calls if call is not other):
            return True
        return "expires" not in self.caps and any(
            self.last_of(other.process) in (call.invoke, call.answer)
            for call in self.calls for other in self.calls
            if other.process != call.process)

    def last_of(self, process):
        """Return the last instant at which the process, and so its session, certainly existed."""
        killed = self.history.processes[process].killed
        return self.last[process] if killed is None else killed

    def overlapping(self):
        """Do calls of one owner overlap in time, apart from renewals?"""
        until = {}
        for call in self.calls:
            if call.kind == "renew":
                continue
            if call.invoke < until.get(call.who, -1):
                return True
            until[call.who] = max(until.get(call.who, -1), call.answer)
        return False


def conflict(mode, other):
    """Do holds of these modes exclude each other?  Only two readers share a lock."""
    return not (mode and other)
