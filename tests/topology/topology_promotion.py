#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""topology_promotion.py -- the service and its locks when PostgreSQL has a standby: the server that they use, the
effect of a promotion on requests and locks, and the answer to a COMMIT that the standby never got.  Prints TAP."""
import os
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from dlock import BUSY, LOST, OK, System  # noqa: E402
from postgres_servers import Laboratory, Service, seed, soon  # noqa: E402
from tap import main  # noqa: E402


def with_standby():
    lab = Laboratory()
    lab.add_standby()
    return lab


NARROW = ("--lock=none", "--database-connections=4", "--statement-timeout=2s", "--settle-timeout=1s")


def a_standby_is_named_at_the_start(lab):
    service = Service(lab, "--lock=none", f"--database-url={lab.url([lab.standby_port])}", "--start-timeout=1s", wait=False)
    assert service.process.wait(timeout=60) == 69
    assert f"port {lab.standby_port} failed: session is read-only" in service.said(), service.said()
    locks = Service(lab, "--lock=pg-unique", f"--database-url={lab.url([lab.standby_port])}", "--start-timeout=1s", wait=False)
    assert locks.process.wait(timeout=60) == 69
    assert "not available for --lock=pg-unique" in locks.said() and "session is read-only" in locks.said(), locks.said()


def a_standby_that_comes_first_is_passed_over(lab):
    service = Service(lab, "--lock=pg-unique", f"--database-url={lab.url([lab.standby_port, lab.port])}")
    voucher, tokens = seed(lab, 5, 5)
    assert service.order(voucher, tokens[0])[:2] == (201, "accepted")
    assert service.end() == 0


def a_silent_first_host_takes_its_part_of_the_time(lab):
    """The kernel accepts the connections to a listener that calls no accept(), and then nothing answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=50) as silent:
        service = Service(lab, *NARROW, f"--database-url={lab.url([silent.getsockname()[1], lab.port])}")
        voucher, tokens = seed(lab, 5, 5)
        begin = time.monotonic()
        assert service.order(voucher, tokens[0])[:2] == (201, "accepted")
        assert time.monotonic() - begin < 2, "the order waited for the silent host"
        assert service.end() == 0


def a_server_that_becomes_read_only_is_left(lab):
    """The sessions of the server stay open, like those of a demoted server that did not restart."""
    service = Service(lab, *NARROW, "--database-wait=30s", f"--database-url={lab.url()}")
    voucher, tokens = seed(lab, 50, 50)
    assert service.order(voucher, tokens[0])[:2] == (201, "accepted")
    lab.set("default_transaction_read_only", "on")
    status, outcome, _ = service.order(voucher, tokens[1])
    assert (status, outcome) == (503, "unavailable"), (status, outcome, service.said())
    soon("/readyz names the server's words", lambda: "session is read-only" in service.readiness()[1])
    begin = time.monotonic()
    waiting = threading.Thread(target=lambda: setattr(service, "waited", service.order(voucher, tokens[2])))
    waiting.start()
    time.sleep(0.3)
    subprocess.run(["psql", lab.url([lab.port], "lab"), "-qc", "SET default_transaction_read_only = off",
                    "-c", "ALTER SYSTEM RESET default_transaction_read_only", "-c", "SELECT pg_reload_conf()"],
                   stdout=subprocess.DEVNULL, check=True)
    waiting.join()
    assert service.waited[:2] == (201, "accepted"), (service.waited, time.monotonic() - begin, service.said())
    assert service.end() == 0


def a_commit_without_its_standby_is_unknown(lab):
    """After a cancelled wait the server answers INSERT 0 1, and only a warning shows that the standby has no copy."""
    lab.make_synchronous()
    service = Service(lab, *NARROW, f"--database-url={lab.url()}")
    voucher, tokens = seed(lab, 50, 50)
    assert service.order(voucher, tokens[0])[:2] == (201, "accepted")
    lab.stop_standby()
    answers = []
    ordering = threading.Thread(target=lambda: answers.append(service.order(voucher, tokens[1], "cancelled")))
    ordering.start()
    soon("a COMMIT that waits for the standby", lambda: lab.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == "1")
    assert lab.sql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == "t"
    ordering.join()
    assert answers[0][:2] == (503, "unknown"), (answers, service.said())
    assert lab.sql("SELECT count(*) FROM tb_voucher_order WHERE request_id = 'cancelled'") == "1", "the row is there all the same"
    assert service.order(voucher, tokens[1], "cancelled")[:2] == (503, "unknown"), "asked again, while the standby is away"
    lab.start_standby()
    soon("the standby is back", lab.is_streaming)
    soon("the same request is confirmed", lambda: service.order(voucher, tokens[1], "cancelled")[:2] == (201, "accepted"))
    assert lab.sql("SELECT count(*) FROM tb_voucher_order WHERE request_id = 'cancelled'", lab.standby_port) == "1"
    lab.set("synchronous_standby_names", "")
    assert service.end() == 0


def readiness_names_a_commit_that_waits_for_its_standby(lab):
    """The service gives up the order, while its COMMIT still waits in the session."""
    lab.make_synchronous()
    service = Service(lab, *NARROW, f"--database-url={lab.url()}")
    voucher, tokens = seed(lab, 50, 50)
    assert service.order(voucher, tokens[0])[:2] == (201, "accepted")
    lab.stop_standby()
    answers = []
    ordering = threading.Thread(target=lambda: answers.append(service.order(voucher, tokens[1], "waits")))
    ordering.start()
    soon("/readyz names the wait", lambda: "for a synchronous standby" in service.readiness()[1])
    assert service.readiness()[0] == 503
    ordering.join()
    assert answers[0][:2] == (503, "unknown"), (answers, service.said())
    lab.start_standby()
    soon("it is ready again", lambda: service.readiness()[0] == 200)
    soon("the same request is confirmed", lambda: service.order(voucher, tokens[1], "waits")[:2] == (201, "accepted"))
    lab.set("synchronous_standby_names", "")
    assert service.end() == 0


