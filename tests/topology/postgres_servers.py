# SPDX-License-Identifier: MIT
"""postgres_servers.py -- starts a laboratory's PostgreSQL, a streaming standby, PgBouncer in front, and seckilld, for
programs that break these servers.  Every server ends with the program that started it."""
import atexit
import contextlib
import glob
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
from free_ports import free_ports  # noqa: E402  pylint: disable=wrong-import-position

PATIENCE_S = 90.0
SECKILL, SECKILLD = "build/seckill", "build/seckilld"
BIN = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))[-1]


def end_as_asked(*_):
    """On SIGTERM, end the laboratory before the program."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(143)


signal.signal(signal.SIGTERM, end_as_asked)


def soon(what, state, pause_s=0.02, patience_s=PATIENCE_S):
    """Wait until `state` returns a true value, and return this value."""
    end = time.monotonic() + patience_s
    while not (answer := state()):
        if time.monotonic() > end:
            raise AssertionError(f"after {patience_s:.0f} s still not: {what() if callable(what) else what}")
        time.sleep(pause_s)
    return answer


def end_with_us():
    """Run in a child before its program: the child is killed when this process ends."""
    import ctypes  # pylint: disable=import-outside-toplevel
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def as_postgres():
    """The words before the command of a PostgreSQL server, which refuses to run as root."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--pdeathsig", "KILL"]


