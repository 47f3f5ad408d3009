#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fuzz.py --service=PROGRAM [--requests=N] [--seed=N] -- malformed and odd requests.

Sends N requests of the kinds below to a service built with sanitizers, from a generator
that gives the same requests for the same seed.  A kind says what may come of it:
  refused   an answer of 4xx or 5xx but 500, or the connection is closed after it
  any       random bytes: whatever comes, the process lives
  served    odd but right: 200
Prints how many of each kind got which status (0: closed without an answer).

Exit status: 0 if every kind came out so, the sanitizers reported nothing and the service
ended as it should; 1 otherwise; 69 when something cannot be started.
"""
import argparse
import collections
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__)))))
PATH = b"/voucher/list/1"
END = b"\r\n"


def head(line=b"GET " + PATH + b" HTTP/1.1", host=b"Host: x", more=b"", end=END):
    """A head with these lines; `more` is a line with its end, or several."""
    return line + END + host + (END if host else b"") + more + end


def line_kinds(r):
    return {
        "LF LF ends the head": b"GET " + PATH + b" HTTP/1.1\r\nHost: x\n\n",
        "bare LF between lines": b"GET " + PATH + b" HTTP/1.1\nHost: x\r\n\r\n",
        "LF before the path": head(b"GET \n" + PATH + b" HTTP/1.1"),
        "CR after the path": head(b"GET " + PATH + b" \rHTTP/1.1"),
        "CR in a value": head(more=b"A: b\rc\r\n"),
        "empty line ahead": r.choice([b"\r\n", b"\n", b"\r\n\r\n", b" "]) + head(),
        "several spaces": head(r.choice([b"GET  ", b"GET   "]) + PATH + b" HTTP/1.1"),
        "several spaces behind": head(b"GET " + PATH + b"  HTTP/1.1"),
        "space behind the version": head(b"GET " + PATH + b" HTTP/1.1 "),
        "tab for a space": head(b"GET\t" + PATH + b" HTTP/1.1"),
        "no version": head(b"GET " + PATH),
        "odd version": head(b"GET " + PATH + b" " + r.choice([
            b"HTTP/2.0", b"HTTP/1.2", b"HTTP/1.10", b"http/1.1", b"HTTP/0.9", b"HTTP/1",
            b"HTTPS/1.1", b"ICY/1.1", b"HTTP/1.1x", b"HTTP/-1.1"])),
        "odd method": head(r.choice([b"get", b"BREW", b"G(T", b"GET\x00", b"PRI", b"-"])
                           + b" " + PATH + b" HTTP/1.1"),
        "control byte": head(more=b"A: b" + bytes([r.choice(
            [i for i in range(32) if i not in (10, 13)] + [127])]) + b"c\r\n"),
    }


def target_kinds(r):
    path = r.choice([b"a", b"*", b"/a%41", b"/../a", b"/a/../b", b"/.a", b"//a", b"/a//b",
                     b"/a;b", b"/a\\b", b"/a#b", b"/<a>", b"/{a}", b"/a|b", b"/a\"b",
                     b"/a^b", b"/a`b", b"/%00", b"/%2e%2e/a", b"/\xc3\xa9", b"/\xff"])
    query = r.choice([b"b=%00", b"b=%", b"b=%4", b"b=%zz", b"b=%0a", b"b=%7f", b"b=%ff",
                      b"b=%c0%af", b"b=#", b"b=\"", b"b=<c>", b"b={", b"b=\\", b"b=\xff",
                      b"&", b"=b", b"b=c&", b"b&&c", b"b[]=c", b"%62=c", b"b=1&b=2"])
    return {
        "bad path": head(b"GET " + path + b" HTTP/1.1"),
        "bad query": head(b"GET " + PATH + b"?" + query + b" HTTP/1.1"),
        "long target": head(b"GET /" + b"a" * r.randint(512, 7000) + b" HTTP/1.1"),
        "URL of another host": head(b"GET http://y" + PATH + b" HTTP/1.1"),
        "URL of another port": head(b"GET http://x:1" + PATH + b" HTTP/1.1", b"Host: x:1"),
        "URL of another scheme": head(b"GET " + r.choice([b"https", b"ftp", b"ws"]) +
                                      b"://x" + PATH + b" HTTP/1.1"),
        "asterisk or authority": head(r.choice([b"OPTIONS *", b"CONNECT x:80"]) +
                                      b" HTTP/1.1"),
    }


def header_kinds(r):
    sign = bytes([r.choice(b"()<>@,;\\\"/[]?={} ")])
    host = r.choice([b"", b"a b", b"a,b", b"a/b", b"a@b", b"a:b", b"a:", b"a:0", b"a:65536",
                     b"a:80:80", b"::1", b"[::1", b"[::g]", b"a..b", b".a", b"-a",
                     b"1.2.3.999", b"http://a", b"a?b", b"a#b", b"%41", b"\xff", b"*"])
    length = r.choice([b"0x1", b"1 1", b"", b"+1", b"-1", b"1,1", b"1a", b"1.0",
                       b"99999999999999999999", b"\xb2"])
    return {
        "bad name of a header": head(more=b"A" + sign + b"b: c\r\n"),
        "no name of a header": head(more=b": c\r\n"),
        "no colon": head(more=b"rubbish\r\n"),
        "space before the colon": head(more=b"A : b\r\n"),
        "folded line": head(more=b"A: b\r\n" + r.choice([b" ", b"\t"]) + b"c\r\n"),
        "folded first line": head(host=b" Host: x"),
        "bad Host": head(host=b"Host: " + host),
        "no Host": head(host=b"", more=b"A: b\r\n"),
        "two Hosts": head(more=b"hOST: " + r.choice([b"x", b"y"]) + END),
        "bad Content-Length": head(more=b"Content-Length: " + length + END),
        "two Content-Lengths": head(more=b"Content-Length: 1\r\ncontent-length: " +
                                    r.choice([b"1", b"2"]) + END) + b"x",
        "Transfer-Encoding": head(more=b"Transfer-Encoding: " + r.choice(
            [b"chunked", b"identity", b"", b"xchunked", b"gzip, chunked"]) + END),
        "both lengths": head(more=b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")
        + b"0\r\n\r\n",
        "bad Expect": head(more=b"Expect: " + r.choice([b"", b"more", b"200-ok"]) + END),
        "too many headers": head(more=b"A: b\r\n" * r.randint(59, 200)),
        "too long a head": head(more=b"A: " + b"b" * r.randint(8192, 20000) + END),
        "two tokens": head(more=b"Authorization: a\r\nauthorization: b\r\n"),
        "body of a GET": head(more=b"Content-Length: 3\r\n") + b"abc",
    }


def random_kinds(r):
    plain = bytearray(head(more=b"A: b\r\nContent-Length: 0\r\n"))
    for _ in range(r.randint(1, 6)):
        plain[r.randrange(len(plain))] = r.randrange(256)
    cut = head()[:r.randrange(len(head()))]
    return {
        "random bytes": bytes(r.randrange(256) for _ in range(r.randint(1, 300))),
        "a head with bytes changed": bytes(plain),
        "a head cut off": cut,
        "two in one": head() + bytes(plain),
    }


def served_kinds(r, port):
    own = f"x:{port}".encode()
    return {
        "plain": head(),
        "URL of this host": head(b"GET http://" + own + PATH + b" HTTP/1.1",
                                 b"Host: " + own),
        "obs-text in a value": head(more=b"A: \xc3\xa9\xff\r\n"),
        "HTTP/1.0": head(b"GET " + PATH + b" HTTP/1.0"),
        "odd but right Host": head(host=b"hOsT:" + r.choice(
            [b"x:80", b"[::1]:8081", b"127.0.0.1", b"a-b.c_d", b"x "])),
    }


def ask(port, data):
    """Send, say that nothing follows, and read the first status; 0: there was none."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as sock:
        answer = b""
        try:
            sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)
            while b"\r\n" not in answer:
                piece = sock.recv(4096)
                if not piece:
                    break
                answer += piece
        except TimeoutError:
            raise
        except OSError:
            pass  # the service has closed; what it said before is what counts
        found = re.match(rb"HTTP/1\.1 (\d{3}) ", answer)
        return int(found.group(1)) if found else 0


