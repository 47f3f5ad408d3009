# SPDX-License-Identifier: MIT
"""contestants.py -- the measured programs, a row for each with its part and its settings."""

from dataclasses import dataclass, replace

HOT_PROCESSES = 2
HOT_IN_FLIGHT = 64  # of all processes together
HOT_ENSEMBLE_IN_FLIGHT = 16  # a slice ends when each had its last turn, and each waits for a disk
OURS = "ours"


@dataclass(frozen=True)
class Contestant:
    """A program with a setting. `takes` are the server's commands that take a name, of which
    there is one for each pair at least; `file` is the file of theirs that does it."""

    peer: str
    setting: str
    text: str  # the setting, for people
    takes: str = ""
    file: str = ""
    beside: str = ""  # the setting of ours that it is compared with
    processes: int = 1
    warm_up_ms: int = 300

    @property
    def name(self):
        processes = f" x{self.processes}" if self.processes > 1 else ""
        return f"{self.peer} {self.setting}{processes}"

    def is_ours(self):
        return self.peer == OURS


@dataclass(frozen=True)
class Limit:
    """The least that a contestant of ours may be, in multiples of a peer."""

    setting: str
    in_flight: int
    ratio: float
    text: str
    peer: str = ""  # the name of the contestant; "": the best one


@dataclass(frozen=True)
class Part:
    name: str
    title: str
    servers: str  # of Servers: redis, nodes, ensemble
    mode: str  # own: a name for each in flight; hot: one for all
    share: float  # of the time that the whole may take
    sizes: tuple
    contestants: tuple
    limits: tuple = ()


def of(peer, file, beside, **more):
    """A function that makes the contestants of one peer."""
    def make(setting, text, takes="set", **rest):
        fields = {"file": file, "beside": beside, **more, **rest}
        return Contestant(peer, setting, text, takes, **fields)
    return make


JVM = {"warm_up_ms": 4000}
NODE = {"warm_up_ms": 1000}


def ours(setting, text, takes="", **rest):
    return Contestant(OURS, setting, text, takes, **rest)


REDISSON = "org/redisson/RedissonLock.java"
redisson = of("redisson", REDISSON, "reentrant", **JVM)
redis_py = of("redis-py", "redis/lock.py", "lua")
node_redlock = of("node-redlock", "src/index.ts", "lua-async", **NODE)
redis_semaphore = of("redis-semaphore", "src/mutex/acquire.ts", "lua-async", **NODE)
redsync = of("redsync", "mutex.go", "lua")
ASYNCIO = "redis/asyncio/lock.py"

PAIRS = (
    ours("lua", "threads", "set"),
    ours("lua-async", "asynchronous calls of one thread", "set"),
    ours("reentrant", "threads", "hset"),
    ours("reentrant-async", "asynchronous calls of one thread", "hset"),
    redisson("plain", "RLock, threads, 64 connections", "hincrby"),
    redisson("async", "RLock, lockAsync, 64 connections", "hincrby",
             beside="reentrant-async"),
    redis_py("threads", "threads, a connection each"),
    redis_py("threads", "threads of two processes", processes=2),
    redis_py("asyncio", "tasks of one loop", file=ASYNCIO, beside="lua-async"),
    node_redlock("plain", "promises, one connection"),
    node_redlock("pipelined", "promises, automatic pipelining"),
    redis_semaphore("plain", "promises, one connection"),
    redis_semaphore("pipelined", "promises, automatic pipelining"),
    redsync("pool", "goroutines, 64 connections"),
    redsync("rueidis", "goroutines, automatic pipelining"),
)

TWO = {"processes": HOT_PROCESSES}
HOT_BESIDE = "fair:64"
HOT = (
    ours("reentrant", "threads", "hset", **TWO),
    ours("fair:64", "threads, at most 64 hand-overs", **TWO),
    redisson("plain", "RLock, threads", "hincrby", beside=HOT_BESIDE, **TWO),
    redisson("fair", "RFairLock, threads", "hset", beside=HOT_BESIDE,
             file="org/redisson/RedissonFairLock.java", **TWO),
    redis_py("threads", "threads, sleep=0.001", beside=HOT_BESIDE, **TWO),
    node_redlock("plain", "promises, retryDelay=1", beside=HOT_BESIDE, **TWO),
    redis_semaphore("plain", "promises, retryInterval=1", beside=HOT_BESIDE, **TWO),
    redsync("pool", "goroutines, WithRetryDelay(1 ms)", beside=HOT_BESIDE, **TWO),
)

NODES = (
    ours("redlock", "threads, 20 s for a node", "set"),
    ours("redlock-async", "asynchronous calls of one thread", "set"),
    ours("multi", "threads", "hset"),
    redisson("multi", "RedissonMultiLock, 64 connections a node", "hincrby", beside="multi",
             file="org/redisson/RedissonMultiLock.java"),
    node_redlock("plain", "promises", beside="redlock-async"),
    node_redlock("pipelined", "promises, automatic pipelining", beside="redlock-async"),
    redis_semaphore("plain", "promises", beside="redlock-async",
                    file="src/redlockMutex/acquire.ts"),
    redis_semaphore("pipelined", "promises, automatic pipelining", beside="redlock-async",
                    file="src/redlockMutex/acquire.ts"),
    redsync("pool", "goroutines, 64 connections a node", beside="redlock"),
    redsync("rueidis", "goroutines, automatic pipelining", beside="redlock"),
)

ENSEMBLE = (
    ours("zk-seq", "threads, one session", "zookeeper"),
    Contestant("curator", "mutex", "InterProcessMutex, threads, one session", "zookeeper",
               "org/apache/curator/framework/recipes/locks/LockInternals.java", "zk-seq",
               **JVM),
    ours("etcd", "threads, a lease for each lock", "etcd"),
    Contestant("etcd", "session", "concurrency.Mutex, goroutines, one session", "etcd",
               "client/v3/concurrency/mutex.go", "etcd"),
    Contestant("etcd", "etcdctl", "etcdctl lock, a process for each pair", "etcd",
               "etcdctl/ctlv3/command/lock_command.go", "etcd"),
)

HOT_ENSEMBLE = tuple(replace(contestant, **TWO) for contestant in ENSEMBLE)

PARTS = (
    Part("pairs", "pairs without contention, one Redis", "redis", "own", 0.36, (1, 8, 64), PAIRS,
         (Limit("lua-async", 64, 2.5, "asynchronous calls, 64 in flight"),)),
    Part("hot", "one name, two processes, one Redis", "redis", "hot", 0.1, (HOT_IN_FLIGHT,),
         HOT, (Limit("fair:64", HOT_IN_FLIGHT, 5, "one name with hand-over"),)),
    Part("nodes", "pairs without contention, five nodes", "nodes", "own", 0.18, (1, 64), NODES),
    Part("ensemble", "pairs without contention, ZooKeeper and etcd", "ensemble", "own", 0.1,
         (1, 8, 64), ENSEMBLE,
         (Limit("etcd", 64, 0.8, "etcd, 64 in flight", "etcd session"),
          Limit("etcd", 64, 2, "etcd, 64 in flight", "etcd etcdctl"))),
    Part("hot-ensemble", "one name, two processes, ZooKeeper and etcd", "ensemble", "hot", 0.06,
         (HOT_ENSEMBLE_IN_FLIGHT,), HOT_ENSEMBLE),
)
SERVICE = "service"
PART_NAMES = tuple(part.name for part in PARTS) + (SERVICE,)
PEER_NAMES = tuple(dict.fromkeys(
    c.peer for part in PARTS for c in part.contestants if not c.is_ours()))
