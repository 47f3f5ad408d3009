#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""topology_partition.py -- a network that goes away between a request and its answer: a request
that the library has given up never arrives.  Servers and locks run in a network namespace of their
own, whose network is its loopback device.  Prints TAP."""
import ctypes
import fcntl
import itertools
import os
import socket
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from dlock import IO, OK, UNKNOWN, System  # noqa: E402
from postgres_servers import Laboratory, end_with_us, free_ports, run, soon  # noqa: E402
from tap import main  # noqa: E402

TIMEOUT_MS, LEASE_MS = 2000, 600000
TIMEOUTS = ("redis_timeout_ms", "redlock_node_timeout_ms", "database_timeout_ms", "etcd_timeout_ms")
INSIDE = "TOPOLOGY_IN_NAMESPACE"


def enter_namespace():
    """Run this program again in a namespace of its own, in which it may switch the network.
    Without that right the program fails."""
    if INSIDE in os.environ:
        set_network(True)
        return
    user = [] if os.geteuid() == 0 else ["--user", "--map-current-user", "--keep-caps"]
    words = ["unshare", *user, "--net", sys.executable, "-B", *sys.argv]
    os.execvpe("unshare", words, {**os.environ, INSIDE: "1"})


def set_network(is_up):
    """Switch the loopback device on or off (SIOCSIFFLAGS, IFF_UP)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh22x", b"lo", int(is_up)))


def kernel_is_done():
    """Has the kernel nothing left to send?  The column tx_queue counts bytes that are not
    confirmed, also those of closed sockets."""
    with open("/proc/self/net/tcp", encoding="utf-8") as file:
        return all(line.split()[4].startswith("00000000:") for line in list(file)[1:])


class Rig(Laboratory):
    """A laboratory with one etcd, and besides it a Redis with a port of TLS, a Redis Cluster of one
    node, and a Sentinel of that Redis."""

    def __init__(self):
        super().__init__("--etcd-alone")
        self.pem, key, config = (f"{self.folder}/{name}" for name in ("pem", "key", "sentinel"))
        plain, self.tls, self.cluster, bus, self.sentinel = (str(port) for port in free_ports(5))
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
            "-nodes", "-keyout", key, "-out", self.pem, "-days", "2", "-subj", "/CN=server",
            "-addext", "subjectAltName=IP:127.0.0.1")
        self.serve("--save", "", "--tls-port", self.tls, "--tls-cert-file", self.pem,
                   "--tls-key-file", key, "--tls-auth-clients", "no", port=plain)
        self.serve("--save", "", "--cluster-enabled", "yes", "--cluster-port", bus,
                   port=self.cluster)
        for words in ("CLUSTER ADDSLOTSRANGE 0 16383", "CONFIG SET cluster-announce-ip 127.0.0.1"):
            run("redis-cli", "-p", self.cluster, *words.split())
        soon("a cluster",
             lambda: "state:ok" in run("redis-cli", "-p", self.cluster, "CLUSTER", "INFO"))
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"sentinel monitor shop 127.0.0.1 {plain} 1\n"
                       "sentinel down-after-milliseconds shop 600000\n")
        self.serve(config, "--sentinel", port=self.sentinel)

    def serve(self, *words, port):
        words = [*words, "--port", port, "--bind", "127.0.0.1", "--dir", self.folder]
        subprocess.Popen(["redis-server", *words], preexec_fn=end_with_us,
                         stdout=subprocess.DEVNULL)
        soon(f"a Redis at {port}",
             lambda: "PONG" in run("redis-cli", "-p", port, "PING", statuses=(0, 1)))

    def system(self, variant, place):
        """A system of the lock on the store.  Its leases are longer than the test."""
        option, url = {
            "redis": ("redis_url", self.env["SECKILL_REDIS_URL"]),
            "redlock": ("redlock_urls", self.env["SECKILL_REDLOCK_URLS"]),
            "tls": ("redis_url", f"rediss://127.0.0.1:{self.tls}?ca={self.pem}"),
            "cluster": ("redis_url", f"redis-cluster://127.0.0.1:{self.cluster}"),
            "sentinel": ("redis_url", f"redis-sentinel://127.0.0.1:{self.sentinel}/shop"),
            "postgres": ("database_url", self.env["SECKILL_DATABASE_URL"]),
            "etcd": ("etcd_url", self.env["SECKILL_ETCD_URL"]),
        }[place]
        options = {option: url, **{name: TIMEOUT_MS for name in TIMEOUTS}}
        return soon("a system", lambda: open_system(variant, options))