def is_right(expected, status):
    if expected == "refused":
        return 400 <= status < 600 and status != 500
    return status == 200 if expected == "served" else status != 500


def bombard(port, requests, seed, alive):
    """The answers by kind; the kinds of which some were wrong, with one request."""
    r = random.Random(seed)
    counts = collections.defaultdict(collections.Counter)
    wrong = {}
    sent = 0
    while sent < requests and alive():
        kinds = [("refused", {**line_kinds(r), **target_kinds(r), **header_kinds(r)}),
                 ("any", random_kinds(r)), ("served", served_kinds(r, port))]
        for expected, group in kinds:
            for name, data in group.items():
                if sent >= requests:
                    break
                try:
                    status = ask(port, data)
                except OSError:
                    if not alive():
                        wrong[name] = (-1, data)
                        return sent, counts, wrong
                    raise
                counts[f"{expected:<8} {name}"][status] += 1
                sent += 1
                if not is_right(expected, status) and name not in wrong:
                    wrong[name] = (status, data)
    return sent, counts, wrong


def start(where, program):
    subprocess.run([f"{ROOT}/build/seckill", "lab", "up", f"--dir={where}/lab"], check=True,
                   stdout=subprocess.DEVNULL)
    env = subprocess.run(["bash", "-c", f". {where}/lab/env && env -0"], check=True,
                         capture_output=True).stdout.decode()
    environment = dict(line.split("=", 1) for line in env.split("\0") if "=" in line)
    environment["ASAN_OPTIONS"] = "detect_leaks=1:exitcode=99"
    environment["UBSAN_OPTIONS"] = "print_stacktrace=1:halt_on_error=0"
    environment["LSAN_OPTIONS"] = f"suppressions={ROOT}/tests/lsan.supp"
    with open(f"{where}/log", "w", encoding="utf-8") as log:
        service = subprocess.Popen(
            [program, "--listen=127.0.0.1:0", "--admin-listen=127.0.0.1:0", "--lock=none",
             "--connections=64", "--request-timeout=1s"], env=environment,
            stdout=subprocess.PIPE, stderr=log, text=True)
    ready = service.stdout.readline()
    ports = re.findall(r"127\.0\.0\.1:(\d+)", ready)
    if not ports:
        with open(f"{where}/log", encoding="utf-8", errors="replace") as log:
            raise OSError("the service did not start: " + log.read()[-600:])
    return service, int(ports[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--service", required=True, help="the program to attack")
    parser.add_argument("--requests", type=int, default=300000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    where = tempfile.mkdtemp(prefix="seckill-fuzz-")
    try:
        service, port = start(where, args.service)
        try:
            sent, counts, wrong = bombard(port, args.requests, args.seed,
                                          lambda: service.poll() is None)
        finally:
            service.terminate()
        code = service.wait(60)
        with open(f"{where}/log", encoding="utf-8", errors="replace") as log:
            text = log.read()
        reports = re.findall(r"(?m)^.*(?:runtime error|ERROR: \w+Sanitizer).*$", text)
        for name in sorted(counts):
            print(f"{name:<36}", *(f"{status}:{count}" for status, count in
                                   sorted(counts[name].items())))
        for name, (status, data) in wrong.items():
            print(f"WRONG {name}: {status} for {data[:300]!r}")
        for report in reports[:20]:
            print(report)
        print(f"{sent} requests of {len(counts)} kinds, seed {args.seed}: "
              f"{len(wrong)} kinds wrong, {len(reports)} reports, exit status {code}")
        return 1 if wrong or reports or code != 0 or sent < args.requests else 0
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"fuzz: {error}", file=sys.stderr)
        return 69
    finally:
        subprocess.run([f"{ROOT}/build/seckill", "lab", "down", f"--dir={where}/lab"],
                       check=False, stdout=subprocess.DEVNULL)
        shutil.rmtree(where, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
