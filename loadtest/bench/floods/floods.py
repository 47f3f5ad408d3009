#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""floods.py [--seconds=S] [--rounds=N] [--small] -- an honest client beside three floods.

A lab, a service at its defaults and, if the program is installed, nginx in front of it are
started.  Each flood (1,000 silent sockets; 64 keep-alive clients with a GET each 0.7 s; 64
bodies that come byte by byte) comes from 127.0.0.1, with 50 silent sockets on the admin
port.  Beside it an honest client sends GETs and orders, once from 127.0.0.1 and once from
127.0.0.2, and another one asks for /livez and /readyz.

Each line is the median of the rounds, in which the client is alone and beside the flood
in turn, once through nginx and once not.  Limits: the honest client's p99 is at most twice
what it is alone, or at most nginx's beside the same flood; /livez and /readyz have a p99 of
at most 50 ms.

The service's memory is read after each of its threads has served a connection, since a
thread keeps the pages of its stack that it once used, and again at the end.

Exit status: 0 within the limits, 1 beyond them, 69 when something cannot be started.
With --small the floods are an eighth, and the times are printed and not judged.
"""
import argparse
import multiprocessing
import os
import re
import selectors
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

SERVICE_CONNECTIONS = 1024  # the default of seckilld
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__)))))
sys.dont_write_bytecode = True  # the tree stays as it is
sys.path.append(os.path.join(ROOT, "tools"))
from free_ports import free_ports  # noqa: E402


def connect(port, source="127.0.0.1"):
    sock = socket.socket()
    sock.settimeout(30)
    sock.bind((source, 0))
    sock.connect(("127.0.0.1", port))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def read_answer(sock):
    """One answer; its status, and whether the connection stays open.  (0: none.)"""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = sock.recv(65536)
        if not piece:
            return 0, False
        data += piece
    head, body = data.split(b"\r\n\r\n", 1)
    length = int(re.search(rb"(?i)content-length: *(\d+)", head).group(1))
    while len(body) < length:
        piece = sock.recv(65536)
        if not piece:
            return 0, False
        body += piece
    return int(head.split()[1]), b"connection: close" not in head.lower()


def flood_silent(port, count, stop):
    """Keep `count` sockets open that say nothing."""
    chooser = selectors.DefaultSelector()

    def one():
        try:
            sock = connect(port)
            sock.setblocking(False)
            chooser.register(sock, selectors.EVENT_READ)
        except OSError:
            pass

    for _ in range(count):
        one()
    while not stop.is_set():
        for key, _ in chooser.select(0.1):
            chooser.unregister(key.fileobj)
            key.fileobj.close()
            one()


def flood_beats(port, count, stop, period_s, first, beat):
    """`count` clients that send `first`, and `beat` every period; answers are dropped."""
    socks = {}
    while not stop.is_set():
        begin = time.monotonic()
        for i in range(count):
            try:
                if i not in socks:
                    socks[i] = connect(port)
                    socks[i].sendall(first)
                    socks[i].setblocking(False)
                while len(socks[i].recv(65536)) > 0:
                    pass
                raise OSError("closed")
            except BlockingIOError:
                try:
                    socks[i].send(beat)
                except OSError:
                    socks.pop(i).close()
            except OSError:
                if i in socks:
                    socks.pop(i).close()
        stop.wait(max(0.0, period_s - (time.monotonic() - begin)))


def flood(kind, port, admin_port, count, token, stop):
    get = b"GET /voucher/list/1 HTTP/1.1\r\nHost: x\r\n\r\n"
    body = (f"POST /api/v1/vouchers HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\n"
            "Content-Length: 4000\r\n\r\n{").encode()
    admin = multiprocessing.Process(target=flood_silent, args=(admin_port, 50, stop))
    admin.start()
    if kind == "silent":
        flood_silent(port, count, stop)
    elif kind == "polite":
        flood_beats(port, count, stop, 0.7, b"", get)
    else:
        flood_beats(port, count, stop, 0.1, body, b" ")
    admin.join()


def honest(port, source, seconds, requests, out):
    """One request each 5 ms at most, ten on a connection; the times, and what failed."""
    times, failed, sock, used = [], 0, None, 0
    end = time.monotonic() + seconds
    turn = 0
    while time.monotonic() < end:
        begin = time.monotonic()
        try:
            if sock is None:
                sock, used = connect(port, source), 0
            sock.sendall(requests[turn % len(requests)])
            status, stays = read_answer(sock)
        except OSError:
            status, stays = 0, False
        times.append(time.monotonic() - begin)
        failed += status == 0 or (status >= 500 and status != 503)
        turn += 1
        used += 1
        if not stays or used == 10:
            if sock is not None:
                sock.close()
            sock = None
        time.sleep(max(0.0, 0.005 - (time.monotonic() - begin)))
    out.put((sorted(times), failed))


def measure(port, admin_port, source, seconds, orders):
    """The p99 of an honest client and of the health questions, in ms; failures."""
    results = {}
    jobs = {
        "orders": (port, source, seconds, orders),
        "health": (admin_port, "127.0.0.2", seconds, [
            f"GET /{p} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
            for p in ("livez", "readyz")]),
    }
    running = []
    for name, args in jobs.items():
        queue = multiprocessing.Queue()
        process = multiprocessing.Process(target=honest, args=(*args, queue))
        process.start()
        running.append((name, queue, process))
    for name, queue, process in running:
        times, failed = queue.get()
        process.join()
        results[name] = (times[int(len(times) * 0.99)] * 1000, failed, len(times))
    return results


def rss_mib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) / 1024


class Stage:
    """The lab, the service and nginx."""

    def __init__(self, where):
        self.children = []
        self.where = where
        seckill = f"{ROOT}/build/seckill"
        subprocess.run([seckill, "lab", "up", f"--dir={where}/lab"], check=True,
                       stdout=subprocess.DEVNULL)
        env = subprocess.run(["bash", "-c", f". {where}/lab/env && env -0"], check=True,
                             capture_output=True).stdout.decode()
        self.env = dict(line.split("=", 1) for line in env.split("\0") if "=" in line)

        def seed(*flags):
            return subprocess.run([seckill, "seed", *flags], env=self.env, check=True,
                                  capture_output=True, text=True).stdout

        seed("--users=0", "--vouchers=1", "--stock=1000000")
        self.tokens = [line.split()[-1] for line in
                       seed("--users=500", "--vouchers=0", "--tokens=-").splitlines()]
        self.operator = seed("--operator").split()[-1]
        service = subprocess.Popen(
            [f"{ROOT}/build/seckilld", "--listen=127.0.0.1:0",
             "--admin-listen=127.0.0.1:0"], env=self.env, text=True,
            stdout=subprocess.PIPE, stderr=open(f"{where}/service.log", "w"))
        self.children.append(service)
        ready = service.stdout.readline()
        self.pid = service.pid
        self.port, self.admin_port = map(int, re.findall(r"127\.0\.0\.1:(\d+)", ready))
        self.front = self.start_nginx()

    def start_nginx(self):
        program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/sbin")
        if program is None:
            return None
        [port] = free_ports(1)
        with open(f"{self.where}/nginx.conf", "w", encoding="ascii") as conf:
            conf.write(f"""
