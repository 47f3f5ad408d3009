# SPDX-License-Identifier: MIT
"""The kinds of lock: a row for each, and the behaviours that each kind must have."""

from dataclasses import dataclass

import behaviours as b
import primitives as p
import rwlock_leases
import rwlocks


@dataclass(frozen=True)
class Kind:
    name: str
    other: str = "java"  # the program that is tested with the C program
    push: bool = False  # a release sends a message to the waiters
    watchdog: bool = True
    fair: bool = False
    fenced: bool = False
    on_nodes: bool = False  # one lock on each of several servers
    token: bool = False  # the key has a string with a token, instead of a hash
    looks: tuple = ("java", "c")  # the programs that can inspect a lock of this kind
    forces: tuple = ("java", "c")  # the programs that can force a lock of this kind open

    def behaviours(self, a, other):
        """Yield the behaviours of {a} and {b}, in the order of the report."""
        yield b.excludes
        if other in self.looks:
            yield b.is_seen
        if not self.token:
            yield b.has_its_shape
            yield b.reenters
        yield b.is_no_reentry
        if self.push:
            yield b.wakes_within_lease
            if other == "c":
                yield b.wakes
        else:
            yield b.passes_on
        yield b.times_out
        yield b.lets_all_through
        if self.watchdog:
            yield b.is_renewed
        yield b.is_freed_by_death
        yield b.frees_nobody_late
        if other in self.forces:
            yield b.is_forced
        yield from self.special(a)

    def special(self, a):
        if self.fair:
            yield b.keeps_places
            yield b.lets_nobody_push_in
            if a == "c":  # Redisson keeps the place of its own dead waiter for minutes
                yield b.passes_the_dead
        if self.fenced:
            yield b.numbers_grow
        if self.on_nodes:
            yield b.takes_all_or_nothing
        if self.token:
            yield b.renews_by_setting

    @property
    def in_cluster(self):
        """Can the kind be tested on a cluster? A multi lock needs independent servers, and
        redis-py's Lock is tested with one server."""
        return not self.on_nodes and self.other == "java"

    def directions(self):
        return ((self.other, "c"), ("c", self.other))


@dataclass(frozen=True)
class Listed:
    """A kind with a list of its own behaviours."""

    name: str
    shown: tuple
    push: bool = True
    fair: bool = False
    in_cluster: bool = True

    def behaviours(self, _a, _other):
        return self.shown

    def directions(self):
        return (("java", "c"), ("c", "java"))


KINDS = (
    Kind("plain", push=True),
    Kind("fair", push=True, fair=True),
    Kind("spin"),
    Kind("fenced", push=True, fenced=True),
    Kind("write", push=True),
    Listed("rwlock", rwlocks.BEHAVIOURS + rwlock_leases.BEHAVIOURS),
    # Redisson's multi lock can neither be inspected nor forced open.
    Kind("multi", on_nodes=True, looks=("c",), forces=("c",)),
    Kind(
        "token",
        other="python",
        watchdog=False,
        token=True,
        looks=("python", "c"),
        forces=("c",),
    ),
    Listed("semaphore", (p.share_a_number, p.wake, p.time_out, p.add_and_drain)),
    Listed(
        "permits",
        (
            p.share_a_number,
            p.wake,
            p.time_out,
            p.give_back_by_id,
            p.end_with_their_holder,
            p.free_nobody_late,
            p.renew,
        ),
    ),
    Listed("latch", (p.open_for_both, p.stay_closed)),
)