def run(*command, statuses=(0,)):
    """Return the output of the command; fail with its output if its exit status is none of these."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in statuses, f"{' '.join(command)}: {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


class Laboratory:
    """A lab in a directory of its own, and a standby of its PostgreSQL after add_standby().  Both end with the
    program."""

    def __init__(self, *options):
        self.folder = tempfile.mkdtemp(prefix="seckill-postgres-")
        self.dir, self.standby, self.forward = f"{self.folder}/lab", None, None
        atexit.register(self.end)
        os.chmod(self.folder, 0o755)
        run(SECKILL, "lab", "up", *options, "--dir", self.dir)
        with open(f"{self.dir}/env", encoding="utf-8") as file:
            self.env = dict(re.findall(r"^export (\w+)='([^']*)'", file.read(), re.MULTILINE))
        self.port = int(re.search(r":(\d+)/", self.env["SECKILL_DATABASE_URL"]).group(1))
        self.ports = [self.port]

    def url(self, ports=None, user="service", query=""):
        """The URL of the database with the servers at these ports, in their order."""
        one = self.env["SECKILL_DATABASE_URL" if user == "service" else "SECKILL_LAB_DATABASE_URL"]
        hosts = ",".join(f"127.0.0.1:{port}" for port in ports or self.ports)
        return re.sub(r"127\.0\.0\.1:\d+", hosts, one) + query

    def sql(self, text, port=None, user="lab"):
        """Return the output of psql; None if psql failed."""
        done = subprocess.run(["psql", self.url([port or self.port], user, "?connect_timeout=5"), "--no-psqlrc", "-qAtXc", text],
                              capture_output=True, text=True, check=False, timeout=60)
        return done.stdout.strip() if done.returncode == 0 else None

    def set(self, name, value, port=None):
        assert self.sql(f"ALTER SYSTEM SET {name} = '{value}'", port) == "", name
        assert self.sql("SELECT pg_reload_conf()", port) == "t"
        soon(f"{name} = {value}", lambda: self.sql(f"SHOW {name}", port) == value)

    # ---- the standby ----

    def add_standby(self):
        """Start a standby named s1, and wait until it streams."""
        data, [port] = f"{self.folder}/standby", free_ports(1)
        run(f"{BIN}/pg_basebackup", "-d", self.url(user="lab") + "?application_name=s1", "-D", data, "-R", "-X", "stream", "-c", "fast")
        run("chmod", "-R", "go-rwx", data)
        if os.geteuid() == 0:
            run("chown", "-R", "postgres:", data)
        self.standby_data = data
        self.standby_port = port
        self.ports = [self.port, port]
        self.start_standby()
        soon("a standby that streams", self.is_streaming)

    def start_standby(self):
        self.standby = subprocess.Popen(
            as_postgres() + [f"{BIN}/postgres", "-D", self.standby_data, "-p", str(self.standby_port), "-N", "400", "-c",
                             "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "hot_standby=on", "-c",
                             "wal_retrieve_retry_interval=200ms"],
            stdout=open(f"{self.folder}/standby.log", "a", encoding="utf-8"), stderr=subprocess.STDOUT, preexec_fn=end_with_us)

    def stop_standby(self):
        self.standby.send_signal(signal.SIGINT)
        self.standby.wait()
        self.standby = None

    def is_streaming(self):
        return self.sql("SELECT state FROM pg_stat_replication WHERE application_name = 's1'") == "streaming"

    def make_synchronous(self):
        self.set("synchronous_standby_names", "s1")
        soon("a synchronous standby", lambda: self.sql("SELECT sync_state FROM pg_stat_replication") == "sync")

    def hold_replication(self):
        """Stop the WAL sender, so that later writes of the primary do not reach the standby."""
        pid = int(self.sql("SELECT pid FROM pg_stat_activity WHERE backend_type = 'walsender'"))
        os.kill(pid, signal.SIGSTOP)
        return pid

    def promote(self):
        assert self.sql("SELECT pg_promote()", self.standby_port) == "t"

    # ---- the lab's server ----

    def pid(self):
        """The status is 69 while the server is stopped."""
        said = run(SECKILL, "lab", "status", "--dir", self.dir, statuses=(0, 69))
        return int(re.search(r"^postgres .*?pid (\d+)", said, re.MULTILINE).group(1))

    def signal_all(self, number):
        """Send the signal to every process of the server."""
        pid = self.pid()
        children = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False).stdout.split()
        for one in (pid, *map(int, children)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, number)

    def kill(self):
        run(SECKILL, "lab", "kill", "postgres", "--dir", self.dir)

    def restart(self):
        run(SECKILL, "lab", "restart", "postgres", "--dir", self.dir)

    def lead_to_standby(self):
        """Forward the port of the lab's server, which has ended, to the promoted standby, so that the commands of the
        lab find the database."""
        self.forward = Forward(self.port, self.standby_port)

    def end(self):
        atexit.unregister(self.end)
        if self.forward:
            self.forward.end()
        if self.standby:
            self.stop_standby()
        subprocess.run([SECKILL, "lab", "down", "--dir", self.dir], stdout=subprocess.DEVNULL, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)


class Forward:
    """Forwards connections from one port to another."""

    def __init__(self, port, target):
        self.target, self.sockets = target, []
        self.listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                one, _ = self.listener.accept()
                other = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                return
            self.sockets += [one, other]
            threading.Thread(target=self.copy, args=(one, other), daemon=True).start()
            threading.Thread(target=self.copy, args=(other, one), daemon=True).start()

    @staticmethod
    def copy(source, target):
        with contextlib.suppress(OSError):
            while block := source.recv(65536):
                target.sendall(block)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)

    def end(self):
        for one in [self.listener, *self.sockets]:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


class Pgbouncer:
    """A PgBouncer in front of the lab's PostgreSQL, in one mode."""

    def __init__(self, laboratory, mode, extra=""):
        self.lab, [self.port] = laboratory, free_ports(1)
        self.folder = tempfile.mkdtemp(prefix="pgbouncer-", dir=laboratory.folder)
        users = ""
        for user in ("service", "lab"):
            name, password = re.search(r"//(\w+):([^@]+)@", laboratory.url(user=user)).groups()
            users += f'"{name}" "{password}"\n'
        with open(f"{self.folder}/users", "w", encoding="ascii") as file:
            file.write(users)
        with open(f"{self.folder}/ini", "w", encoding="ascii") as file:
            file.write(f"[databases]\nseckill = host=127.0.0.1 port={laboratory.port} dbname=seckill\n[pgbouncer]\n"
                       f"listen_addr = 127.0.0.1\nlisten_port = {self.port}\nunix_socket_dir =\nauth_type = scram-sha-256\n"
                       f"auth_file = {self.folder}/users\nadmin_users = seckill_lab\npool_mode = {mode}\n"
                       "default_pool_size = 40\nquery_wait_timeout = 2\nserver_login_retry = 1\n"
                       f"max_client_conn = 300\n{extra}\n")
        if os.geteuid() == 0:
            run("chown", "-R", "postgres:", self.folder)
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            as_postgres() + [shutil.which("pgbouncer", path=os.environ["PATH"] + ":/usr/sbin"), "-q", f"{self.folder}/ini"],
            stdout=open(f"{self.folder}/log", "a", encoding="utf-8"), stderr=subprocess.STDOUT, preexec_fn=end_with_us)
        soon("PgBouncer answers", lambda: self.lab.sql("SELECT 1", self.port, "service") == "1")

    def command(self, text):
        """Run a command in PgBouncer's console, and return its output."""
        url = self.lab.url([self.port], "lab").rsplit("/", 1)[0] + "/pgbouncer"
        return subprocess.run(["psql", url, "--no-psqlrc", "-qAtXc", text], capture_output=True, text=True, check=False).stdout

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        if self.process.poll() is None:
            self.kill()