# A busy machine may need several tries for what needs a network.

def open_system(variant, options):
    try:
        return System(variant, lease_ms=LEASE_MS, **options)
    except AssertionError as refusal:
        assert refusal.args[0][1] == IO, refusal
        return None


def make_pair(system, names=itertools.count()):
    """Acquire and release a name that nothing has used yet."""
    answer, lease = system.acquire(f"pair-{next(names)}", 5000)
    return answer == OK and system.release(lease) == OK


def in_a_partition(call):
    """Make the call while there is no network, and return its answer."""
    soon("nothing to send", kernel_is_done)
    set_network(False)
    try:
        return call()
    finally:
        set_network(True)


def is_given_up(system, name):
    """Acquire the name in a partition.  True: the request was sent, and not answered."""
    soon("a pair", lambda: make_pair(system))
    answer, _ = in_a_partition(lambda: system.acquire(name))
    assert answer in (UNKNOWN, IO), (name, answer, system.error())
    return answer == UNKNOWN


def is_free_afterwards(rig, variant, place):
    name = f"{variant}-{place}"
    locks, others = rig.system(variant, place), rig.system(variant, place)
    soon("an acquire that is given up", lambda: is_given_up(locks, name))
    soon("debts paid", lambda: locks.pay_debts(1000) == 0)
    soon("a pair", lambda: make_pair(locks))
    soon("nothing to send", kernel_is_done)
    while (answer := others.acquire(name)[0]) in (UNKNOWN, IO):
        pass
    assert answer == OK, (name, answer, others.error())
    others.close()
    locks.close()


def an_acquire_that_was_given_up_does_not_reach_redis(rig):
    for variant in ("lua", "reentrant", "watch", "fair"):
        is_free_afterwards(rig, variant, "redis")


def nor_redis_over_tls_in_a_cluster_or_by_sentinels(rig):
    for place in ("tls", "cluster", "sentinel"):
        is_free_afterwards(rig, "watch" if place == "tls" else "reentrant", place)


def nor_the_nodes_of_redlock(rig):
    is_free_afterwards(rig, "redlock", "redlock")


def nor_postgresql(rig):
    for variant in ("pg-unique", "pg-fair"):
        is_free_afterwards(rig, variant, "postgres")


def nor_etcd(rig):
    is_free_afterwards(rig, "etcd", "etcd")


class Primitives:
    """A dlock_primitives of the Redis."""

    def __init__(self, rig):
        rig.system("lua", "redis").close()  # loads the library
        self.handle = ctypes.c_void_p()
        url = rig.env["SECKILL_REDIS_URL"].encode()
        begin = System.library.dlock_primitives_open
        assert begin(ctypes.byref(self.handle), url, TIMEOUT_MS) == OK

    def call(self, function, name, *words):
        return getattr(System.library, f"dlock_{function}")(self.handle, name.encode(), *words)

    def number(self, function, name):
        number = ctypes.c_int64()
        assert self.call(function, name, ctypes.byref(number)) == OK
        return number.value


def nor_a_semaphore_a_permit_or_a_latch(rig):
    prims, permit = Primitives(rig), ctypes.create_string_buffer(64)
    once = ctypes.c_int64(0)
    cases = (
        ("semaphore_set", "semaphore_available", ("semaphore_acquire", 1, once)),
        ("semaphore_set", "semaphore_available", ("semaphore_release", 1)),
        ("permits_set", "permits_available", ("permits_acquire", once, LEASE_MS, permit)),
        ("latch_set", "latch_count", ("latch_count_down", None)),
    )
    for number, (make, count, (function, *words)) in enumerate(cases):
        name = f"{make}-{number}"
        assert prims.call(make, name, 3) == OK
        answer = in_a_partition(lambda: prims.call(function, name, *words))
        assert answer == UNKNOWN, (function, answer)
        soon("a connection", lambda: prims.call(make, name, 3) != IO)
        soon("nothing to send", kernel_is_done)
        assert prims.number(count, name) == 3, function


if __name__ == "__main__":
    enter_namespace()
    sys.exit(main((
        an_acquire_that_was_given_up_does_not_reach_redis,
        nor_redis_over_tls_in_a_cluster_or_by_sentinels,
        nor_the_nodes_of_redlock,
        nor_postgresql,
        nor_etcd,
        nor_a_semaphore_a_permit_or_a_latch,
    ), Rig))
