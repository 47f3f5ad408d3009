/* SPDX-License-Identifier: MIT */
/* test_postgres_wire.c -- base/postgres with a real server: deadlines, signals, loss. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include "base/os/clock.h"
#include "base/postgres/connection.h"
#include "tests/service/rig.h"

static const struct postgres_statement ECHO = {"wire_echo", "SELECT $1, $2, $3, $4", "itbu"};

static int64_t soon(void)
{
    return dlock_clock_after(dlock_clock_ns(), RIG_PATIENCE_MS);
}

static struct postgres_connection *open_one(void)
{
    const char *url = rig_environment("SECKILL_LAB_DATABASE_URL");
    struct postgres_connection *connection =
        postgres_connection_new(
            &(struct postgres_wire_options){.url = url,
                                            .application_name = "test",
                                            .settings = "-c lock_timeout=1234"},
            POSTGRES_POOLER_NONE);

    assert_non_null(connection);
    if (postgres_connection_open(connection, soon()) != POSTGRES_OPEN)
        fail_msg("%s", postgres_connection_error(connection));
    return connection;
}

static void put_query(struct postgres_wire *wire, const char *sql)
{
    assert_true(postgres_wire_put_query(wire, sql));
    assert_true(postgres_wire_send(wire, soon()));
}

/* The answer has one row of one column, and ends. */
static void expect_text(struct postgres_wire *wire, int64_t deadline_ns, const char *text)
{
    struct postgres_result *result = NULL;

    assert_true(postgres_wire_receive(wire, deadline_ns, &result));
    assert_int_equal(postgres_result_kind(result), POSTGRES_RESULT_ROWS);
    assert_string_equal(postgres_result_text(result, 0, 0), text);
    postgres_result_free(result);
    assert_true(postgres_wire_receive(wire, soon(), &result));
    assert_null(result);
}

TEST(a_statement_is_prepared_once_and_takes_every_type)
{
    static const struct postgres_value VALUES[] = {
        {INT64_MIN, NULL, false}, {0, "a 'text'", false}, {0, "\x01\xff", false},
        {0, NULL, false}};
    struct postgres_connection *connection = open_one();
    struct postgres_wire *wire = postgres_connection_wire(connection);
    struct postgres_result *result = NULL;

    assert_false(postgres_connection_has(connection, &ECHO));
    assert_true(postgres_connection_prepare(connection, &ECHO));
    assert_true(postgres_wire_send(wire, soon()));
    assert_true(postgres_wire_receive(wire, soon(), &result));
    assert_int_equal(postgres_result_kind(result), POSTGRES_RESULT_DONE);
    postgres_result_free(result);
    assert_true(postgres_wire_receive(wire, soon(), &result));
    assert_null(result);
    assert_true(postgres_connection_has(connection, &ECHO));
    for (int i = 0; i < 2; i++) {
        assert_true(postgres_connection_execute(connection, &ECHO, VALUES));
        assert_true(postgres_wire_send(wire, soon()));
        assert_true(postgres_wire_receive(wire, soon(), &result));
        assert_int_equal(postgres_result_rows(result), 1);
        assert_string_equal(postgres_result_text(result, 0, 0), "-9223372036854775808");
        assert_string_equal(postgres_result_text(result, 0, 1), "a 'text'");
        assert_string_equal(postgres_result_text(result, 0, 2), "\\x01ff");
        assert_true(postgres_result_is_null(result, 0, 3));
        assert_string_equal(postgres_result_text(result, 1, 0), ""); /* there is no such row */
        postgres_result_free(result);
        assert_true(postgres_wire_receive(wire, soon(), &result));
        assert_null(result);
    }
    put_query(wire, "SHOW lock_timeout");
    expect_text(wire, soon(), "1234ms");
    postgres_connection_close(connection);
}

/* The deadline has passed before the answer is read, and the answer has arrived. */
TEST(an_answer_that_has_arrived_counts_after_the_deadline)
{
    struct postgres_connection *connection = open_one();
    struct postgres_wire *wire = postgres_connection_wire(connection);

    assert_false(postgres_connection_is_gone(connection));
    put_query(wire, "SELECT 'arrived'");
    assert_true(postgres_wire_wait(wire, soon()));
    expect_text(wire, dlock_clock_ns() - 1, "arrived");
    postgres_connection_close(connection);
}