daemon off; pid {self.where}/nginx.pid; error_log {self.where}/nginx.log;
worker_processes auto; worker_rlimit_nofile 8192;
events {{ worker_connections 4096; }}
http {{
  access_log off; client_body_temp_path {self.where}/body;
  proxy_temp_path {self.where}/proxy; fastcgi_temp_path {self.where}/fastcgi;
  uwsgi_temp_path {self.where}/uwsgi; scgi_temp_path {self.where}/scgi;
  upstream service {{ server 127.0.0.1:{self.port}; keepalive 64; }}
  server {{ listen 127.0.0.1:{port} backlog=1024;
    location / {{ proxy_pass http://service; proxy_http_version 1.1;
                  proxy_set_header Connection ""; proxy_set_header Host x; }} }}
}}""")
        self.children.append(subprocess.Popen([program, "-c", f"{self.where}/nginx.conf"]))
        for _ in range(200):
            try:
                connect(port).close()
                return port
            except OSError:
                time.sleep(0.02)
        raise OSError("nginx does not listen")

    def requests(self):
        order = "POST /voucher-order/seckill/1 HTTP/1.1\r\nHost: x\r\nAuthorization: {}\r\n\r\n"
        get = b"GET /voucher/list/1 HTTP/1.1\r\nHost: x\r\n\r\n"
        return [r for token in self.tokens for r in (get, order.format(token).encode())]

    def warm_up(self):
        """As many connections as the service has threads, twice; a request or two on each."""
        for turn in range(2 * SERVICE_CONNECTIONS):
            with connect(self.port) as sock:
                for request in self.requests()[2 * (turn % 500):][:2]:
                    sock.sendall(request)
                    read_answer(sock)

    def end(self):
        for child in reversed(self.children):
            child.terminate()
            child.wait(20)
        subprocess.run([f"{ROOT}/build/seckill", "lab", "down", f"--dir={self.where}/lab"],
                       check=False, stdout=subprocess.DEVNULL)


def run_one(stage, kind, port, count, source, seconds):
    """Alone, then beside the flood; the p99 of the client alone and beside it and of the
    health questions, and how many requests failed."""
    alone = measure(port, stage.admin_port, source, seconds, stage.requests())
    stop = multiprocessing.Event()
    process = multiprocessing.Process(
        target=flood, args=(kind, port, stage.admin_port, count, stage.operator, stop))
    process.start()
    time.sleep(1)
    beside = measure(port, stage.admin_port, source, seconds, stage.requests())
    stop.set()
    process.join()
    failed = sum(result[1] for result in beside.values())
    return alone["orders"][0], beside["orders"][0], beside["health"][0], failed


def run_line(stage, kind, count, source, args):
    """The rounds of one flood and one address; the medians for each way there is."""
    ways = ([("nginx", stage.front)] if stage.front else []) + [("-", stage.port)]
    rounds = {way: [] for way, _ in ways}
    for _ in range(args.rounds):
        for way, port in ways:
            rounds[way].append(run_one(stage, kind, port, count, source, args.seconds))
    return {way: [statistics.median(column) for column in list(zip(*of_way))[:3]]
                 + [sum(one[3] for one in of_way)] for way, of_way in rounds.items()}


def report_line(stage, kind, count, source, medians, is_judged):
    """Print the line of each way; how many limits were missed, and requests failed."""
    missed = 0
    for way, (alone, beside, health, failed) in medians.items():
        bound = max(2 * alone, medians.get("nginx", (0, 0))[1])
        fits = beside <= bound and health <= 50
        verdict = ""
        if way == "-" and is_judged:
            verdict = "within" if fits else "BEYOND"
            missed += not fits
        failures = f" {failed} failed" if failed else ""
        print(f"{kind:<8}{count:>8}  {source:<11}{way:<9}{alone:>8.1f} ms{beside:>9.1f} ms"
              f"{health:>9.1f} ms{rss_mib(stage.pid):>5.0f} MiB  {verdict}{failures}",
              flush=True)
    return missed, sum(line[3] for line in medians.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3, help="for each measurement")
    parser.add_argument("--rounds", type=int, default=3, help="of each line")
    parser.add_argument("--small", action="store_true", help="an eighth of each flood")
    args = parser.parse_args()
    share = 8 if args.small else 1
    floods = [("silent", 1000 // share), ("polite", 64 // share), ("slow", 64 // share)]
    where = tempfile.mkdtemp(prefix="seckill-floods-")
    missed = failures = 0
    stage = None
    try:
        stage = Stage(where)
        stage.warm_up()
        before = rss_mib(stage.pid)
        print(f"{'flood':<8}{'clients':>8}  {'honest at':<11}{'through':<9}{'alone p99':>11}"
              f"{'beside p99':>12}{'health p99':>12}{'RSS':>9}  verdict", flush=True)
        for kind, count in floods:
            for source in ("127.0.0.1", "127.0.0.2"):
                medians = run_line(stage, kind, count, source, args)
                line = report_line(stage, kind, count, source, medians, not args.small)
                missed += line[0]
                failures += line[1]
        print(f"memory of the service: {before:.0f} MiB before, "
              f"{rss_mib(stage.pid):.0f} MiB after")
        print(f"{failures} requests failed")
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"floods: {error}", file=sys.stderr)
        return 69
    finally:
        if stage is not None:
            stage.end()
        shutil.rmtree(where, ignore_errors=True)
    return 1 if missed or failures else 0


if __name__ == "__main__":
    sys.exit(main())
