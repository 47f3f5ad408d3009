# SPDX-License-Identifier: MIT
"""store.py -- a correct lock for the generator, with the answers of a store.

The store has its own clock: a lease counts from the arrival of the request, so it never ends before the time that its
owner was promised, and ends soon after it.
"""
import history


class Held:
    def __init__(self, who, mode, end, fence):
        self.who, self.mode, self.end, self.fence = who, mode, end, fence
        self.level = 1


class Store:
    def __init__(self, caps):
        self.caps, self.held, self.fence, self.queue = caps, [], 0, []

    def expire(self, now):
        self.held = [h for h in self.held if h.end > now]

    def find(self, who, mode):
        for held in self.held:
            if held.who == who and held.mode == mode:
                return held
        return None

    def is_free_for(self, who, mode):
        if not self.caps & {"exclusive", "local"}:
            return True
        return not any(h.who != who and not (h.mode and mode) for h in self.held)

    def is_turn(self, who):
        return "fair" not in self.caps or not self.queue or self.queue[0] == who

    def acquire(self, who, mode, now, lease):
        """The hold, or None: refused."""
        self.expire(now)
        own = self.find(who, mode)
        end = now + lease if "expires" in self.caps else history.NEVER
        if own is not None:
            if "reentrant" not in self.caps:
                return None
            own.level += 1
            own.end = max(own.end, end)
            return own
        if any(h.who == who for h in self.held) and not mode:
            return None  # a reader does not become a writer
        if not self.is_free_for(who, mode) or not self.is_turn(who):
            return None
        if who in self.queue:
            self.queue.remove(who)
        self.fence += 1
        held = Held(who, mode, end, self.fence if "fenced" in self.caps else 0)
        self.held.append(held)
        return held

    def enqueue(self, who):
        if who not in self.queue:
            self.queue.append(who)

    def leave(self, who):
        if who in self.queue:
            self.queue.remove(who)

    def renew(self, who, mode, now, lease):
        self.expire(now)
        own = self.find(who, mode)
        if own is None:
            return False
        own.end = max(own.end, now + lease)
        return True

    def release(self, who, mode, now):
        """Was there anything to release?"""
        self.expire(now)
        own = self.find(who, mode)
        if own is None and "owned" not in self.caps and self.held:
            own = self.held[0]  # whoever's it is
        if own is None:
            return False
        own.level -= 1
        if own.level == 0:
            self.held.remove(own)
        return True

    def die(self, process):
        """A session ends with its process, a lease does not."""
        if "expires" not in self.caps:
            self.held = [h for h in self.held if h.who[0] != process]
