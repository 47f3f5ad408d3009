# SPDX-License-Identifier: MIT
"""mutations.py -- changes histories of a correct lock, so that they may become illegal.

Each mutation changes one thing.  The result is well formed: an owner makes one call after another, except renewals,
no answer comes before its call, and dead processes make no calls.  The changed history may still be legal.
"""
import history
from generator import OVERLAP_MAX

ANSWERS = {"acquire": ("ok", "ok", "busy", "timeout", "unknown", "cancelled"),
           "release": ("ok", "ok", "lost", "unknown", "io"),
           "renew": ("ok", "lost", "unknown", "io"),
           "sem-take": ("ok", "busy", "unknown"), "sem-give": ("ok", "unknown"),
           "sem-add": ("ok", "unknown"), "permit-take": ("ok", "busy", "unknown"),
           "permit-give": ("ok", "lost", "unknown"),
           "permit-renew": ("ok", "lost", "unknown"),
           "latch-count": ("ok", "unknown"), "latch-wait": ("ok", "busy"),
           "latch-set": ("ok", "busy"), "sem-set": ("ok",)}


LOCKS = ("acquire", "release", "renew")


def _is_after_kill(h, process, at):
    killed = h.processes[process].killed
    return killed is not None and killed < at < history.NEVER


def is_well_formed(h):
    last = {}
    if any(_is_after_kill(h, mark.process, mark.at) for mark in h.marks):
        return False
    for call in sorted(h.calls, key=lambda c: (c.invoke, c.answer)):
        if call.answer < call.invoke or call.invoke < 0:
            return False
        if _is_after_kill(h, call.process, call.invoke) or \
                _is_after_kill(h, call.process, call.answer):
            return False
        if call.kind in ("acquire", "renew") and call.until and call.until < call.invoke:
            return False
        if call.kind == "renew":
            continue
        if call.invoke < last.get((call.who, call.name), -1):
            return False
        last[(call.who, call.name)] = call.answer
    return _overlap(h) <= OVERLAP_MAX


def _overlap(h):
    """How many calls are under way at once; one of the dead is not."""
    steps = []
    for call in h.calls:
        if call.kind != "abandon":
            end = call.answer
            if end == history.NEVER:
                end = h.processes[call.process].killed or call.invoke
            steps += [(call.invoke, 1), (end, -1)]
    under_way = most = 0
    for _, step in sorted(steps):
        under_way += step
        most = max(most, under_way)
    return most


def _calls(h, *kinds):
    return [c for c in h.calls if c.kind in (kinds or ANSWERS)]


def _instants(h):
    found = []
    for call in h.calls:
        found += [call.invoke, call.answer, call.until or 0]
    return [t for t in found if 0 < t < history.NEVER]


def other_answer(r, h):
    call = r.choice([c for c in _calls(h) if c.status is not None])
    was, call.status = call.status, r.choice(ANSWERS[call.kind])
    if call.kind.startswith("permit"):
        if call.kind == "permit-take" and call.ident == 0:
            call.ident = 1 + max(c.ident for c in h.calls)
        call.until = call.invoke + 100 if call.status == "ok" \
            and call.kind != "permit-give" else None
    elif call.kind not in LOCKS:
        return
    elif call.status == "ok" and was != "ok" and call.kind != "release":
        lease = h.processes[call.process].lease
        if "expires" in h.processes[call.process].caps:
            call.until = call.invoke + lease
        if call.kind == "acquire":
            call.level = r.choice((1, 1, 2))
            call.fence = r.choice([c.fence for c in h.calls]) + r.choice((0, 1))
    elif call.status != "ok":
        call.until, call.level, call.fence = None, 0, 0


def no_answer(r, h):
    call = r.choice(_calls(h))
    call.status, call.answer, call.until = None, history.NEVER, None
    call.level = call.fence = 0


