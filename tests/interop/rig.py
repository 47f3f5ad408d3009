# SPDX-License-Identifier: MIT
"""The base of the behaviours: the peers, which get commands as lines; the connections to the
servers, which use no library under test; and functions that wait for states."""

import itertools
import os
import queue
import subprocess
import threading
import time

import redis

from cluster_redis import connect, servers_of

PATIENCE_S = 60  # the longest wait for a state; no test measures with it
PAUSE_S = 0.01


class Failed(Exception):
    """A behaviour does not hold."""


def expect(condition, text):
    if not condition:
        raise Failed(text)


def until(condition, text, patience_s=PATIENCE_S):
    """Wait until the condition is true. The limit is long enough for a slow machine."""
    end = time.monotonic() + patience_s
    while not condition():
        expect(time.monotonic() < end, f"timed out after {patience_s} s while waiting for: {text}")
        time.sleep(PAUSE_S)


class Answer:
    """An answer of a peer: a word, and then pairs key=value."""

    def __init__(self, text):
        self.text = text
        self.word, _, rest = text.partition(" ")
        self.values = dict(w.split("=", 1) for w in rest.split() if "=" in w)

    def number(self, key):
        return int(self.values[key])


class Pending:
    """A command that was sent to a peer and may not have been answered yet."""

    def __init__(self, peer, line):
        self.peer = peer
        self.line = line
        self.answers = queue.Queue()
        self.known = None

    def is_done(self):
        if self.known is None and not self.answers.empty():
            self.known = self.answers.get()
        return self.known is not None

    def answer(self):
        until(self.is_done, f"an answer of {self.peer.name} to: {self.line}")
        return self.known

    def expect(self, word):
        got = self.answer()
        expect(
            got.word == word,
            f"{self.peer.name} said '{got.text}' instead of '{word}' to: {self.line}",
        )
        return got


class Peer:
    """A program that uses a lock library."""

    def __init__(self, name, command):
        self.name = name
        self.command = command
        self.tags = itertools.count(1)
        self.pending = {}
        self.version = None
        self.start()

    def start(self):
        self.ready = queue.Queue()
        self.process = subprocess.Popen(
            self.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        threading.Thread(target=self.listen, args=(self.process,), daemon=True).start()
        try:
            self.version = self.ready.get(timeout=PATIENCE_S)
        except queue.Empty:
            raise Failed(f"{self.name} did not start") from None

    def listen(self, process):
        for line in process.stdout:
            tag, _, text = line.rstrip("\n").partition(" ")
            if tag == "ready":
                self.ready.put(text)
            elif tag in self.pending:
                self.pending.pop(tag).answers.put(Answer(text))
            else:
                print(f"# {self.name}: {line.rstrip()}", flush=True)

    def begin(self, verb, **words):
        """Send a command, and do not wait for its answer."""
        tag = f"t{next(self.tags)}"
        pairs = (f"{key}={value}" for key, value in words.items())
        pending = Pending(self, " ".join([verb, *pairs]))
        self.pending[tag] = pending
        self.process.stdin.write(f"{tag} {pending.line}\n")
        self.process.stdin.flush()
        return pending

    def tell(self, verb, **words):
        """Send a command, and wait for its answer."""
        pending = self.begin(verb, **words)
        pending.answer()
        return pending

    def kill(self):
        """Kill the peer. As after a crash, no lock is released."""
        self.process.kill()
        self.process.wait()
        self.pending.clear()

    def restart(self):
        self.kill()
        self.start()


class Trace:
    """Every command that the servers execute, with the time of the server."""

    def __init__(self, url):
        self.servers = servers_of(connect(url))
        self.events = []
        for server in servers_of(connect(url)):
            monitor = server.monitor()
            monitor.__enter__()
            threading.Thread(target=self.listen, args=(monitor,), daemon=True).start()

    def listen(self, monitor):
        try:
            for event in monitor.listen():
                self.events.append(event)
        except (redis.RedisError, OSError, ValueError):
            pass  # the server has stopped

    def about(self, word):
        """Return the commands until now with the word as an argument, without those of scripts."""
        return self.matching(lambda command: word in command.split())

    def matching(self, wanted):
        """Return the commands until now whose text is `wanted`, without those of scripts."""
        mark = f"mark-{os.getpid()}-{time.monotonic_ns()}"
        first = len(self.events)
        for server in self.servers:
            server.echo(mark)
        until(
            lambda: sum(mark in e["command"] for e in self.events[first:])
            == len(self.servers),
            "the mark in the output of MONITOR of each server",
        )
        return [
            e
            for e in self.events
            if e["client_type"] != "lua" and wanted(e["command"])
        ]


class PeerSet:
    """Peers, each of which is started when it is first used, and their server."""

    def __init__(self, url, commands):
        self.redis = connect(url, decode_responses=True)
        self.commands = commands
        self.peers = {}
        self.names = itertools.count(1)

    def peer(self, name):
        if name not in self.peers:
            self.peers[name] = Peer(name, self.commands[name])
        return self.peers[name]

    def name(self):
        return f"interop-{os.getpid()}-{next(self.names)}-"

    def close(self):
        for peer in self.peers.values():
            peer.kill()


class Rig(PeerSet):
    """Servers and peers, for all behaviours."""

    def __init__(self, url, node_urls, commands):
        super().__init__(url, commands)
        self.raw = connect(url)  # for answers that are not text
        self.nodes = [
            redis.Redis.from_url(node, decode_responses=True)
            for node in node_urls.split(",")
        ]
        self.trace = Trace(url)
