/* SPDX-License-Identifier: MIT */
/* locks.c -- `seckill locks`: the catalogue of the lock library as a table. */
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/text/exit_codes.h"
#include "base/text/settings.h"
#include "loadtest/command/commands.h"
#include "loadtest/kit/command.h"
#include "loadtest/kit/files.h"
#include "loadtest/kit/pager.h"
#include "loadtest/kit/style.h"
#include "lock/dlock.h"

struct locks_settings {
    const char *color;
    bool json, no_pager;
};

#define AT(field) offsetof(struct locks_settings, field)

static const struct setting settings[] = {
    OPTION(SWITCH, "json", AT(json), .fallback = "off", .help = "as JSON, for programs"),
    COMMAND_COLOR(AT(color)),
    COMMAND_NO_PAGER(AT(no_pager)),
};

const struct setting_program command_locks_program = {
    .name = "seckill locks",
    .synopsis = "[--json] [--no-pager]",
    .intro = "List every lock of seckilld --lock=NAME, with its store, its promise, and the\n"
             "conditions that break it.\n\n"
             "  seckill locks\n"
             "  seckill locks --json | jq -r '.[].name'",
    EXITS({EXIT_VALID, "done"}, {EXIT_USAGE, NULL},
          {EXIT_CANNOT_WRITE, "standard output cannot be written"}),
    SETTINGS(settings),
};

static void print_json(void)
{
    json_t *list = json_array();

    for (size_t i = 0; i < dlock_variant_count(); i++) {
        const dlock_variant_info *v = dlock_variant_at(i);

        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:s, s:s, s:s}", "name", v->name,
                                        "store", v->store, "promises", v->promises,
                                        "breaks", v->breaks, "source", v->source));
    }
    files_print_json(list);
}

/* The width of a column that has the text too. */
static int widened(int width, const char *text)
{
    int length = (int)strlen(text);

    return length > width ? length : width;
}

static void print_table(void)
{
    const char *bold = report_style(stdout, STYLE_BOLD);
    const char *plain = report_style(stdout, STYLE_PLAIN);
    int name = (int)strlen("lock"), store = (int)strlen("store");

    for (size_t i = 0; i < dlock_variant_count(); i++) {
        name = widened(name, dlock_variant_at(i)->name);
        store = widened(store, dlock_variant_at(i)->store);
    }
    printf("%s%-*s  %-*s  promises, and what breaks it%s\n", bold, name, "lock", store,
           "store", plain);
    for (size_t i = 0; i < dlock_variant_count(); i++) {
        const dlock_variant_info *v = dlock_variant_at(i);

        printf("%s%-*s%s  %-*s  %s\n", bold, name, v->name, plain, store, v->store,
               v->promises);
        printf("%-*s  %-*s    breaks: %s\n", name, "", store, "", v->breaks);
    }
}

static enum exit_code run(const struct settings *s, const void *values)
{
    const struct locks_settings *v = values;

    (void)s;
    if (v->json) {
        print_json();
    } else {
        if (!v->no_pager)
            pager_begin();
        print_table();
    }
    return EXIT_VALID;
}

COMMAND_FUNCTION(locks, command_run)
