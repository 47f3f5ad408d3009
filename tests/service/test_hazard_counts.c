/* SPDX-License-Identifier: MIT */
/* test_hazard_counts.c -- a hazard concludes nothing from orders that were not counted. */
#include "loadtest/sale/hazard.h"
#include "tests/registered.h"
#include "tests/service/scratch_database.h"

static lab_db *db;

static int make_database(void **state)
{
    (void)state;
    return scratch_database_make("hazard", &db) ? 0 : -1;
}

static int drop_database(void **state)
{
    (void)state;
    return scratch_database_drop(&db) ? 0 : -1;
}

/* Without its table the database counts nothing. */
static void take_table_away(void)
{
    assert_true(lab_db_run(db, "ALTER TABLE tb_voucher_order RENAME TO away"));
}

static void bring_table_back(void)
{
    assert_true(lab_db_run(db, "ALTER TABLE away RENAME TO tb_voucher_order"));
}

TEST(a_count_that_failed_shows_no_sale)
{
    struct hazard_scene scene = {.db = db, .first_voucher = 1, .last_voucher = 1};

    hazard_next(&scene);
    assert_int_equal(scene.baseline, 0);
    assert_true(hazard_others_sold(&scene, 0));
    take_table_away();
    assert_false(hazard_others_sold(&scene, 0));
    bring_table_back();
}

TEST(a_baseline_that_is_not_known_shows_no_sale)
{
    struct hazard_scene scene = {.db = db, .first_voucher = 1, .last_voucher = 1};

    take_table_away();
    hazard_next(&scene);
    assert_int_equal(scene.baseline, -1);
    bring_table_back();
    assert_false(hazard_others_sold(&scene, 0));
    assert_false(hazard_others_sold(&scene, 1));
    hazard_next(&scene);
    assert_true(hazard_others_sold(&scene, 0));
}

GROUP(make_database, drop_database)