def requests_go_on_after_a_promotion(lab):
    """Orders wait for the new primary, statements are prepared again, and no answer is a 500."""
    service = Service(lab, *NARROW, "--database-wait=30s", f"--database-url={lab.url()}")
    voucher, tokens = seed(lab, 2000, 2000)
    for token in tokens[:20]:
        assert service.order(voucher, token)[:2] == (201, "accepted")
    answers, is_over = [], threading.Event()

    def buy(first):
        for token in tokens[first::4]:
            if is_over.is_set():
                return
            answers.append(service.order(voucher, token)[:2])

    buyers = [threading.Thread(target=buy, args=(20 + i,)) for i in range(4)]
    for buyer in buyers:
        buyer.start()
    soon("orders", lambda: len(answers) > 20)
    lab.kill()
    reached = len(answers)
    lab.promote()
    soon("orders at the new primary", lambda: answers[reached:].count((201, "accepted")) > 20)
    is_over.set()
    for buyer in buyers:
        buyer.join()
    assert {answer[1] for answer in answers} <= {"accepted", "unavailable", "unknown"}, set(answers)
    assert {status for status, _ in answers} <= {201, 503}, set(answers)
    assert service.is_ready(), service.readiness()
    assert service.end() == 0


def a_primary_that_fell_silent_is_left(_lab):
    """The sessions stay open at the service.  When the old primary goes on it accepts writes, and gets none."""
    lab = with_standby()
    try:
        service = Service(lab, *NARROW, "--database-wait=5s", f"--database-url={lab.url()}")
        voucher, tokens = seed(lab, 200, 200)
        soon("the voucher is on the standby", lambda: lab.sql("SELECT count(*) FROM tb_voucher", lab.standby_port) == "1")
        assert service.order(voucher, tokens[0])[:2] == (201, "accepted")
        old = lab.sql("SELECT count(*) FROM tb_voucher_order")
        lab.signal_all(signal.SIGSTOP)
        lab.promote()
        rest = iter(tokens[1:150])
        soon("an order at the new primary", lambda: service.order(voucher, next(rest))[:2] == (201, "accepted"))
        lab.signal_all(signal.SIGCONT)
        soon("the old primary answers", lambda: lab.sql("SELECT pg_is_in_recovery()") == "f")
        for token in tokens[150:180]:
            assert service.order(voucher, token)[:2] == (201, "accepted"), service.said()
        assert lab.sql("SELECT count(*) FROM tb_voucher_order") == old, "orders went to the old primary"
        assert service.end() == 0
    finally:
        lab.end()


def locks_are_what_their_kind_promises_after_a_promotion(_lab):
    """The sessions of pg-row and pg-advisory end with the primary, and their holders learn of the loss.  A lock of
    pg-unique or pg-fair whose row the standby has is still held.  A lock whose row the standby never got is free,
    and its holder gets LOST."""
    lab = with_standby()
    try:
        sessions, rows = ("pg-row", "pg-advisory"), ("pg-unique", "pg-fair")
        systems = {variant: System(variant, lab.url()) for variant in sessions + rows}
        others = {variant: System(variant, lab.url()) for variant in sessions + rows}
        kept = {variant: system.hold(f"{variant}-kept") for variant, system in systems.items()}
        soon("the standby has it all", lambda: lab.sql("SELECT replay_lsn = pg_current_wal_lsn() FROM pg_stat_replication") == "t")
        lab.hold_replication()
        gone = {variant: systems[variant].hold(f"{variant}-gone") for variant in rows}
        lab.kill()
        for variant in sessions:
            soon(f"the holder of {variant} learns its loss", lambda v=variant: not systems[v].is_valid(kept[v]))
        lab.promote()
        for variant in sessions:
            assert systems[variant].release(kept[variant]) == LOST, variant
            soon("another owner has it", lambda v=variant: others[v].acquire(f"{v}-kept", 1000)[0] == OK)
        for variant in rows:
            soon("the lease is renewed at the new primary", lambda v=variant: systems[v].renew(kept[v]) == OK)
            assert others[variant].acquire(f"{variant}-kept")[0] == BUSY, variant
            assert systems[variant].release(kept[variant]) == OK, (variant, systems[variant].error())
            soon("the lost row's lock is free", lambda v=variant: others[v].acquire(f"{v}-gone")[0] == OK)
            assert systems[variant].renew(gone[variant]) == LOST, variant
            assert not systems[variant].is_valid(gone[variant])
            assert systems[variant].release(gone[variant]) == LOST, variant
        for system in (*systems.values(), *others.values()):
            system.close()
    finally:
        lab.end()


CASES = (a_standby_is_named_at_the_start, a_standby_that_comes_first_is_passed_over,
         a_silent_first_host_takes_its_part_of_the_time, a_server_that_becomes_read_only_is_left,
         a_commit_without_its_standby_is_unknown, readiness_names_a_commit_that_waits_for_its_standby,
         requests_go_on_after_a_promotion, a_primary_that_fell_silent_is_left,
         locks_are_what_their_kind_promises_after_a_promotion)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main(CASES, with_standby))
