/* SPDX-License-Identifier: MIT */
/* journal.c -- what has happened in the sale that is shown. */
#include "loadtest/show/journal.h"

#include "base/text/duration.h"

static const char *const KINDS[] = {
#define X(id, kind) kind,
    SHOW_EVENTS(X)
#undef X
};

void journal_add(struct show_journal *journal, enum show_event event, int process,
                 int64_t number)
{
    size_t at = (size_t)(journal->count % SHOW_JOURNAL_MAX);

    journal->count++;
    journal->entries[at].seq = journal->count;
    journal->entries[at].at_ms = (monotonic_ns() - journal->begin_ns) / 1000000;
    journal->entries[at].event = event;
    journal->entries[at].process = process;
    journal->entries[at].number = number;
}

json_t *journal_json(const struct show_journal *journal)
{
    int64_t first = journal->count > SHOW_JOURNAL_MAX ? journal->count - SHOW_JOURNAL_MAX : 0;
    json_t *list = json_array();

    for (int64_t i = first; i < journal->count; i++) {
        size_t at = (size_t)(i % SHOW_JOURNAL_MAX);

        json_array_append_new(
            list, json_pack("{s:I, s:I, s:s, s:i, s:I}", "seq",
                            (json_int_t)journal->entries[at].seq, "at_ms",
                            (json_int_t)journal->entries[at].at_ms, "kind",
                            KINDS[journal->entries[at].event], "process",
                            journal->entries[at].process, "number",
                            (json_int_t)journal->entries[at].number));
    }
    return list;
}
