# SPDX-License-Identifier: MIT
"""tries.py OUTCOME -- a service that gives this answer to all orders of a wrk; prints how many of 20
answers wrk counted as tries for the lock."""
import http.server
import mmap
import os
import struct
import subprocess
import sys
import tempfile
import threading
import time

ANSWERS = 20
THREAD, ANSWERED, TRIED, ERA = 16, 1, 7, 1  # loadtest/sale/control.h


class Service(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.send_response(200)
        self.send_header("X-Outcome", sys.argv[1])
        self.send_header("X-Request-Id", self.headers.get("Idempotency-Key", ""))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def number(page, index):
    return struct.unpack_from("=q", page, 8 * index)[0]


def count(work, port):
    control = os.path.join(work, "control")
    with open(control, "wb") as file:
        file.write(struct.pack("=qq", 0, 1).ljust(32768, b"\0"))
    with open(os.path.join(work, "tokens"), "w") as file:
        for user in range(1, 1001):
            file.write(f"{user} {0:024x}{int(time.time()) + 3600:016x}{0:032x}\n")
    environment = dict(os.environ, SECKILL_TOKENS=os.path.join(work, "tokens"), SECKILL_CONTROL=control)
    wrk = subprocess.Popen(
        ["wrk", "-t1", "-c2", "-d300s", "-s", "loadtest/wrk/order.lua", f"http://127.0.0.1:{port}"],
        env=environment, stdout=subprocess.DEVNULL)
    try:
        with open(control, "r+b") as file, mmap.mmap(file.fileno(), 32768) as page:
            until = time.monotonic() + 120
            while number(page, THREAD + ANSWERED) < ANSWERS:
                if wrk.poll() is not None or time.monotonic() > until:
                    sys.exit("wrk got no answers")
                time.sleep(0.01)
            assert number(page, ERA) == 1
            return min(number(page, THREAD + TRIED), ANSWERS)
    finally:
        wrk.kill()
        wrk.wait()


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as work:
        print(count(work, server.server_port))


main()
