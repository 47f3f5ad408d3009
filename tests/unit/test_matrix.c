/* SPDX-License-Identifier: MIT */
/* test_matrix.c -- the performances of a matrix, their summary, and the meaning of a
 * seed. */
#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/progress.h"
#include "loadtest/matrix/matrix.h"
#include "loadtest/scenario/catalogue.h"
#include "loadtest/scenario/stage.h"
#include "tests/registered.h"

/* The cells of two scenarios: every lock of the first one, with `seeds` seeds. */
static void make(struct matrix *m, int seeds)
{
    struct scenario_setup *setups;
    size_t count = scenario_setups(scenario_at(0), NULL, NULL, &setups);

    *m = (struct matrix){.first_seed = 1, .seed_count = seeds};
    assert_true(matrix_make(m, setups, count));
    matrix_plan(m, 1, 1);
    free(setups);
}

static struct scenario_result as_expected(void)
{
    return (struct scenario_result){
        .has_happened = true, .is_expected = true, .tries = 1, .holds = 3, .faults = 2,
        .background_holds = 100, .stalls = 3, .delays = 1, .took_ns = 1000000000};
}

static void record_all(struct matrix *m)
{
    struct scenario_result good = as_expected();

    for (size_t i = 0; i < m->cell_count; i++)
        for (int seed = 0; seed < m->seed_count; seed++)
            matrix_record(&m->cells[i].runs[seed], &good);
}

TEST(test_all_as_expected_is_a_pass)
{
    struct matrix m;
    struct matrix_totals t;

    make(&m, 2);
    record_all(&m);
    t = matrix_sum(&m);
    assert_int_equal(t.done, 2 * m.cell_count);
    assert_int_equal(t.cells_of.of[VERDICT_VALID], m.cell_count);
    assert_int_equal(t.story_holds, 3 * (int64_t)t.done);
    assert_int_equal(t.background_holds, 100 * (int64_t)t.done);
    assert_int_equal(t.faults, 2 * (int64_t)t.done);
    assert_int_equal(matrix_exit_code(&m), EXIT_VALID);
    matrix_free(&m);
}

TEST(test_one_of_many_is_enough_to_fail)
{
    struct matrix m;
    struct scenario_result bad = as_expected();
    char text[64];

    make(&m, 3);
    record_all(&m);
    bad.is_expected = false;
    bad.rc = EXIT_INVALID;
    matrix_record(&m.cells[1].runs[2], &bad);
    assert_int_equal(matrix_cell_verdict(&m, &m.cells[1]), VERDICT_INVALID);
    assert_int_equal(matrix_cell_verdict(&m, &m.cells[0]), VERDICT_VALID);
    assert_int_equal(matrix_exit_code(&m), EXIT_INVALID);
    matrix_cell_text(&m, &m.cells[1], text, sizeof text);
    assert_string_equal(text, "1/3!");
    matrix_free(&m);
}

TEST(test_what_did_not_happen_is_no_pass)
{
    struct matrix m;
    struct scenario_result none = {.rc = EXIT_UNKNOWN, .is_expected = true};
    struct scenario_result bad = {.has_happened = true, .rc = EXIT_INVALID};

    make(&m, 1);
    assert_int_equal(matrix_exit_code(&m), EXIT_UNKNOWN); /* no performance was done */
    record_all(&m);
    matrix_record(&m.cells[0].runs[0], &none);
    assert_int_equal(matrix_cell_verdict(&m, &m.cells[0]), VERDICT_UNKNOWN);
    assert_int_equal(matrix_exit_code(&m), EXIT_UNKNOWN);
    matrix_record(&m.cells[1].runs[0], &bad); /* counts more than the unknown one */
    assert_int_equal(matrix_exit_code(&m), EXIT_INVALID);
    none.rc = EXIT_UNAVAILABLE; /* counts more than every verdict */
    matrix_record(&m.cells[0].runs[0], &none);
    assert_int_equal(matrix_exit_code(&m), EXIT_UNAVAILABLE);
    matrix_free(&m);
}

TEST(test_parts_are_all_of_it_and_nothing_twice)
{
    struct matrix m;
    struct matrix_place *order;
    size_t count = 0, all;

    make(&m, 5);
    all = m.cell_count * 5;
    for (int part = 1; part <= 3; part++) {
        matrix_plan(&m, part, 3);
        count += matrix_order(&m, &order);
        for (size_t i = 0; i < m.cell_count; i++)
            for (int seed = 0; seed < 5; seed++)
                if (m.cells[i].runs[seed].is_planned)
                    m.cells[i].runs[seed].tries++;
        free(order);
    }
    assert_int_equal(count, all);
    for (size_t i = 0; i < m.cell_count; i++)
        for (int seed = 0; seed < 5; seed++)
            assert_int_equal(m.cells[i].runs[seed].tries, 1);
    matrix_free(&m);
}

