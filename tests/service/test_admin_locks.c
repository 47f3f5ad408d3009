/* SPDX-License-Identifier: MIT */
/* test_admin_locks.c -- the operators' listener: the state of one lock, and the counts of all
 * locks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/dlock.h"
#include "tests/service/rig.h"

static struct rig_service service;
static struct rig_answer answer;

/* A client outside the service holds the lock. An operator inspects the lock, and frees it. */
TEST(a_lock_is_shown_and_freed_by_force)
{
    int port = service.admin_port;
    dlock_options opts = dlock_options_default();
    dlock_system *sys = NULL;
    dlock_lease lease;

    opts.redis_url = getenv("SECKILL_REDIS_URL");
    assert_int_equal(DLOCK_OK, dlock_open(&sys, &opts));
    assert_int_equal(DLOCK_OK,
                     dlock_acquire(sys, "lock:order:987654321", 0, &lease));
    assert_true(rig_request(port, "GET", "/admin/locks/lock:order:987654321", NULL,
                            NULL, &answer));
    rig_expect(&answer, 200, "accepted");
    rig_expect_in_body(&answer, "\"lock\":\"reentrant\",\"locked\":true,\"shared\":false");
    rig_expect_in_body(&answer, lease.owner);
    rig_expect_in_body(&answer, "\"holdCount\":1,");
    rig_expect_in_body(&answer, "\"endsByItself\":true");
    rig_expect_in_body(&answer, ",\"system\":\"");
    assert_true(rig_request(port, "POST", "/admin/locks/lock:order:987654321", NULL,
                            NULL, &answer));
    rig_expect(&answer, 405, "method-not-allowed");
    assert_non_null(strstr(answer.head, "GET, HEAD, DELETE"));
    for (int i = 0; i < 2; i++) {
        assert_true(rig_request(port, "DELETE", "/admin/locks/lock:order:987654321",
                                NULL, NULL, &answer));
        rig_expect(&answer, 200, "accepted");
        rig_expect_in_body(&answer, i == 0 ? "\"freed\":true" : "\"freed\":false");
    }
    assert_true(rig_request(port, "GET", "/admin/locks/lock:order:987654321", NULL,
                            NULL, &answer));
    rig_expect_in_body(&answer, "\"locked\":false");
    assert_int_equal(DLOCK_LOST, dlock_release(sys, &lease));
    dlock_close(sys);
    assert_true(rig_request(port, "GET", "/admin/locks/", NULL, NULL, &answer));
    rig_expect(&answer, 400, "bad-request");
    assert_true(rig_request(service.orders_port, "DELETE", "/admin/locks/x", NULL, NULL,
                            &answer));
    rig_expect(&answer, 404, "not-found");
}

/* Redis also has the service's stream, and other programs' keys. */
TEST(what_is_no_lock_of_the_service_is_not_freed)
{
    static const char *const names[] = {"seckill:stream", "seckill:admission", "Lock:order:1", "x"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[64];

        snprintf(path, sizeof(path), "/admin/locks/%s", names[i]);
        assert_true(rig_request(service.admin_port, "DELETE", path, NULL, NULL, &answer));
        rig_expect(&answer, 400, "bad-request");
    }
}

/* The check for readiness takes a lock from time to time. */
static bool has_no_request_in_flight(void *arg)
{
    (void)arg;
    return rig_metric(&service, "seckill_redis_requests_in_flight ") == 0;
}

TEST(the_counters_of_the_locks_are_shown)
{
    int64_t voucher = rig_voucher(10);

    for (int user = 1; user <= 4; user++)
        assert_true(rig_order(service.orders_port, voucher, user, &answer));
    assert_true(rig_metric(&service, "seckill_dlock_acquires_total{"
                                     "variant=\"reentrant\",result=\"ok\"}") >= 4);
    assert_true(rig_metric(&service, "seckill_dlock_acquire_commands_total{"
                                     "variant=\"reentrant\"}") >= 4);
    assert_true(rig_metric(&service, "seckill_dlock_wait_seconds_count{"
                                     "variant=\"reentrant\"}") >= 4);
    assert_true(rig_metric(&service, "seckill_dlock_hold_seconds_sum{"
                                     "variant=\"reentrant\"}") > 0);
    assert_true(rig_metric(&service, "seckill_redis_connections_opened_total ") >= 1);
    assert_true(rig_metric(&service, "seckill_database_connections_opened_total ") >= 1);
    assert_true(rig_until(has_no_request_in_flight, NULL, RIG_PATIENCE_MS));
    assert_int_equal(0, (int)rig_metric(&service, "seckill_dlock_lost_total{"
                                                  "variant=\"reentrant\"}"));
}

int main(void)
{
    return RIG_RUN_WITH_SERVICE(&service, "--workers=8");
}
