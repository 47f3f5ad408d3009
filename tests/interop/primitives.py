# SPDX-License-Identifier: MIT
"""Behaviours of two programs that use one semaphore, one set of permits or one latch, in the form
of behaviours.py."""

from behaviours import LONG_MS, POLL_LEAST_MS, ROUNDS, SHORT_MS
from rig import expect, until

CHANNELS = {
    "semaphore": "redisson_sc:{%s}",
    "permits": "redisson_sc:{%s}",
    "latch": "redisson_countdownlatch__channel__{%s}",
}


def begin_waiting(case, peer, **words):
    """Start a thread that waits, and return when its subscription is known."""
    channel = CHANNELS[case.kind.name] % case.name
    before = case.rig.redis.pubsub_numsub(channel)[0][1]
    looks = len(case.rig.trace.about(case.name))
    pending = begin(case, peer, wait=-1, **words)
    until(
        lambda: case.rig.redis.pubsub_numsub(channel)[0][1] > before,
        f"a subscription of {peer.name}",
    )
    # A waiter tries once more after it has subscribed, and then sleeps.
    until(
        lambda: len(case.rig.trace.about(case.name)) >= looks + 2,
        f"the second attempt of {peer.name}",
    )
    expect(not pending.is_done(), f"{peer.name} did not wait")
    return pending


def begin(case, peer, wait=0, **words):
    words.setdefault("lease", LONG_MS)
    words.setdefault("permits", 1)
    return peer.begin(
        "acquire", kind=case.kind.name, name=case.name, wait=wait, **words
    )


def take(case, peer, word="ok", **words):
    return begin(case, peer, **words).expect(word)


def expect_count(case, peer, count, verb="count"):
    seen = case.tell(peer, verb).expect("ok").number("count")
    expect(seen == count, f"{peer.name} sees {seen} instead of {count}")


def gap_ms(case):
    """Return the ms between the last two attempts of the waiter, by the server's clock."""
    events = case.rig.trace.about(case.name)
    attempt = events[-1]["command"].split()[:2]
    times = [e["time"] for e in events if e["command"].split()[:2] == attempt]
    return (times[-1] - times[-2]) * 1000


def share_a_number(case):
    """{a} makes one of two, each takes one, both are refused a third"""
    case.tell(case.a, "set", permits=2).expect("ok")
    case.tell(case.b, "set", permits=5).expect("busy")
    expect_count(case, case.b, 2)
    first = take(case, case.a)
    take(case, case.b)
    for peer in (case.a, case.b):
        take(case, peer, "busy")
        expect_count(case, peer, 0)
    case.tell(case.a, "release", permits=1, **id_of(first)).expect("ok")
    expect_count(case, case.b, 1)
    take(case, case.b)


def id_of(granted):
    return {"id": granted.values["id"]} if "id" in granted.values else {}


def wake(case):
    """{a} gives back, and its message wakes {b}, who waits"""
    for _ in range(ROUNDS):
        case.name = case.rig.name()
        case.tell(case.a, "set", permits=1).expect("ok")
        held = take(case, case.a)
        waiter = begin_waiting(case, case.b)
        case.tell(case.a, "release", permits=1, **id_of(held)).expect("ok")
        waiter.expect("ok")
        # A waiter of Redisson sleeps until a message, or until a permit ends, and none has ended.
        if case.b.name == "java" or gap_ms(case) < POLL_LEAST_MS:
            return
    expect(False, "no round was sooner than the poll")


def time_out(case):
    """{a} has all, {b} waits in vain, {a} gives back, {b} gets it"""
    case.tell(case.a, "set", permits=1).expect("ok")
    held = take(case, case.a)
    take(case, case.b, "timeout", wait=300)
    case.tell(case.a, "release", permits=1, **id_of(held)).expect("ok")
    take(case, case.b)


def add_and_drain(case):
    """{a} drains it, {b} waits for two, {a} adds three, {b} leaves one"""
    case.tell(case.a, "set", permits=4).expect("ok")
    drained = case.tell(case.a, "drain").expect("ok").number("count")
    expect(drained == 4, f"{drained} drained")
    waiter = begin_waiting(case, case.b, permits=2)
    case.tell(case.a, "add", permits=3).expect("ok")
    waiter.expect("ok")
    expect_count(case, case.a, 1)


def give_back_by_id(case):
    """{a} takes one, {b} gives it back by its id, once"""
    case.tell(case.a, "set", permits=1).expect("ok")
    held = id_of(take(case, case.a))
    expect_count(case, case.b, 1, "taken")
    case.tell(case.b, "release", **held).expect("ok")
    case.tell(case.b, "release", **held).expect("lost")
    case.tell(case.a, "release", **held).expect("lost")
    expect_count(case, case.a, 1)
    expect_count(case, case.b, 0, "taken")


def end_with_their_holder(case):
    """{a} is killed with one, {b}, who waits, gets it when it ends"""
    case.tell(case.a, "set", permits=1).expect("ok")
    take(case, case.a, lease=SHORT_MS)
    waiter = begin_waiting(case, case.b)
    case.a.restart()
    waiter.expect("ok")
    take(case, case.a, "busy")


def free_nobody_late(case):
    """{a}'s permit ends, {b} takes it, {a} can neither renew nor give it back"""
    case.tell(case.a, "set", permits=1).expect("ok")
    held = id_of(take(case, case.a, lease=SHORT_MS))
    take(case, case.b, wait=-1)
    case.tell(case.a, "renew", lease=LONG_MS, **held).expect("lost")
    case.tell(case.a, "release", **held).expect("lost")
    expect_count(case, case.b, 0)
    expect_count(case, case.b, 1, "taken")


def renew(case):
    """{a} renews its permit, {b} is refused beyond the first end"""
    case.tell(case.a, "set", permits=1).expect("ok")
    held = id_of(take(case, case.a, lease=SHORT_MS * 5))
    taken = "{%s}:timeout" % case.name
    first = max(s for _, s in case.rig.raw.zrange(taken, 0, -1, withscores=True))
    case.tell(case.a, "renew", lease=LONG_MS, **held).expect("ok")
    last = max(s for _, s in case.rig.raw.zrange(taken, 0, -1, withscores=True))
    expect(last > first + SHORT_MS, f"ends at {last} instead of {first}")
    take(case, case.b, "busy")
    case.tell(case.a, "release", **held).expect("ok")
    take(case, case.b)


def open_for_both(case):
    """{a} closes it, threads of both wait, {a} and {b} count it down, both go on"""
    case.tell(case.a, "set", permits=2).expect("ok")
    case.tell(case.b, "set", permits=7).expect("busy")
    waiters = [
        begin_waiting(case, peer, thread=f"w{i}")
        for i, peer in enumerate((case.a, case.b))
    ]
    case.tell(case.a, "release").expect("ok")
    expect_count(case, case.b, 1)
    expect(not any(w.is_done() for w in waiters), "the latch opened at a count of 1")
    case.tell(case.b, "release").expect("ok")
    for waiter in waiters:
        waiter.expect("ok")
    expect_count(case, case.a, 0)
    take(case, case.b, wait=1)


def stay_closed(case):
    """{a} closes it, {b} waits in vain"""
    case.tell(case.a, "set", permits=1).expect("ok")
    take(case, case.b, "timeout", wait=300)
    case.tell(case.a, "release").expect("ok")
    take(case, case.b, wait=-1)