def shift(r, h):
    call = r.choice(_calls(h))
    by = r.choice((-200, -60, -20, -5, -1, 1, 5, 20, 60, 200))
    what = r.randrange(3)
    if what != 0 and call.answer != history.NEVER:
        call.answer += by
    if what != 1:
        call.invoke += by
    if call.kind == "abandon":
        call.answer = call.invoke


def tie(r, h):
    call, at = r.choice(_calls(h)), r.choice(_instants(h))
    near = [t for t in _instants(h) if abs(t - call.invoke) < 100]
    at = r.choice(near or [at])
    if r.random() < 0.5:
        call.invoke = at
    elif call.answer != history.NEVER:
        call.answer = at


def other_deadline(r, h):
    call = r.choice([c for c in h.calls if c.until is not None])
    if r.random() < 0.3:
        call.until = r.choice([t for t in _instants(h) if t >= call.invoke])
    else:
        call.until = max(call.invoke + 1,
                         call.until + r.choice((-100, -20, -1, 1, 20, 100, 1000)))


def other_level(r, h):
    call = r.choice([c for c in _calls(h, "acquire") if c.status == "ok"])
    call.level = max(1, call.level + r.choice((-1, 1, 1, 2)))


def other_fence(r, h):
    call = r.choice([c for c in _calls(h, "acquire") if c.fence])
    call.fence = max(0, call.fence + r.choice((-2, -1, 1, 2)))


def other_owner(r, h):
    call, model = r.choice(h.calls), r.choice(h.calls)
    call.process, call.owner = model.process, model.owner


def other_mode(r, h):
    call = r.choice([c for c in _calls(h) if "shared" in h.processes[c.process].caps])
    call.mode = "" if call.mode else "shared"


def leave_out(r, h):
    h.calls.remove(r.choice(h.calls))


def twice(r, h):
    call = r.choice([c for c in _calls(h) if c.status is not None]).copy()
    by = call.answer - call.invoke + r.choice((0, 1, 5, 40))
    call.invoke, call.answer = call.invoke + by, call.answer + by
    h.calls.append(call)


def loss(r, h):
    call = r.choice(_calls(h))
    at = call.invoke + r.choice((0, 1, 10, 50))
    h.marks.append(history.Mark("lost", call.process, call.owner, call.name, at))


def other_mark(r, h):
    mark = r.choice(h.marks)
    mark.at = max(0, mark.at + r.choice((-40, -5, -1, 1, 5, 40)))


def no_mark(r, h):
    h.marks.remove(r.choice(h.marks))


def other_claim(r, h):
    claim = r.choice(("reentrant", "owned", "fair", "fenced", "quorum", "shared"))
    for process in h.processes.values():
        process.caps = process.caps ^ {claim}
    for call in _calls(h, "acquire"):
        if claim == "reentrant" and call.status == "ok":
            call.level = max(1, call.level)  # which such a lock always says


def holes(r, h):
    if r.random() < 0.5:
        h.is_damaged = True
    else:
        r.choice(list(h.processes.values())).dropped = r.choice(_instants(h))


def other_count(r, h):
    call = r.choice([c for c in h.calls if c.count is not None])
    least = 1 if call.kind.endswith("-set") else 0
    call.count = max(least, call.count + r.choice((-1, 1)))


OFTEN = (other_count, other_count, other_answer, other_answer, other_answer, shift, shift, tie, tie, twice,
         other_deadline, other_level, other_fence, other_owner, other_mode, leave_out)
SELDOM = (no_answer, loss, other_mark, no_mark, other_claim, holes)


def mutate(r, h):
    """The history with one to three changes, each named in its kind."""
    wanted = r.choice((1, 1, 2, 3))
    for _ in range(40):
        changed = h.copy()
        change = r.choice(OFTEN if r.random() < 0.85 else SELDOM)
        try:
            change(r, changed)
        except IndexError:
            continue  # there is nothing that it could change
        if changed.calls and is_well_formed(changed):
            h, wanted = changed, wanted - 1
            h.kind += " " + change.__name__
            if wanted == 0:
                break
    return h
