/* SPDX-License-Identifier: MIT */
/* journal.c -- the events of the sale that is shown. */
#include "loadtest/show/journal.h"

#include <stdio.h>

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
    journal->entries[at].fault = NULL;
    journal->entries[at].said[0] = '\0';
}

void journal_add_said(struct show_journal *journal, enum show_event event, const char *fault,
                      const char *said)
{
    size_t at = (size_t)(journal->count % SHOW_JOURNAL_MAX);

    journal_add(journal, event, 0, 0);
    journal->entries[at].fault = fault;
    snprintf(journal->entries[at].said, SHOW_SAID_MAX, "%s", said);
}

void journal_add_of(struct show_journal *journal, enum show_event event, const char *fault,
                    int process, int64_t number)
{
    size_t at = (size_t)(journal->count % SHOW_JOURNAL_MAX);

    journal_add(journal, event, process, number);
    journal->entries[at].fault = fault;
}

static json_t *text_or_null(const char *text)
{
    return text && *text ? json_string(text) : json_null();
}

json_t *journal_json(const struct show_journal *journal)
{
    int64_t first = journal->count > SHOW_JOURNAL_MAX ? journal->count - SHOW_JOURNAL_MAX : 0;
    json_t *list = json_array();

    for (int64_t i = first; i < journal->count; i++) {
        size_t at = (size_t)(i % SHOW_JOURNAL_MAX);

        json_array_append_new(
            list, json_pack("{s:I, s:I, s:s, s:i, s:I, s:o, s:o}", "seq",
                            (json_int_t)journal->entries[at].seq, "at_ms",
                            (json_int_t)journal->entries[at].at_ms, "kind",
                            KINDS[journal->entries[at].event], "process",
                            journal->entries[at].process, "number",
                            (json_int_t)journal->entries[at].number, "fault",
                            text_or_null(journal->entries[at].fault), "said",
                            text_or_null(journal->entries[at].said)));
    }
    return list;
}
