# SPDX-License-Identifier: MIT
"""servers.py -- the servers of a measurement: a lab of its own and an etcd. Every slice is
checked against the servers' own counts."""

import os
import re
import shutil
import socket
import subprocess
import time
import urllib.parse
import urllib.request

import fetch
from free_ports import free_ports

PATIENCE_S = 60
SECKILL = os.path.join(fetch.ROOT, "build", "seckill")
NODES_OF_MAJORITY = 3


class ServerError(Exception):
    """A server did not start or did not answer."""


class RedisServer:
    """A Redis server, asked over a separate connection without any library."""

    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        self.socket = socket.create_connection((parts.hostname, parts.port), PATIENCE_S)
        self.file = self.socket.makefile("rb")
        if parts.password:
            self.ask("AUTH", parts.password)

    def ask(self, *words):
        parts = [f"*{len(words)}\r\n".encode()]
        for word in words:
            data = word.encode()
            parts.append(b"$%d\r\n%s\r\n" % (len(data), data))
        self.socket.sendall(b"".join(parts))
        return self.read()

    def read(self):
        line = self.file.readline().rstrip(b"\r\n")
        kind, text = line[:1], line[1:].decode()
        if kind == b"-":
            raise ServerError(f"Redis: {text}")
        if kind == b"$":
            data = self.file.read(int(text) + 2)[:-2] if int(text) >= 0 else None
            return data.decode() if data is not None else None
        if kind == b"*":
            return [self.read() for _ in range(int(text))]
        return int(text) if kind == b":" else text

    def calls(self, command):
        found = re.search(rf"^cmdstat_{command}:calls=(\d+)", self.ask("INFO", "commandstats"),
                          re.M)
        return int(found.group(1)) if found else 0

    def names(self, prefix):
        return len(self.ask("KEYS", prefix + "*"))


class RedisServers:
    """Redis servers, of which a pair has to reach `nodes`."""

    def __init__(self, urls, nodes):
        self.urls, self.nodes = urls, nodes
        self.servers = [RedisServer(url) for url in urls.split(",")]

    def address(self, _contestant):
        return self.urls

    def clear(self):
        for server in self.servers:
            server.ask("FLUSHALL")

    def counts(self, takes):
        """The number of names taken and freed. Every library frees a name by DEL."""
        return (sum(server.calls(takes) for server in self.servers),
                sum(server.calls("del") for server in self.servers))

    def left(self, prefix):
        return sum(server.names(prefix) for server in self.servers)

    def versions(self):
        return ["Redis " + re.search(r"redis_version:(\S+)",
                                     self.servers[0].ask("INFO", "server")).group(1)]


class Etcd:
    """An etcd of one member with its data in memory or on the disk, as `where` is."""

    def __init__(self, where):
        self.url, peer_url = (f"http://127.0.0.1:{port}" for port in free_ports(2))
        with open(os.path.join(where, "etcd.log"), "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                ["etcd", "--data-dir", os.path.join(where, "etcd"), "--name=bench",
                 "--listen-client-urls=" + self.url, "--advertise-client-urls=" + self.url,
                 "--listen-peer-urls=" + peer_url, "--initial-advertise-peer-urls=" + peer_url,
                 "--initial-cluster=bench=" + peer_url, "--logger=zap", "--log-level=error"],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        wait_until(self.is_well, "etcd does not answer")

    def is_well(self):
        try:
            with urllib.request.urlopen(self.url + "/health", timeout=1) as answer:
                return b'"true"' in answer.read()
        except OSError:
            return False

    def counts(self):
        with urllib.request.urlopen(self.url + "/metrics", timeout=PATIENCE_S) as answer:
            text = answer.read().decode()
        return tuple(
            int(float(re.search(rf"^etcd_mvcc_{kind}_total (\S+)", text, re.M).group(1)))
            for kind in ("put", "delete"))

    def end(self):
        self.process.terminate()
        self.process.wait(PATIENCE_S)


class Ensemble:
    """ZooKeeper and, where it is installed, etcd."""

    nodes = 1

    def __init__(self, zookeeper_url, where):
        self.zookeeper_url = zookeeper_url
        self.etcd = Etcd(where) if shutil.which("etcd") else None

    def address(self, contestant):
        if contestant.takes != "etcd":
            return self.zookeeper_url
        # The Go client takes a host, this library a URL.
        return self.etcd.url if contestant.is_ours() else self.etcd.url.replace("http://", "")

    def clear(self):
        """Nothing to do, since the lab with the leftovers is deleted."""

    def counts(self, takes):
        if takes == "etcd":
            return self.etcd.counts()
        # Each change has a number; a pair is two: a node is made and deleted.
        return (self.changes() // 2,) * 2

    def changes(self):
        host, port = self.zookeeper_url.split("/")[0].split(":")
        with socket.create_connection((host, int(port)), PATIENCE_S) as server:
            server.sendall(b"srvr")
            text = server.makefile("rb").read().decode()
        return int(re.search(r"Zxid: 0x([0-9a-f]+)", text).group(1), 16) & 0xffffffff

    def left(self, _prefix):
        return 0

    def versions(self):
        return ["ZooKeeper " + fetch.first_line("dpkg-query", "-W", "-f=${Version}",
                                                "libzookeeper-java")]

    def end(self):
        if self.etcd:
            self.etcd.end()


def wait_until(condition, text):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            raise ServerError(text)
        time.sleep(0.02)


def run_to_end(command, stderr=subprocess.STDOUT):
    """Run a command of this project; its status and its output. When this program is interrupted,
    the command is told to end, and ends what it has started."""
    # In a session of its own: a Ctrl-C of the terminal reaches it through this program.
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=stderr, text=True, start_new_session=True) as process:
        try:
            said, _ = process.communicate()
        except BaseException:
            process.terminate()
            process.wait(PATIENCE_S)
            raise
    return process.returncode, said


class Lab:
    """The laboratory's private servers, in a directory of their own."""

    def __init__(self, where, has_zookeeper):
        self.dir = os.path.join(where, "lab")
        self.where = where
        self.ensemble = None
        flags = ["--zookeeper"] if has_zookeeper else []
        try:
            status, said = run_to_end([SECKILL, "lab", "up", f"--dir={self.dir}", *flags])
        except BaseException:
            self.end()  # what was started of an interrupted lab
            raise
        if status != 0:
            raise ServerError(said.strip())
        with open(os.path.join(self.dir, "env"), encoding="utf-8") as file:
            self.env = dict(re.findall(r"^(?:export )?(\w+)='?([^'\n]*)'?$", file.read(), re.M))

    def servers(self, kind):
        if kind == "redis":
            return RedisServers(self.env["SECKILL_REDIS_URL"], 1)
        if kind == "nodes":
            return RedisServers(self.env["SECKILL_REDLOCK_URLS"], NODES_OF_MAJORITY)
        if self.ensemble is None:
            self.ensemble = Ensemble(self.env["SECKILL_ZOOKEEPER_URL"], self.where)
        return self.ensemble

    def end(self):
        if self.ensemble:
            self.ensemble.end()
        subprocess.run([SECKILL, "lab", "down", f"--dir={self.dir}"], check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
