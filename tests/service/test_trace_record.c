/* SPDX-License-Identifier: MIT */
/* test_trace_record.c -- the record of the locks has the traces of the requests that a hold serves,
 * on every order path. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text/trace.h"
#include "loadtest/check/history.h"
#include "tests/service/batch.h"
#include "tests/service/stream_rig.h"

#define SPAN "00f067aa0ba902b7"

static struct rig_service service;
static struct rig_answer answer;

/* Each user's requests have a trace of their own. */
static void trace_of(int64_t user, char out[TRACE_ID_LEN + 1])
{
    (void)snprintf(out, TRACE_ID_LEN + 1, "%032llx", (unsigned long long)rig_user(user));
}

/* Send a request with the user's trace. Returns the connection, on which the answer comes. */
static int ask(const char *method, const char *path, int64_t user)
{
    char trace[TRACE_ID_LEN + 1], token[TOKEN_LEN + 1], text[1024];
    int fd = rig_connect(service.orders_port);
    int length;

    trace_of(user, trace);
    rig_token(user, token);
    length = snprintf(text, sizeof(text),
                      "%s %s HTTP/1.1\r\nHost: localhost\r\nauthorization: %s\r\n"
                      "traceparent: 00-%s-" SPAN "-01\r\n\r\n",
                      method, path, token, trace);
    assert_true(fd >= 0);
    assert_true(rig_send(fd, text, (size_t)length));
    return fd;
}

static int ask_order(int64_t voucher, int64_t user)
{
    char path[80];

    (void)snprintf(path, sizeof(path), "/api/v1/vouchers/%lld/orders", (long long)voucher);
    return ask("POST", path, user);
}

static void expect(int fd, int status)
{
    assert_true(rig_read(fd, &answer, RIG_PATIENCE_MS));
    (void)close(fd);
    if (answer.status != status)
        fail_msg("%d instead of %d: %s", answer.status, status, answer.body);
}

/* Is the user's trace in the list? */
static bool has_trace(const struct history *h, const struct history_trace *traces, size_t count,
                      int64_t user)
{
    char id[TRACE_ID_LEN + 1];

    trace_of(user, id);
    for (size_t i = 0; i < count; i++)
        if (strcmp(h->names[traces[i].id], id) == 0)
            return true;
    return false;
}

/* The number of traces of the hold of `lock` that serves this user; 0: there is no such hold. */
static size_t count_beside(const char *lock, int64_t user)
{
    struct history h = {0};
    size_t found = 0;

    assert_true(history_read(&h, strchr(rig_record_flag(), '/')));
    assert_int_equal(h.damage_count, 0);
    for (size_t i = 0; i < h.call_count; i++) {
        const struct history_trace *traces;
        size_t count = history_traces_of(&h, &h.calls[i], &traces);

        if (h.calls[i].kind == DLOCK_EVENT_ACQUIRE &&
            strcmp(h.names[h.calls[i].name], lock) == 0 &&
            has_trace(&h, traces, count, user))
            found = count;
    }
    history_free(&h);
    return found;
}

static void expect_own(int64_t user, size_t count)
{
    char lock[64];

    (void)snprintf(lock, sizeof(lock), "lock:order:%lld", (long long)rig_user(user));
    assert_int_equal(count_beside(lock, user), count);
}

static void expect_voucher(int64_t voucher, int64_t user, size_t count)
{
    char lock[64];

    (void)snprintf(lock, sizeof(lock), "lock:voucher:%lld", (long long)voucher);
    assert_int_equal(count_beside(lock, user), count);
}

static void sell_by(const char *path, int64_t traced, int64_t untraced)
{
    int64_t voucher = rig_voucher(5);

    service = RIG_START(rig_record_flag(), "--lock=reentrant", path);
    expect(ask_order(voucher, traced), 201);
    assert_true(rig_order(service.orders_port, voucher, untraced, &answer));
    assert_int_equal(answer.status, 201);
    rig_stop(&service);
    expect_own(traced, 1);
    expect_own(untraced, 0);
}

TEST(an_order_is_named_beside_its_own_lock)
{
    sell_by("--order-path=each", 1, 2);
    sell_by("--order-path=combined", 3, 4);
}

TEST(each_order_of_a_batch_is_named_beside_the_vouchers_lock)
{
    int64_t voucher = rig_voucher(20);
    int fds[3];

    service = BATCH_START(rig_record_flag(), "--lock=reentrant", "--lock-scope=voucher");
    batch_begin(voucher);
    batch_buy_blocked(&service, voucher, 10, 1);
    for (int i = 0; i < 3; i++)
        fds[i] = ask_order(voucher, 11 + i);
    batch_await_waiting(&service, 3);
    batch_let_go();
    for (int i = 0; i < 3; i++)
        expect(fds[i], 201);
    rig_stop(&service);
    for (int i = 0; i < 3; i++)
        expect_voucher(voucher, 11 + i, 3);
    expect_voucher(voucher, 10, 0);
}

TEST(a_queued_order_takes_its_trace_to_the_writers_lock)
{
    int64_t voucher = rig_voucher(5);

    service = STREAM_START(rig_record_flag(), "--lock=reentrant");
    expect(ask_order(voucher, 20), 202);
    assert_true(rig_order(service.orders_port, voucher, 21, &answer));
    stream_await_rows(voucher, 2);
    rig_stop(&service);
    expect_own(20, 1);
    expect_own(21, 0);
}

/* The writer works on the first order while the other two come. */
TEST(queued_orders_of_a_batch_are_named_beside_the_vouchers_lock)
{
    int64_t voucher = rig_voucher(5);

    stream_anew();
    service = STREAM_START(rig_record_flag(), "--lock=reentrant", "--lock-scope=voucher");
    batch_begin(voucher);
    expect(ask_order(voucher, 30), 202);
    stream_await_taken();
    expect(ask_order(voucher, 31), 202);
    expect(ask_order(voucher, 32), 202);
    batch_let_go();
    stream_await_rows(voucher, 3);
    rig_stop(&service);
    expect_voucher(voucher, 30, 1);
    expect_voucher(voucher, 31, 2);
    expect_voucher(voucher, 32, 2);
}

TEST(a_query_is_named_beside_the_lock_that_it_shares)
{
    int64_t voucher = rig_voucher(5);
    char path[80];

    (void)snprintf(path, sizeof(path), "/api/v1/vouchers/%lld", (long long)voucher);
    service = RIG_START(rig_record_flag(), "--lock=rwlock", "--lock-scope=voucher");
    expect(ask("GET", path, 50), 200);
    rig_stop(&service);
    expect_voucher(voucher, 50, 1);
}
