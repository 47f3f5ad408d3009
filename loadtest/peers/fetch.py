# SPDX-License-Identifier: MIT
"""fetch.py -- brings each peer to the cache, in the pinned version, and builds its program.

Versions and checksums are in the tree: tests/interop/pom.xml and redisson/jars.sha256,
redis-py/requirements.txt, the package-lock.json of each peer on Node, go.sum. The hosts are
those of the tools' own settings. A peer that is in the cache as its files ask for is left as
it is, so that a measurement needs no network."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
INTEROP_POM = os.path.join(ROOT, "tests", "interop", "pom.xml")
CURATOR_JARS = "/usr/share/java"
INSTALL = "make deps-bench-peers"


class Missing(Exception):
    """A peer cannot be fetched; the text has the reason and the remedy."""

    def __init__(self, reason, install=INSTALL):
        super().__init__(reason)
        self.reason, self.install = reason, install


def need(*programs):
    for program in programs:
        if shutil.which(program) is None:
            raise Missing(f"there is no {program}")


def run(command, **more):
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL, **more)
    if done.returncode != 0:
        tail = " | ".join(done.stdout.strip().splitlines()[-3:])
        raise Missing(f"{os.path.basename(command[0])} failed: {tail}",
                      "a network is needed the first time: loadtest/peers/peers.py --fetch")
    return done.stdout


def first_line(*command):
    return subprocess.run(command, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True).stdout.split("\n")[0].strip()


def read(*path):
    with open(os.path.join(HERE, *path), encoding="utf-8") as file:
        return file.read()


class Fetched:
    """A peer. The build in the cache is current while `files` are unchanged."""

    name, files, programs = "", (), ()

    def __init__(self, cache):
        self.cache = cache
        self.dir = os.path.join(cache, self.name)

    def stamp(self):
        digest = hashlib.sha256()
        for file in self.files:
            digest.update(read(file).encode())
        return digest.hexdigest()

    def is_there(self):
        path = os.path.join(self.dir, "fetched")
        if not os.path.exists(path):
            return False
        with open(path, encoding="utf-8") as file:
            return file.read() == self.stamp()

    def fetch(self):
        need(*self.programs)
        if self.is_there():
            return
        print(f"bench-peers: fetching {self.name}", file=sys.stderr, flush=True)
        shutil.rmtree(self.dir, ignore_errors=True)
        os.makedirs(self.dir)
        self.build()
        with open(os.path.join(self.dir, "fetched"), "w", encoding="utf-8") as file:
            file.write(self.stamp())

    def build(self):
        raise NotImplementedError

    def command(self):
        raise NotImplementedError

    def environment(self):
        return {}

    def version(self):
        raise NotImplementedError

    def lacks(self, _setting):
        """The missing condition of a setting, if there is one."""
        return None


class Java(Fetched):
    programs = ("javac", "java")

    def compile(self, jars):
        run(["javac", "-cp", jars, "-d", os.path.join(self.dir, "classes"),
             os.path.join(HERE, "Slices.java"), os.path.join(HERE, self.name, "Peer.java")])

    def java(self, jars):
        return ["java", "-Xshare:auto", "-cp", os.path.join(self.dir, "classes") + ":" + jars,
                "Peer"]


class Redisson(Java):
    name = "redisson"
    programs = ("mvn", "javac", "java")
    files = ("../../tests/interop/pom.xml", "redisson/jars.sha256", "redisson/Peer.java",
             "Slices.java")

    def jars(self):
        return os.path.join(self.dir, "lib", "*")

    def build(self):
        run(["mvn", "-B", "-q", "-f", INTEROP_POM, "-Doutput=" + self.dir,
             "-Dmaven.repo.local=" + os.path.join(self.cache, "maven"), "compile"])
        run(["sha256sum", "--check", "--strict", "--quiet",
             os.path.join(HERE, "redisson", "jars.sha256")], cwd=os.path.join(self.dir, "lib"))
        self.compile(self.jars())

    def command(self):
        return self.java(self.jars())

    def version(self):
        version = re.search(r"<redisson.version>(.*)</", read(INTEROP_POM)).group(1)
        return f"Redisson {version}, {first_line('java', '-version')}"


class Curator(Java):
    name = "curator"
    files = ("curator/Peer.java", "Slices.java")

    def jars(self):
        names = ("curator-client", "curator-framework", "curator-recipes", "zookeeper",
                 "zookeeper-jute", "guava", "failureaccess", "slf4j-api", "slf4j-nop",
                 "netty-handler", "netty-transport", "netty-common", "netty-buffer",
                 "netty-codec", "netty-resolver", "netty-transport-native-epoll",
                 "netty-transport-native-unix-common")
        return ":".join(os.path.join(CURATOR_JARS, name + ".jar") for name in names)

    def build(self):
        if not os.path.exists(os.path.join(CURATOR_JARS, "curator-recipes.jar")):
            raise Missing("there is no libcurator-recipes-java")
        self.compile(self.jars())

    def command(self):
        return self.java(self.jars())

    def version(self):
        version = first_line("dpkg-query", "-W", "-f=${Version}", "libcurator-recipes-java")
        return f"Curator {version} (Debian), {first_line('java', '-version')}"


class RedisPy(Fetched):
    name = "redis-py"
    files = ("redis-py/requirements.txt",)
    python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else "python3"

    def build(self):
        if subprocess.run([self.python, "-m", "pip", "--version"], check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            raise Missing(f"{self.python} has no pip")
        run([self.python, "-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps",
             "--only-binary=:all:", "--cache-dir=" + os.path.join(self.cache, "pip"),
             "--target=" + os.path.join(self.dir, "lib"),
             "-r", os.path.join(HERE, "redis-py", "requirements.txt")])

    def command(self):
        return [self.python, os.path.join(HERE, "redis-py", "peer.py")]

    def environment(self):
        return {"PYTHONPATH": os.path.join(self.dir, "lib"), "PYTHONDONTWRITEBYTECODE": "1"}

    def version(self):
        pins = dict(re.findall(r"^([a-z-]+)==([0-9.]+)", read("redis-py", "requirements.txt"),
                               re.M))
        return (f"redis-py {pins['redis']}, hiredis {pins['hiredis']}, "
                f"{first_line(self.python, '--version')}")


class OnNode(Fetched):
    programs = ("node", "npm")

    def __init__(self, cache):
        self.files = (f"{self.name}/package.json", f"{self.name}/package-lock.json")
        super().__init__(cache)

    def build(self):
        for file in ("package.json", "package-lock.json"):
            shutil.copy(os.path.join(HERE, self.name, file), self.dir)
        run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent",
             "--cache=" + os.path.join(self.cache, "npm")], cwd=self.dir)

    def command(self):
        return ["node", os.path.join(HERE, self.name, "peer.js")]

    def environment(self):
        return {"PEER_MODULES": self.dir}

    def version(self):
        pins = json.loads(read(self.name, "package.json"))["dependencies"]
        listed = ", ".join(f"{name} {version}" for name, version in pins.items())
        return f"npm's {listed}, Node {first_line('node', '--version')}"


class NodeRedlock(OnNode):
    name = "node-redlock"


class RedisSemaphore(OnNode):
    name = "redis-semaphore"


class InGo(Fetched):
    programs = ("go",)
    module, more_files = "", ()

    def __init__(self, cache):
        self.files = ("go.mod", "go.sum", "slices.go", f"{self.name}/main.go", *self.more_files)
        super().__init__(cache)

    def stamp(self):
        return super().stamp() + first_line("go", "version")

    def build(self):
        places = {"GOMODCACHE": os.path.join(self.cache, "go-modules"),
                  "GOCACHE": os.path.join(self.cache, "go-built"), "GOTOOLCHAIN": "local"}
        run(["go", "build", "-modcacherw", "-mod=readonly", "-o",
             os.path.join(self.dir, "peer"), "./" + self.name],
            cwd=HERE, env={**os.environ, **places})

    def command(self):
        return [os.path.join(self.dir, "peer")]

    def pin(self, module):
        return re.search(re.escape(module) + r" v([0-9.]+)", read("go.mod")).group(1)

    def version(self):
        go = first_line("go", "version").split()[2]
        return f"{self.name} {self.pin(self.module)}{self.more()}, {go}"

    def more(self):
        return ""


class Redsync(InGo):
    name, module = "redsync", "github.com/go-redsync/redsync/v4"
    more_files = ("redsync/rueidis.go",)

    def more(self):
        return (f", go-redis {self.pin('github.com/redis/go-redis/v9')}, "
                f"rueidis {self.pin('github.com/redis/rueidis')}")

    def lacks(self, setting):
        release = re.match(r"go1\.(\d+)", first_line("go", "version").split()[2])
        if setting == "rueidis" and release and int(release.group(1)) < 20:
            return "rueidis needs Go 1.20 or later"
        return None


class Etcd(InGo):
    name, module = "etcd", "go.etcd.io/etcd/client/v3"
    programs = ("go", "etcd")
    more_files = ("etcd/etcdctl.go",)

    def lacks(self, setting):
        if setting == "etcdctl" and shutil.which("etcdctl") is None:
            return "there is no etcdctl"
        return None

    def version(self):
        server = first_line("etcd", "--version").split()[-1]
        return f"etcd {server}, client {self.pin(self.module)}, {super().version().split(', ')[-1]}"


class Ours(Fetched):
    name = "ours"
    program = os.path.join(ROOT, "build", "peers-ours")

    def fetch(self):
        if not os.path.exists(self.program):
            raise Missing(f"there is no {self.program}", "make build/peers-ours")

    def command(self):
        return [self.program]

    def version(self):
        text = read(ROOT, "base", "text", "version.h")
        return "seckill " + re.search(r'SECKILL_VERSION "(.*)"', text).group(1)


ALL = {kind.name: kind for kind in (
    Ours, Redisson, RedisPy, NodeRedlock, RedisSemaphore, Redsync, Curator, Etcd)}
