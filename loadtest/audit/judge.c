/* SPDX-License-Identifier: MIT */
/* judge.c -- judges a sale: one function for each rule. */
#include "loadtest/audit/audit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "loadtest/audit/lost.h"
#include "loadtest/audit/rules.h"

static const char *const names[] = {
#define X(id, name, text) name,
    AUDIT_CHECKS(X)
#undef X
};

static const char *const texts[] = {
#define X(id, name, text) text,
    AUDIT_CHECKS(X)
#undef X
};

const char *audit_check_name(enum audit_check check)
{
    return names[check];
}

const char *audit_check_text(enum audit_check check)
{
    return texts[check];
}

static void sum_up(const struct audit_input *in, struct audit_verdict *out)
{
    for (size_t i = 0; i < in->voucher_count; i++) {
        out->issued += in->vouchers[i].issued;
        out->left += in->vouchers[i].left;
    }
    for (size_t i = 0; i < in->ledger->count; i++) {
        out->told += in->ledger->entries[i].what == LEDGER_ACCEPTED;
        out->queued += in->ledger->entries[i].what == LEDGER_QUEUED;
        out->unsure += in->ledger->entries[i].what == LEDGER_UNSURE;
    }
    for (int i = 0; i < AUDIT_CHECK_COUNT; i++)
        out->valid = verdict_worse(out->valid, out->findings[i].valid);
}

void audit_judge(const struct audit_input *input, struct audit_verdict *out)
{
    struct audit_finding *found = out->findings;
    struct audit_case c;

    *out = (struct audit_verdict){.orders = (int64_t)input->order_count,
                                  .read_us = input->read_us,
                                  .age_us = input->age_us};
    out->lost = audit_each_lost(input, NULL, NULL);
    audit_case_make(&c, input);
    for (size_t i = 0; i < input->voucher_count; i++) {
        audit_check_stock(&c, &input->vouchers[i], found);
        audit_check_window(&c, &input->vouchers[i], &found[AUDIT_OUTSIDE_WINDOW]);
    }
    audit_check_duplicates(&c, &found[AUDIT_DUPLICATE]);
    audit_check_told(&c, &found[AUDIT_TOLD_NOT_THERE]);
    audit_check_promises(&c, &found[AUDIT_BROKEN_PROMISE]);
    audit_check_untold(&c, &found[AUDIT_THERE_NOT_TOLD]);
    audit_check_twice(&c, &found[AUDIT_TOLD_TWICE]);
    audit_check_vouchers(&c, &found[AUDIT_UNKNOWN_VOUCHER]);
    audit_check_clock(&c, &found[AUDIT_CLOCK_WENT_BACK]);
    if (input->order_count == 0)
        audit_worsen(&found[AUDIT_NOTHING_SOLD], VERDICT_UNKNOWN, 0);
    sum_up(input, out);
    audit_case_free(&c);
}

void audit_instant(int64_t us, char out[AUDIT_INSTANT_SIZE])
{
    time_t seconds = (time_t)(us / 1000000);
    char text[AUDIT_INSTANT_SIZE] = "?";
    struct tm utc;

    if (gmtime_r(&seconds, &utc))
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(out, AUDIT_INSTANT_SIZE, "%.24s.%06dZ", text, (int)(us % 1000000));
}

json_t *audit_to_json(const struct audit_verdict *verdict, const char *source)
{
    json_t *checks = json_object();
    char at[AUDIT_INSTANT_SIZE];

    for (int i = 0; i < AUDIT_CHECK_COUNT; i++) {
        const struct audit_finding *f = &verdict->findings[i];
        json_t *examples = json_array();

        for (int k = 0; k < f->example_count; k++)
            json_array_append_new(examples, json_string(f->examples[k]));
        json_object_set_new(checks, names[i],
                            json_pack("{s:o, s:I, s:o}", "valid",
                                      verdict_to_json(f->valid), "count",
                                      (json_int_t)f->count, "examples", examples));
    }
    if (verdict->read_us)
        audit_instant(verdict->read_us, at);
    return json_pack("{s:o, s:s, s:s*, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}",
                     "valid", verdict_to_json(verdict->valid), "source", source, "read_at",
                     verdict->read_us ? at : NULL, "age_s", (double)verdict->age_us / 1e6,
                     "issued", (json_int_t)verdict->issued, "left",
                     (json_int_t)verdict->left, "orders", (json_int_t)verdict->orders, "told",
                     (json_int_t)verdict->told, "queued",
                     (json_int_t)verdict->queued, "unsure", (json_int_t)verdict->unsure, "lost",
                     (json_int_t)verdict->lost,
                     "checks", checks);
}
