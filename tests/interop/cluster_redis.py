# SPDX-License-Identifier: MIT
"""Connections to a Redis Cluster that use no library under test. They have those methods of a
connection to one server that the behaviours use."""

from redis import Redis
from redis.crc import key_slot
from redis.exceptions import ResponseError

SCHEME = "redis-cluster://"


def is_cluster(url):
    return url.startswith(SCHEME)


def node_urls(url):
    """Return one address for each node of the URL."""
    login, at, hosts = url.removeprefix(SCHEME).rpartition("@")
    return [f"redis://{login}{at}{host}" for host in hosts.split(",")]


class Cluster:
    """The masters of a cluster. A command goes to the master that has its key, which is the first
    argument. keys() and the questions about channels go to every master, time() to the first."""

    def __init__(self, url, **words):
        nodes = [Redis.from_url(node, **words) for node in node_urls(url)]
        self.masters = [node for node in nodes if node.role()[0] in ("master", b"master")]
        self.owners = {}  # the master of each slot that answered MOVED

    def __getattr__(self, command):
        return lambda key, *args, **words: self.run(
            key, lambda node: getattr(node, command)(key, *args, **words)
        )

    def run(self, key, call):
        slot = key_slot(key.encode())
        try:
            return call(self.owners.get(slot, self.masters[0]))
        except ResponseError as error:
            if not str(error).startswith("MOVED "):
                raise
            self.owners[slot] = self.at(int(str(error).rpartition(":")[2]))
            return call(self.owners[slot])

    def at(self, port):
        return next(m for m in self.masters if port_of(m) == port)

    def keys(self, pattern):
        return [key for master in self.masters for key in master.keys(pattern)]

    def time(self):
        return self.masters[0].time()

    def register_script(self, text):
        return lambda keys: self.run(keys[0], lambda node: node.eval(text, len(keys), *keys))

    def pubsub_channels(self, pattern):
        """Return the sharded channels with a subscription (SSUBSCRIBE)."""
        ask = "PUBSUB SHARDCHANNELS"
        return [one for m in self.masters for one in m.execute_command(ask, pattern)]

    def pubsub_numsub(self, channel):
        ask = "PUBSUB SHARDNUMSUB"
        return [(channel, sum(m.execute_command(ask, channel)[1] for m in self.masters))]


def port_of(node):
    return node.connection_pool.connection_kwargs["port"]


def connect(url, **words):
    """Connect to the server or the cluster of the URL."""
    return Cluster(url, **words) if is_cluster(url) else Redis.from_url(url, **words)


def servers_of(asked):
    """Return a connection to each server of a connection."""
    return asked.masters if isinstance(asked, Cluster) else [asked]
