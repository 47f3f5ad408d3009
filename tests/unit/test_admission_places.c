/* SPDX-License-Identifier: MIT */
/* test_admission_places.c -- the places of a semaphore come back after an outage of
 * Redis.
 *
 * An outage hides the socket of the server and ends all connections, so that no request
 * is sent, and the server keeps its data. */
#include "tests/registered.h"
#include "tests/unit/redis_server.h"

#include "app/admission.h"

enum { PLACES = 3 };

static struct config config;
static struct admission *admission;
static struct admission_place place, first; /* `first` is that of an order that was let in */
static char hidden[80];

static int64_t free_places(void)
{
    return tell("INCRBY places 0");
}

static void hide_server(void)
{
    assert_int_equal(0, rename(server.path, hidden));
    tell("CLIENT KILL TYPE normal SKIPME yes");
    /* After this call the connection is known to be broken. */
    assert_int_not_equal(DLOCK_OK, admission_enter(admission, &place));
    assert_int_equal(DLOCK_IO, admission_enter(admission, &place));
}

static void show_server(void)
{
    assert_int_equal(0, rename(hidden, server.path));
}

static void enter_all(void)
{
    for (int i = 0; i < PLACES; i++)
        assert_int_equal(DLOCK_OK, admission_enter(admission, i == 0 ? &first : &place));
    assert_int_equal(DLOCK_BUSY, admission_enter(admission, &place));
    assert_int_equal(0, free_places());
}

static int set_up(void **state)
{
    (void)state;
    tell("FLUSHALL");
    config = (struct config){.redis_url = server.url,
                             .redis_timeout_ms = PATIENCE_MS,
                             .admission = "semaphore:3",
                             .admission_kind = ADMISSION_SEMAPHORE,
                             .admission_limit = PLACES,
                             .admission_name = "places"};
    assert_int_equal(DLOCK_OK, admission_open(&admission, &config));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    admission_close(admission);
    return 0;
}

TEST_WITH(set_up, tear_down, an_outage_takes_no_place)
{
    enter_all();
    hide_server();
    for (int i = 0; i < PLACES; i++)
        assert_int_equal(DLOCK_IO, admission_leave(admission, &place));
    show_server();
    assert_comes(admission_enter(admission, &place) == DLOCK_OK);
    assert_int_equal(PLACES - 1, free_places());
    assert_int_equal(DLOCK_OK, admission_leave(admission, &place));
    assert_int_equal(PLACES, free_places());
}

/* While the server is left alone, each call owes the place of one order more. */
TEST_WITH(set_up, tear_down, a_later_release_gives_the_owed_places_back)
{
    int64_t left = 1;

    enter_all();
    hide_server();
    assert_int_equal(DLOCK_IO, admission_leave(admission, &place));
    show_server();
    for (; admission_leave(admission, &place) == DLOCK_IO; left++)
        pause_ms(1);
    assert_int_equal(left + 1, free_places());
}

TEST_WITH(set_up, tear_down, lost_data_are_not_paid_for)
{
    enter_all();
    hide_server();
    assert_int_equal(DLOCK_IO, admission_leave(admission, &place));
    tell("FLUSHALL");
    show_server();
    assert_comes(admission_enter(admission, &place) == DLOCK_OK);
    assert_int_equal(PLACES - 1, free_places());
}

TEST_WITH(set_up, tear_down, a_place_of_lost_data_is_not_given_back)
{
    enter_all();
    hide_server();
    assert_int_equal(DLOCK_IO, admission_leave(admission, &first));
    tell("FLUSHALL");
    show_server();
    assert_comes(admission_leave(admission, &first) == DLOCK_OK);
    assert_int_equal(PLACES, free_places());
    assert_int_equal(DLOCK_OK, admission_leave(admission, &first));
    assert_int_equal(PLACES, free_places());
}

static int begin_group(void **state)
{
    (void)state;
    make_server();
    snprintf(hidden, sizeof(hidden), "%s/hidden", server.dir);
    return 0;
}

static int end_group(void **state)
{
    (void)state;
    kill_server();
    return rmdir(server.dir);
}

GROUP(begin_group, end_group)
