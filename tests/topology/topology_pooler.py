#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""topology_pooler.py -- the service and its locks behind PgBouncer, in session and in transaction mode: the settings
that are refused, sessions that must stay unchanged, and the answers when a pooler or a server ends.  Prints TAP."""
import os
import signal
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from postgres_servers import Laboratory, Pgbouncer, Service, seed, soon  # noqa: E402
from tap import main  # noqa: E402

MODES = ("session", "transaction")
NARROW = ("--database-connections=4", "--statement-timeout=2s", "--settle-timeout=1s", "--database-wait=2s", "--lock-wait=2s")


class Poolers:
    """A laboratory with a PgBouncer in each mode, and one that drops `options` instead of refusing it."""

    def __init__(self):
        self.lab = Laboratory()
        self.modes = {mode: Pgbouncer(self.lab, mode) for mode in MODES}
        self.silent = Pgbouncer(self.lab, "session", "ignore_startup_parameters = options")

    def serve(self, pooler, told, *flags, wait=True):
        return Service(self.lab, *NARROW, f"--database-url={self.lab.url([pooler.port])}", f"--database-pooler={told}",
                       "--start-timeout=5s", *flags, wait=wait)

    def end(self):
        for pooler in (*self.modes.values(), self.silent):
            pooler.end()
        self.lab.end()


def refused(service, status, words):
    got = service.process.wait(timeout=60)
    assert got == status and words in service.said(), (got, service.said())


def a_pooler_that_was_not_named_is_refused(rig):
    for lock in ("none", "pg-unique"):
        for pooler in rig.modes.values():
            refused(rig.serve(pooler, "none", f"--lock={lock}", wait=False), 69, "unsupported startup parameter")
        refused(rig.serve(rig.silent, "none", f"--lock={lock}", wait=False), 69, "there is a pooler in front of PostgreSQL: set ")


def transactions_that_were_called_sessions_are_refused(rig):
    for lock in ("none", "pg-unique", "pg-advisory"):
        refused(rig.serve(rig.modes["transaction"], "session", f"--lock={lock}", wait=False), 69, "the pooler does not keep a session for each connection")


def locks_that_need_a_session_are_refused(rig):
    for lock in ("pg-row", "pg-advisory"):
        refused(rig.serve(rig.modes["transaction"], "transaction", f"--lock={lock}", wait=False), 64,
                "needs a session of PostgreSQL to itself, and a pooler of transactions gives none")


def orders_are_sold_behind_each_mode(rig):
    cases = [("session", lock) for lock in ("none", "reentrant", "pg-unique", "pg-fair", "pg-row", "pg-advisory")]
    cases += [("transaction", lock) for lock in ("none", "reentrant", "pg-unique", "pg-fair")]
    for mode, lock in cases:
        for flags in (("--stock-guard=conditional", "--order-path=each"), ("--stock-guard=version", "--duplicate-guard=count")):
            service = rig.serve(rig.modes[mode], mode, f"--lock={lock}", *flags)
            voucher, tokens = seed(rig.lab, 6, 5)
            answers = [service.order(voucher, token, f"{voucher}-{i}")[1] for i, token in enumerate(tokens)]
            assert answers == ["accepted"] * 5 + ["sold-out"], (mode, lock, flags, answers, service.said())
            assert service.order(voucher, tokens[0], f"{voucher}-0")[1] == "accepted", "asked again"
            assert service.is_ready(), (mode, lock, service.readiness())
            assert service.end() == 0


def a_transaction_has_the_limits_of_its_service(rig):
    """The service waits for a locked row for 80 % of the statement timeout, in both modes."""
    for mode in MODES:
        service = rig.serve(rig.modes[mode], mode, "--lock=none", "--order-path=each")
        voucher, tokens = seed(rig.lab, 3, 3)
        holder = threading.Thread(target=rig.lab.sql, args=(
            f"BEGIN; UPDATE tb_seckill_voucher SET stock = stock WHERE voucher_id = {voucher}; SELECT pg_sleep(6); COMMIT",))
        holder.start()
        soon("the row is held", lambda: rig.lab.sql("SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(6)%' AND wait_event = 'PgSleep'") == "1")
        assert service.order(voucher, tokens[0])[:2] == (503, "unavailable")
        assert "lock timeout" in service.said(), service.said()
        holder.join()
        assert service.order(voucher, tokens[1])[:2] == (201, "accepted")
        assert service.end() == 0


def nothing_leaks_into_the_sessions_that_others_get(rig):
    service = rig.serve(rig.modes["transaction"], "transaction", "--lock=pg-fair")
    voucher, tokens = seed(rig.lab, 20, 20)
    for token in tokens:
        assert service.order(voucher, token)[1] == "accepted"
    port = rig.modes["transaction"].port
    assert service.end() == 0
    for question, untouched in (("SHOW statement_timeout", "0"), ("SHOW lock_timeout", "0"),
                                ("SELECT count(*) FROM pg_prepared_statements", "0"),
                                ("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'", "0")):
        for _ in range(8):
            assert (said := rig.lab.sql(question, port, "service")) == untouched, (question, said)


def outage(rig, mode, lock, end_it, bring_it_back):
    """Send orders while a server ends and comes back: each is answered 201 or 503, or finds the lock of an
    unanswered release, and later orders are sold."""
    service = rig.serve(rig.modes[mode], mode, f"--lock={lock}")
    voucher, tokens = seed(rig.lab, 4000, 4000)
    answers, is_over = [], threading.Event()

    def buy(first):
        for token in tokens[first::6]:
            if is_over.is_set():
                return
            answers.append(service.order(voucher, token)[:2])

    buyers = [threading.Thread(target=buy, args=(i,)) for i in range(6)]
    for buyer in buyers:
        buyer.start()
    try:
        soon("orders", lambda: answers.count((201, "accepted")) > 30)
        end_it()
        soon("an answer that says come again", lambda: any(status == 503 for status, _ in answers[-6:]))
        bring_it_back()
        reached = len(answers)
        soon("orders again", lambda: answers[reached:].count((201, "accepted")) > 30)
    finally:
        is_over.set()
        for buyer in buyers:
            buyer.join()
    statuses = {status for status, outcome in answers if outcome != "lock-busy"}
    assert statuses == {201, 503}, (mode, lock, set(answers), service.said())
    assert service.end() == 0
    sold = int(rig.lab.sql(f"SELECT count(*) FROM tb_voucher_order WHERE voucher_id = {voucher}"))
    told = answers.count((201, "accepted"))
    assert told <= sold <= told + answers.count((503, "unknown")), (told, sold)


def a_pooler_that_pauses_is_unavailable(rig):
    """In session mode PAUSE waits until every client has hung up."""
    pooler = rig.modes["transaction"]
    outage(rig, "transaction", "none", lambda: pooler.command("PAUSE"), lambda: pooler.command("RESUME"))


def a_pooler_that_restarts_is_unavailable_meanwhile(rig):
    for mode, lock in (("session", "pg-unique"), ("transaction", "pg-unique")):
        outage(rig, mode, lock, rig.modes[mode].kill, rig.modes[mode].start)


def a_server_that_restarts_behind_a_pooler_is_unavailable_meanwhile(rig):
    for mode in MODES:
        outage(rig, mode, "none", rig.lab.kill, rig.lab.restart)


CASES = (a_pooler_that_was_not_named_is_refused, transactions_that_were_called_sessions_are_refused,
         locks_that_need_a_session_are_refused, orders_are_sold_behind_each_mode, a_transaction_has_the_limits_of_its_service,
         nothing_leaks_into_the_sessions_that_others_get, a_pooler_that_pauses_is_unavailable,
         a_pooler_that_restarts_is_unavailable_meanwhile, a_server_that_restarts_behind_a_pooler_is_unavailable_meanwhile)

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main(CASES, Poolers))