class Service:
    """A seckilld on free ports, with these additional flags."""

    def __init__(self, laboratory, *flags, wait=True):
        self.lab = laboratory
        self.log = open(tempfile.mkstemp(dir=laboratory.folder, suffix=".log")[1], "w+", encoding="utf-8")
        self.process = subprocess.Popen([SECKILLD, "--listen=127.0.0.1:0", "--admin-listen=127.0.0.1:0",
                                         "--allow-mixed-settings", *flags], env={**os.environ, **laboratory.env}, stdout=subprocess.PIPE, stderr=self.log, text=True,
                                        preexec_fn=end_with_us)
        self.orders = self.admin = None
        if wait:
            line = self.process.stdout.readline()
            found = re.search(r"orders=(\S+) admin=(\S+)", line)
            assert found, f"seckilld is not ready: {line}{self.said()}"
            self.orders, self.admin = found.groups()

    def said(self):
        with open(self.log.name, encoding="utf-8") as file:
            return file.read()

    def readiness(self):
        """The status and the body of /readyz."""
        try:
            with urllib.request.urlopen(f"{self.admin}/readyz", timeout=20) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def is_ready(self):
        return self.readiness()[0] == 200

    def order(self, voucher, token, key=None):
        """Place an order.  Return the status, the outcome and the order's number or None; (0, "", None) without an answer."""
        request = urllib.request.Request(f"{self.orders}/api/v1/vouchers/{voucher}/orders", method="POST", data=b"",
                                         headers={"authorization": token, **({"Idempotency-Key": key} if key else {})})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                status, head, body = answer.status, answer.headers, answer.read().decode()
        except urllib.error.HTTPError as error:
            status, head, body = error.code, error.headers, error.read().decode()
        except OSError:
            return 0, "", None
        number = re.search(r'"id":"(\d+)"', body)
        assert status != 503 or head["Retry-After"], f"{status} without Retry-After: {body}"
        return status, head["X-Outcome"], int(number.group(1)) if number else None

    def end(self):
        """Stop the service, and return its exit status."""
        if self.process.poll() is None:
            self.process.terminate()
        self.process.stdout.close()
        return self.process.wait()


def seed(laboratory, users=2000, stock=1000):
    """Create a voucher that is on sale.  Return its id and the tokens of the users."""
    said = run(SECKILL, "seed", "--dir", laboratory.dir, f"--users={users}", f"--stock={stock}")
    voucher = int(re.search(r"voucher (\d+)", said).group(1))
    with open(f"{laboratory.dir}/tokens.txt", encoding="ascii") as file:
        return voucher, [line.split()[1] for line in file]
