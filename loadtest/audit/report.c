/* SPDX-License-Identifier: MIT */
/* report.c -- the verdict of an audit, for people. */
#include "loadtest/audit/report.h"

#include <inttypes.h>

void report_verdict(FILE *out, const struct audit_verdict *v, const char *source)
{
    const char *plain = report_style(out, STYLE_PLAIN);

    fprintf(out,
            "%s%s%s: issued %" PRId64 ", orders %" PRId64 ", left %" PRId64
            "; clients were told of %" PRId64 ", unsure of %" PRId64 " (from %s)\n",
            report_style(out, verdict_style(v->valid)), verdict_title(v->valid),
            plain, v->issued, v->orders, v->left, v->told, v->unsure, source);
    if (v->queued > 0)
        fprintf(out, "  clients were told of %" PRId64 " orders that they are queued\n",
                v->queued);
    if (v->lost > 0)
        fprintf(out,
                "  %" PRId64 " acknowledged orders are lost: their clients were told the "
                "orders' numbers, and the database has no row of the requests\n",
                v->lost);
    if (v->read_us) {
        char at[AUDIT_INSTANT_SIZE];

        audit_instant(v->read_us, at);
        fprintf(out, "  all of it read at one instant, %s, %.3f s before this verdict\n", at,
                (double)v->age_us / 1e6);
    }
    for (int i = 0; i < AUDIT_CHECK_COUNT; i++) {
        const struct audit_finding *f = &v->findings[i];

        fprintf(out, "  %s%s%s %-15s", report_style(out, verdict_style(f->valid)),
                verdict_mark(f->valid), plain, audit_check_name((enum audit_check)i));
        if (f->valid == VERDICT_VALID)
            fprintf(out, " no\n");
        else
            fprintf(out, " %" PRId64 "  %s\n", f->count,
                    audit_check_text((enum audit_check)i));
        for (int k = 0; k < f->example_count; k++)
            fprintf(out, "        %s\n", f->examples[k]);
        if (f->count > f->example_count && f->example_count == AUDIT_EXAMPLES)
            fprintf(out, "        ...\n");
    }
}
