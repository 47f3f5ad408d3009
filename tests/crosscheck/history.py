# SPDX-License-Identifier: MIT
"""history.py -- a history as the second judge sees it, and its text format.

The format is the one that loadtest/check/history.h describes.  Times are milliseconds, as
`seckill check` reads them.  Nothing here judges anything.
"""

NEVER = 1 << 60
DEFAULT_CAPS = ("exclusive", "local", "expires", "owned", "renew", "atomic")
MARKS = ("lost", "wait", "wake")


class Process:
    """A lock system: its promises, and how it ended."""

    def __init__(self, number):
        self.number = number
        self.variant = "lua"
        self.caps = frozenset(DEFAULT_CAPS)
        self.lease = 0
        self.watchdog = False
        self.killed = None   # when it died; None: it closed its records itself
        self.dropped = None  # since when records found no room

    def copy(self):
        other = Process(self.number)
        other.__dict__.update(self.__dict__)
        return other

    def line(self):
        caps = ",".join(sorted(self.caps))
        words = [f"system p{self.number} variant={self.variant} caps={caps}",
                 f"lease={self.lease}"]
        if self.watchdog:
            words.append("watchdog")
        if self.killed is not None:
            words.append(f"killed={self.killed}")
        if self.dropped is not None:
            words.append(f"dropped=1@{self.dropped}")
        return " ".join(words)


class Call:
    """A request for a lock, and what it was answered; status None: no answer."""

    def __init__(self, kind, process, owner, name, invoke):
        self.kind, self.process, self.owner, self.name = kind, process, owner, name
        self.invoke = invoke
        self.answer = NEVER
        self.status = None
        self.mode = ""       # "shared" of readers
        self.level = 0       # 0: not said
        self.fence = 0
        self.until = None    # the deadline that was granted; None: not said
        self.wait = 0
        self.sent = 0
        self.count = None    # of what is no lock: how many
        self.ident = 0       # of a permit: which

    def copy(self):
        other = Call(self.kind, self.process, self.owner, self.name, self.invoke)
        other.__dict__.update(self.__dict__)
        return other

    @property
    def who(self):
        return (self.process, self.owner)

    @property
    def deadline(self):
        """Of a grant: until when it is promised."""
        return NEVER if self.until is None else self.until

    @property
    def lasting(self):
        """Of a grant: until when it may last in a store, which counts the lease from when
        the request arrives."""
        way = max(0, self.answer - (self.sent or self.invoke))
        return NEVER if self.until is None else self.until + way

    def line(self):
        text = f"{self.invoke} p{self.process} t{self.owner} {self.kind} {self.name}"
        if self.kind == "abandon":
            return text
        text += " -> ?" if self.status is None else f" -> {self.answer} {self.status}"
        for key in ("level", "fence", "wait", "sent"):
            if getattr(self, key):
                text += f" {key}={getattr(self, key)}"
        if self.count is not None:
            text += f" n={self.count}"
        if self.ident:
            text += f" id={self.ident}"
        if self.until is not None:
            text += f" until={self.until}"
        return text + (" shared" if self.mode else "")


class Mark:
    """An event that is no call: lost, wait, wake.  word: told of a wake, given-up of a wait."""

    def __init__(self, kind, process, owner, name, at, word=""):
        self.kind, self.process, self.owner, self.name = kind, process, owner, name
        self.at, self.word = at, word

    def copy(self):
        return Mark(self.kind, self.process, self.owner, self.name, self.at, self.word)

    @property
    def given_up(self):
        return self.word == "given-up"

    @property
    def who(self):
        return (self.process, self.owner)

    def line(self):
        word = " " + self.word if self.word else ""
        return f"{self.at} p{self.process} t{self.owner} {self.kind} {self.name}{word}"


class Fault:
    """Something that went wrong around the locks."""

    def __init__(self, at, words):
        self.at, self.words = at, tuple(words)

    def copy(self):
        return self

    def line(self):
        return f"{self.at} fault {' '.join(self.words)}"


class History:
    """All of a run.  Calls stand in the order of their lines."""

    def __init__(self):
        self.processes = {}
        self.calls, self.marks, self.faults = [], [], []
        self.is_damaged = False
        self.kind = ""  # how the generator made it

    def process(self, number):
        if number not in self.processes:
            self.processes[number] = Process(number)
        return self.processes[number]

    def copy(self):
        other = History()
        other.processes = {n: p.copy() for n, p in self.processes.items()}
        other.calls = [c.copy() for c in self.calls]
        other.marks = [m.copy() for m in self.marks]
        other.faults = list(self.faults)
        other.is_damaged, other.kind = self.is_damaged, self.kind
        return other

    @property
    def end(self):
        """Since when records found no room."""
        return min([p.dropped for p in self.processes.values()
                    if p.dropped is not None], default=NEVER)

    def names(self):
        return sorted({c.name for c in self.calls})

    def text(self):
        lines = [self.processes[n].line() for n in sorted(self.processes)]
        if self.is_damaged:
            lines.append("damage")
        lines += [x.line() for x in self.calls + self.marks + self.faults]
        return "\n".join(lines) + "\n"


def _values(words):
    return dict(w.split("=", 1) if "=" in w else (w, "") for w in words)


def _read_system(history, words):
    process = history.process(int(words[0][1:]))
    for key, value in _values(words[1:]).items():
        if key == "caps":
            process.caps = frozenset(value.split(",")) - {""}
        elif key in ("lease", "killed"):
            setattr(process, key, int(value))
        elif key == "variant":
            process.variant = value
        elif key == "watchdog":
            process.watchdog = True
        elif key == "dropped":
            process.dropped = int(value.split("@")[1])


_FIELDS = {"level": "level", "fence": "fence", "wait": "wait", "sent": "sent",
           "until": "until", "n": "count", "id": "ident"}


def _read_call(call, words):
    if words[1] == "?":
        rest = words[2:]
    else:
        call.answer, call.status, rest = int(words[1]), words[2], words[3:]
    for key, value in _values(rest).items():
        if key == "shared":
            call.mode = "shared"
        elif key in _FIELDS:
            setattr(call, _FIELDS[key], int(value))
    return call


def read(text):
    """The history that a text tells, which has to be well formed."""
    history = History()
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if not words:
            continue
        if words[0] == "system":
            _read_system(history, words[1:])
        elif words[0] == "damage":
            history.is_damaged = True
        elif words[1] == "fault":
            history.faults.append(Fault(int(words[0]), words[2:]))
        else:
            at, process, owner = int(words[0]), int(words[1][1:]), int(words[2][1:])
            kind, name = words[3], words[4]
            history.process(process)
            if kind in MARKS:
                history.marks.append(
                    Mark(kind, process, owner, name, at, words[5] if words[5:] else ""))
                continue
            call = Call(kind, process, owner, name, at)
            if kind == "abandon":
                call.answer, call.status = at, "ok"
                history.calls.append(call)
            else:
                history.calls.append(_read_call(call, words[5:]))
    return history
