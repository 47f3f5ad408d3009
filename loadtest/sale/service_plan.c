/* SPDX-License-Identifier: MIT */
/* service_plan.c -- the command line of a seckilld process. */
#include "loadtest/sale/service_plan.h"

#include <stdio.h>

void service_words_make(struct service_words *w, const struct service_plan *plan, int index)
{
    int n = 0;

    files_sibling(w->program, "seckilld");
    snprintf(w->process, sizeof w->process, "--process=p%d", (index + 1) % 100);
    snprintf(w->workers, sizeof w->workers, "--workers=%d", plan->workers);
    snprintf(w->database, sizeof w->database, "--database-connections=%d",
             plan->database_connections);
    w->argv[n++] = w->program;
    w->argv[n++] = "--listen=127.0.0.1:0";
    w->argv[n++] = "--admin-listen=127.0.0.1:0";
    w->argv[n++] = w->process;
    w->argv[n++] = "--allow-mixed-settings";
    if (plan->workers > 0)
        w->argv[n++] = w->workers;
    if (plan->database_connections > 0)
        w->argv[n++] = w->database;
    if (plan->allow_faults)
        w->argv[n++] = "--allow-faults";
    if (plan->is_behind_front)
        w->argv[n++] = "--front=127.0.0.1";
    if (plan->record_dir) {
        files_path(w->record, "--record=%s", plan->record_dir);
        w->argv[n++] = w->record;
    }
    for (const char *const *flag = plan->flags; flag && *flag && n < SERVICE_WORDS_MAX; flag++)
        w->argv[n++] = *flag;
    w->argv[n] = NULL;
}
