/* SPDX-License-Identifier: MIT */
/* catalog.c -- locks and settings, from the lists of the programs. */
#include "loadtest/show/catalog.h"

#include "db/guard.h"
#include "db/order_paths.h"
#include "loadtest/fault/catalogue.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/name_list.h"
#include "loadtest/lab/lab.h"
#include "loadtest/show/switches.h"
#include "loadtest/show/trouble.h"
#include "lock/dlock.h"

static json_t *locks_json(lab_topologies has)
{
    json_t *list = json_array();

    for (size_t i = 0; i < dlock_variant_count(); i++) {
        const dlock_variant_info *v = dlock_variant_at(i);
        bool is_there = (lab_lock_needs(v->name) & ~has) == 0;

        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:b}", "name", v->name,
                                              "store", v->store, "promises", v->promises,
                                              "breaks", v->breaks, "available", is_there));
    }
    return list;
}

static json_t *names_json(const char *(*name_at)(size_t))
{
    json_t *list = json_array();
    const char *name;

    for (size_t i = 0; (name = name_at(i)) != NULL; i++)
        json_array_append_new(list, json_string(name));
    return list;
}

/* Every fault that can be given: those of processes, then those of servers. */
static json_t *faults_json(void)
{
    json_t *list = json_array();
    const char *name;

    for (int i = 0; (name = trouble_name(i)) != NULL; i++) {
        const struct server_fault *fault =
            i < SHOW_FAULT_COUNT ? NULL : server_fault_at((size_t)(i - SHOW_FAULT_COUNT));

        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s?, s:b, s:b}", "name", name, "of",
                            fault ? "server" : "process", "does", fault ? fault->does : NULL,
                            "lasts", !fault || server_fault_lasts(fault), "by_time",
                            fault && fault->by_max_ms != 0));
    }
    return list;
}

char *catalog_make(lab_topologies has)
{
    json_t *choices = json_object(), *numbers = json_object(), *json;
    char *text;

#define X(field, flag, of_service, names)                                              \
    json_object_set_new(choices, #field, names_json(names));
    SHOW_CHOICES(X)
#undef X
#define X(field, flag, of_service, least, most)                                        \
    json_object_set_new(numbers, #field,                                               \
                        json_pack("{s:i, s:i}", "least", (int)(least), "most", (int)(most)));
    SHOW_NUMBERS(X)
#undef X
    json = json_pack("{s:i, s:o, s:o, s:o, s:o}", "format", 1, "locks",
                     locks_json(has), "choices", choices, "numbers", numbers, "faults",
                     faults_json());
    text = memory_need(json_dumps(json, JSON_COMPACT));
    json_decref(json);
    return text;
}
