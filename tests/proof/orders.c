/* SPDX-License-Identifier: MIT */
/* orders.c -- the answers to clients stay true after any fault: two services sell under load, a
 * server or process fails meanwhile, and afterwards the database is compared with every answer. The
 * path `stream` breaks promises when its Redis loses its data, and in no other case.
 *
 *     prove-orders [--order-path=NAME|all] [--times=N] [PATTERN]
 *
 * Each fault is tried N times, on each path; PATTERN is cmocka's, of tests.
 *
 * A lab of its own is up while a fault is tried. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/proof/disk.h"
#include "tests/proof/round.h"
#include "tests/service/commit_proxy.h"
#include "tests/service/file_limit.h"
#include "tests/service/stream_rig.h"

enum { CUTS = 6 };

static int times = 1;

/* ---- the faults ---- */

static void a_service_is_killed(void **state)
{
    (void)state;
    for (int n = 0; n < times; n++) {
        int victim = n % BUYERS_SERVICES;

        round_begin(n, false);
        rig_signal(&round_now.services[victim], SIGKILL);
        assert_int_equal(rig_wait(&round_now.services[victim], RIG_PATIENCE_MS),
                         128 + SIGKILL);
        round_restart_service(victim);
        round_end("after a service was killed", ROUND_KEEPS);
    }
}

static void postgres_ends_at_once(void **state)
{
    (void)state;
    for (int n = 0; n < times; n++) {
        round_begin(n, false);
        /* After SIGQUIT and after SIGKILL the server has to recover from its WAL. */
        if (n % 2 == 0)
            assert_int_equal(kill(rig_lab_pid("postgres"), SIGQUIT), 0);
        else
            rig_lab_kill("postgres");
        rig_lab_restart("postgres");
        round_end("after PostgreSQL ended at once", ROUND_KEEPS);
    }
}

static void end_redis(int n)
{
    if (n % 2 == 1)
        rig_lab_kill("redis");
    rig_lab_restart("redis");
}

/* Redis keeps nothing on its disk. Of the orders in the stream, those that no writer has taken are
 * lost. */
static void redis_ends_at_once(void **state)
{
    bool is_queued = round_is_queued();

    (void)state;
    for (int n = 0; n < times; n++) {
        round_begin(n, true);
        if (is_queued)
            round_stop_writers();
        end_redis(n);
        if (is_queued)
            round_let_writers_go();
        round_end("after Redis ended", is_queued ? ROUND_BREAKS : ROUND_KEEPS);
    }
}

/* Redis writes to its disk before it answers. */
static void redis_with_a_log_ends_at_once(void **state)
{
    bool is_queued = round_is_queued();

    (void)state;
    stream_keep_all();
    for (int n = 0; n < times; n++) {
        round_begin(n, false);
        if (is_queued)
            round_stop_writers();
        end_redis(n);
        if (is_queued)
            round_let_writers_go();
        round_end("after Redis with a log ended", ROUND_KEEPS);
    }
}

static bool are_dropped(void *count)
{
    return commit_proxy_dropped() >= *(int *)count;
}

/* The COMMIT is executed and its answer is lost, or the COMMIT itself is lost. */
static void a_commit_is_not_answered(void **state)
{
    char flag[512];

    (void)state;
    for (int n = 0; n < times; n++) {
        commit_proxy_start(flag, sizeof(flag));
        round_now.database_flag = flag;
        round_begin(n, false);
        for (int cut = 1; cut <= CUTS; cut++) {
            commit_proxy_set(cut % 2 == 1 ? DROP_ANSWER : DROP_COMMIT);
            buyers_await_served(ROUND_ORDERS, "while COMMITs are not answered");
            if (!rig_until(are_dropped, &cut, RIG_PATIENCE_MS))
                fail_msg("there was no COMMIT to drop");
        }
        round_end("after COMMITs were not answered", ROUND_KEEPS);
        assert_int_equal(commit_proxy_dropped(), CUTS);
        commit_proxy_stop();
        round_now.database_flag = NULL;
    }
}

static bool has_ended(pid_t pid)
{
    char path[64], state = 'Z';
    FILE *file = NULL;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (file != NULL && fscanf(file, "%*d %*s %c", &state) != 1)
        state = 'Z';
    if (file != NULL)
        (void)fclose(file);
    return state == 'Z';
}

/* A server without room for its WAL ends, and cannot recover until there is room. */
static void the_disk_is_full(void **state)
{
    bool is_disk = *(bool *)*state;

    for (int n = 0; n < times; n++) {
        pid_t postgres = rig_lab_pid("postgres");

        if (!is_disk)
            file_limit_prepare();
        round_begin(n, false);
        if (is_disk)
            disk_fill();
        else
            file_limit_set();
        round_await_trouble("while the disk is full");
        if (is_disk)
            disk_empty();
        else
            file_limit_end();
        if (has_ended(postgres))
            rig_lab_restart("postgres");
        round_end(is_disk ? "after a full disk" : "after files could not grow", ROUND_KEEPS);
    }
}

/* ---- */

static int lab_up(void **state)
{
    (void)state;
    round_now.database_flag = NULL; /* an earlier test may have failed */
    rig_lab_up();
    return 0;
}

static int lab_down(void **state)
{
    (void)state;
    buyers_stop();
    rig_lab_down();
    return 0;
}

static int disk_up(void **state)
{
    static bool is_disk;

    is_disk = disk_mount();
    (void)lab_up(state);
    *state = &is_disk;
    return 0;
}

static int disk_down(void **state)
{
    (void)lab_down(state);
    disk_unmount();
    return 0;
}

static int prove(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_service_is_killed, lab_up, lab_down),
        cmocka_unit_test_setup_teardown(postgres_ends_at_once, lab_up, lab_down),
        cmocka_unit_test_setup_teardown(redis_ends_at_once, lab_up, lab_down),
        cmocka_unit_test_setup_teardown(redis_with_a_log_ends_at_once, lab_up, lab_down),
        cmocka_unit_test_setup_teardown(a_commit_is_not_answered, lab_up, lab_down),
        cmocka_unit_test_setup_teardown(the_disk_is_full, disk_up, disk_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    const char *path = "all";
    bool has_path = false;
    int failed = 0;

    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--times=", 8) == 0)
            times = atoi(argv[i] + 8);
        else if (strncmp(argv[i], "--order-path=", 13) == 0)
            path = argv[i] + 13;
        else
            cmocka_set_test_filter(argv[i]);
    }
    if (times < 1) {
        fprintf(stderr, "prove-orders: --times must be 1 or more\n");
        return 64;
    }
    for (int i = 0; round_path_at(i) != NULL; i++) {
        if (strcmp(path, "all") != 0 && strcmp(path, round_path_at(i)) != 0)
            continue;
        round_choose_path(i);
        failed += prove();
        has_path = true;
    }
    if (!has_path) {
        fprintf(stderr, "prove-orders: there is no --order-path=%s\n", path);
        return 64;
    }
    return failed > 0;
}