TEST(test_every_cell_comes_before_the_next_seed)
{
    struct matrix m;
    struct matrix_place *order, *again;
    size_t count;
    bool is_shuffled = false;

    make(&m, 3);
    count = matrix_order(&m, &order);
    matrix_order(&m, &again);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(order[i].seed, i / m.cell_count);
        assert_int_equal(order[i].cell, again[i].cell);
        is_shuffled |= order[i].cell != i % m.cell_count;
    }
    assert_true(is_shuffled);
    free(order);
    free(again);
    matrix_free(&m);
}

TEST(test_the_command_names_the_cell_and_the_seed)
{
    struct matrix m;
    char command[MATRIX_COMMAND_MAX];

    make(&m, 3);
    matrix_command(&m, &m.cells[0], 2, command);
    assert_non_null(strstr(command, m.cells[0].setup.scenario->name));
    assert_non_null(strstr(command, m.cells[0].setup.lock->name));
    assert_non_null(strstr(command, "--seed=3 --seeds=1"));
    matrix_free(&m);
}

TEST(test_what_is_left_goes_on_as_it_went)
{
    assert_int_equal(progress_left_ms(0, 10, 1000), -1);
    assert_int_equal(progress_left_ms(5, 10, 1000), 1000);
    assert_int_equal(progress_left_ms(10, 10, 1000), 0);
}

/* ---- seeds ---- */

TEST(test_a_seed_gives_the_same_again)
{
    struct scenario_variation a = scenario_vary(7, "ghost", "lua", "read-write"),
                              b = scenario_vary(7, "ghost", "lua", "read-write");
    int differences = 0;

    assert_true(a.number == b.number && a.time_percent == b.time_percent &&
                a.first_node == b.first_node && a.processes == b.processes &&
                a.threads == b.threads && a.names == b.names &&
                a.lease_ms == b.lease_ms && a.wait_ms == b.wait_ms &&
                a.hold_us == b.hold_us && a.rest_us == b.rest_us &&
                a.delay_ms == b.delay_ms && a.delays_answers == b.delays_answers &&
                a.stalls == b.stalls);
    for (uint32_t seed = 8; seed < 18; seed++) {
        b = scenario_vary(seed, "ghost", "lua", "read-write");
        differences += a.number != b.number && a.lease_ms != b.lease_ms;
    }
    assert_true(differences >= 8);
    b = scenario_vary(7, "ghost", "fair", "read-write");
    assert_true(a.number != b.number);
}

TEST(test_what_is_drawn_is_within_its_limits)
{
    bool nodes[LAB_COUNT_REDLOCK] = {false}, delays = false, none = false;

    for (uint32_t seed = 0; seed < 500; seed++) {
        struct scenario_variation v = scenario_vary(seed, "ghost", "lua", "read-write");

        assert_true(v.is_varied);
        assert_in_range(v.time_percent, 100, 125);
        assert_in_range(v.first_node, 0, SCENARIO_NODES_MAX - 1);
        assert_in_range(v.processes, 1, BACKGROUND_PROCESSES_MAX);
        assert_in_range(v.threads, 2, BACKGROUND_THREADS_MAX);
        assert_in_range(v.names, 2, BACKGROUND_NAMES_MAX);
        assert_in_range(v.delay_ms, 0, 3);
        assert_in_range(v.stalls, 2, 5);
        nodes[v.first_node] = true;
        delays |= v.delay_ms > 0;
        none |= v.delay_ms == 0;
    }
    for (int i = 0; i < SCENARIO_NODES_MAX; i++)
        assert_true(nodes[i]);
    assert_true(delays && none);
}

/* Two participants may share a name only if the lock promises to keep one of them out. */
TEST(test_nobody_shares_what_the_lock_does_not_guard)
{
    struct scenario_variation v = {.processes = 2, .threads = 3, .names = 2};
    uint64_t dice = 1;

    for (int i = 0; i < 200; i++) {
        assert_int_equal(background_name(&v, 0, 1, 2, &dice), 5);
        assert_in_range(background_name(&v, DLOCK_CAP_LOCAL, 0, 2, &dice), 0, 1);
        assert_in_range(background_name(&v, DLOCK_CAP_LOCAL, 1, 2, &dice), 2, 3);
        assert_in_range(background_name(&v, DLOCK_CAP_EXCLUSIVE, 1, 2, &dice), 0, 1);
    }
}