/* The server sends the answers to a batch together when it reads the batch's end. So the second
 * answer is in libpq's buffer when the first is read, and the socket has no more bytes. */
TEST(an_answer_in_the_buffer_counts_after_the_deadline)
{
    struct postgres_connection *connection = open_one();
    struct postgres_wire *wire = postgres_connection_wire(connection);
    struct postgres_result *result = NULL;

    assert_true(postgres_wire_set_batches(wire, true));
    assert_true(postgres_wire_put_question(wire, "SELECT 'first'", 0, NULL));
    assert_true(postgres_wire_put_question(wire, "SELECT 'second'", 0, NULL));
    assert_true(postgres_wire_put_sync(wire));
    assert_true(postgres_wire_send(wire, soon()));
    expect_text(wire, soon(), "first");
    expect_text(wire, 0, "second");
    assert_true(postgres_wire_receive(wire, 0, &result));
    assert_int_equal(postgres_result_kind(result), POSTGRES_RESULT_SYNC);
    postgres_result_free(result);
    postgres_connection_close(connection);
}

TEST(a_deadline_that_passes_without_an_answer_says_so)
{
    struct postgres_connection *connection = open_one();
    struct postgres_wire *wire = postgres_connection_wire(connection);
    struct postgres_result *result = NULL;

    put_query(wire, "SELECT pg_sleep(600)");
    assert_false(postgres_wire_receive(
        wire, dlock_clock_after(dlock_clock_ns(), 20), &result));
    assert_null(result);
    assert_int_equal(postgres_wire_transaction(wire), POSTGRES_TRANSACTION_UNKNOWN);
    postgres_connection_close(connection);
}

static volatile sig_atomic_t interruptions;

static void on_alarm(int number)
{
    (void)number;
    interruptions++;
}

static void ring_every(suseconds_t us)
{
    const struct itimerval often = {{0, us}, {0, us}};

    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
}

/* Every system call is interrupted, and the kernel restarts none. */
TEST(a_wait_goes_on_after_a_signal)
{
    const struct sigaction action = {.sa_handler = on_alarm};
    struct postgres_connection *connection = NULL;

    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    ring_every(3000);
    connection = open_one();
    put_query(postgres_connection_wire(connection), "SELECT 'slept' FROM pg_sleep(0.2)");
    expect_text(postgres_connection_wire(connection), soon(), "slept");
    ring_every(0);
    assert_true(interruptions > 0);
    postgres_connection_close(connection);
}

TEST(a_cut_wire_is_noticed_before_the_next_statement)
{
    struct postgres_connection *connection = open_one();

    assert_false(postgres_connection_is_gone(connection));
    postgres_wire_cut(postgres_connection_wire(connection));
    assert_true(postgres_connection_is_gone(connection));
    postgres_connection_close(connection);
}

/* The error of a refusal has its SQLSTATE, and does not contain the password. */
TEST(a_refusal_has_its_state_and_one_line)
{
    char url[256];
    const char *given = rig_environment("SECKILL_LAB_DATABASE_URL");
    const char *slash = strrchr(given, '/');
    struct postgres_connection *connection = NULL;
    char why[256];

    (void)snprintf(url, sizeof(url), "%.*s/no_such_database", (int)(slash - given), given);
    connection = postgres_connection_new(&(struct postgres_wire_options){.url = url},
                                         POSTGRES_POOLER_NONE);
    assert_non_null(connection);
    assert_int_equal(postgres_connection_open(connection, soon()), POSTGRES_FAILED);
    assert_string_equal(postgres_connection_state(connection), "3D000");
    assert_non_null(strstr(postgres_connection_error(connection), "does not exist"));
    assert_null(strchr(postgres_connection_error(connection), '\n'));
    assert_true(postgres_message_is_final(postgres_connection_state(connection),
                                          postgres_connection_error(connection)));
    postgres_connection_close(connection);
    assert_false(postgres_url_is_valid("postgresql://a:secret@[::1/x", why, sizeof(why)));
    assert_null(strstr(why, "secret"));
}
