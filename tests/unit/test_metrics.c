/* SPDX-License-Identifier: MIT */
/* test_metrics.c -- the list of metrics follows the conventions of Prometheus, and names the files
 * that count them. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/metrics.h"
#include "app/metrics_list.h"
#include "tests/registered.h"

static bool ends_in(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);

    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/* Are there only small letters and single underscores, as in the names of this service's metrics
 * and labels? */
static bool is_plain(const char *name)
{
    return name[0] >= 'a' && name[0] <= 'z' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz_") == strlen(name) &&
           strstr(name, "__") == NULL && !ends_in(name, "_");
}

TEST(names_tell_what_is_measured)
{
    static const char *const RESERVED[] = {"_bucket", "_sum", "_count", "_created"};
    const struct metrics_entry *e;

    for (size_t i = 0; (e = metrics_at(i)) != NULL; i++) {
        bool is_info = ends_in(e->name, "_info");

        if (!is_plain(e->name) || (strncmp(e->name, "seckill_", 8) != 0 &&
                                   strncmp(e->name, "process_", 8) != 0))
            fail_msg("%s is no name", e->name);
        if (ends_in(e->name, "_total") != (e->type == METRICS_COUNTER))
            fail_msg("%s is a %s", e->name, metrics_type_name(e->type));
        if (ends_in(e->name, "_seconds") != (strcmp(e->unit, "seconds") == 0) ||
            (e->type == METRICS_HISTOGRAM && !ends_in(e->name, e->unit)))
            fail_msg("%s counts %s", e->name, e->unit);
        if (is_info != (strcmp(e->unit, "none") == 0) || e->unit[0] == '\0')
            fail_msg("%s has the unit \"%s\"", e->name, e->unit);
        for (size_t r = 0; r < sizeof(RESERVED) / sizeof(RESERVED[0]); r++)
            if (ends_in(e->name, RESERVED[r]))
                fail_msg("%s ends in %s, which Prometheus adds", e->name, RESERVED[r]);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(e->name, metrics_at(j)->name);
    }
    assert_true(metrics_at(0) != NULL);
}

TEST(help_is_one_line_and_a_sentence)
{
    const struct metrics_entry *e;

    for (size_t i = 0; (e = metrics_at(i)) != NULL; i++)
        if (!ends_in(e->help, ".") || strpbrk(e->help, "\n\\") != NULL ||
            e->help[0] < 'A' || e->help[0] > 'Z')
            fail_msg("%s: %s", e->name, e->help);
}

TEST(labels_are_named_once_and_never_le)
{
    const struct metrics_entry *e;

    for (size_t i = 0; (e = metrics_at(i)) != NULL; i++)
        for (int l = 0; l < METRICS_LABELS_MAX; l++) {
            const char *name = metrics_label_name(e->labels[l]);

            if (name == NULL)
                continue;
            if (!is_plain(name) || strcmp(name, "le") == 0)
                fail_msg("%s has a label \"%s\"", e->name, name);
            for (int other = 0; other < l; other++)
                assert_string_not_equal(name, metrics_label_name(e->labels[other]));
        }
}

/* The fields of the cells, with the name of each field's metric. */
static const struct {
    const char *metric, *field;
} FIELDS[] = {
#define COUNTER(field, name, unit, labels, counted_in, help) {name, #field},
#define COUNTER_BY(field, name, unit, labels, counted_in, help) {name, #field},
#define DURATION(field, name, labels, counted_in, help) {name, #field},
#define SIZE(field, name, unit, labels, counted_in, help) {name, #field},
#define DURATION_BY(field, name, labels, counted_in, help) {name, #field},
#include "app/metrics.def"
};

/* Is "->FIELD" in the source, with no letter after it? */
static bool counts_into(const char *source, const char *field)
{
    char use[64];
    const char *at = source;
    int len = snprintf(use, sizeof(use), "->%s", field);

    while ((at = strstr(at, use)) != NULL) {
        at += len;
        if (strspn(at, "abcdefghijklmnopqrstuvwxyz_") == 0)
            return true;
    }
    return false;
}

/* Read the whole file; the caller frees it. */
static char *read_source(const char *path)
{
    char *text = NULL;
    size_t len = 0;
    FILE *file = fopen(path, "r");

    if (file == NULL)
        fail_msg("%s: there is no such file", path);
    if (getdelim(&text, &len, '\0', file) <= 0)
        fail_msg("%s is empty", path);
    (void)fclose(file);
    return text;
}

/* `field` may be NULL: the metric has no field in a cell. */
static void check_places(const struct metrics_entry *e, const char *field)
{
    char places[256];
    char *rest = NULL;

    (void)snprintf(places, sizeof(places), "%s", e->counted_in);
    for (char *place = strtok_r(places, ", ", &rest); place != NULL;
         place = strtok_r(NULL, ", ", &rest)) {
        struct stat st;
        char *source = NULL;

        if (stat(place, &st) != 0)
            fail_msg("%s: %s is not there", e->name, place);
        if (field == NULL)
            continue;
        source = read_source(place);
        if (!counts_into(source, field))
            fail_msg("%s: %s does not count %s", e->name, place, field);
        free(source);
    }
}

/* Has to run in the root of the tree, as tests/run does. */
TEST(the_files_that_count_are_named)
{
    const struct metrics_entry *e;

    for (size_t i = 0; (e = metrics_at(i)) != NULL; i++) {
        const char *field = NULL;

        for (size_t f = 0; f < sizeof(FIELDS) / sizeof(FIELDS[0]); f++)
            if (strcmp(FIELDS[f].metric, e->name) == 0)
                field = FIELDS[f].field;
        assert_true((field != NULL) == (e->source == METRICS_FROM_CELLS));
        check_places(e, field);
    }
}
