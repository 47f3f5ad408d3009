/* SPDX-License-Identifier: MIT */
/* ledger.c -- reads what clients were told. */
#include "loadtest/audit/ledger.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/files.h"

enum { FIELD_COUNT = 5 };

struct reading {
    struct ledger *ledger;
    size_t room;
    bool ended;
    int64_t accepted, unanswered; /* counted from the lines, to check the end line  */
};

static void append(struct reading *r, struct ledger_entry entry)
{
    struct ledger *l = r->ledger;

    if (l->count == r->room) {
        r->room = r->room ? 2 * r->room : 1024;
        l->entries = realloc(l->entries, r->room * sizeof *l->entries);
        if (!l->entries)
            abort();
    }
    l->entries[l->count++] = entry;
}

/* A count of requests: digits alone, and few enough that the sum of all threads fits. */
static bool read_count(const char *text, int64_t *out)
{
    enum { DIGITS_MAX = 15 };
    size_t digits = strspn(text, "0123456789");

    if (digits == 0 || digits > DIGITS_MAX || text[digits] != '\0')
        return false;
    *out = strtoll(text, NULL, 10);
    return true;
}

/* The totals of a thread: "end", sent, answered, accepted, unanswered. */
static bool take_end(struct reading *r, char **field)
{
    int64_t sent, answered, accepted, unanswered;

    if (!read_count(field[1], &sent) || !read_count(field[2], &answered) ||
        !read_count(field[3], &accepted) || !read_count(field[4], &unanswered))
        return false;
    r->ended = accepted == r->accepted && unanswered == r->unanswered;
    r->ledger->sent += sent;
    r->ledger->answered += answered;
    r->ledger->accepted += accepted;
    return true;
}

static bool take_line(struct reading *r, char *line)
{
    char *field[FIELD_COUNT] = {0};
    struct ledger_entry entry = {0};
    int n = 0;

    while (n < FIELD_COUNT && (field[n] = strsep(&line, "\t")) != NULL)
        n++;
    if (n < FIELD_COUNT)
        return false;
    if (strcmp(field[0], "end") == 0)
        return take_end(r, field);
    entry.request = field[1];
    entry.order = strtoll(field[2], NULL, 10); /* "-" is 0 */
    entry.user = strtoll(field[3], NULL, 10);
    entry.voucher = strtoll(field[4], NULL, 10);
    if (strcmp(field[0], "accepted") == 0) {
        entry.what = LEDGER_ACCEPTED;
        r->accepted++;
    } else if (strcmp(field[0], "unanswered") == 0) {
        entry.what = LEDGER_UNSURE;
        r->unanswered++;
    } else if (strcmp(field[0], "unsure") == 0) {
        entry.what = LEDGER_UNSURE;
    } else if (strcmp(field[0], "sold-out") == 0) {
        entry.what = LEDGER_SOLD_OUT;
    } else {
        return false;
    }
    append(r, entry);
    return true;
}

/* A thread that was killed in the middle of a line leaves half of it; that one line is
 * left out, and without an end line the ledger is incomplete anyway. */
static bool read_file(struct reading *r, const char *path, char **text)
{
    char *rest, *line;

    *text = files_read(path, NULL);
    if (!*text) {
        fprintf(stderr, "seckill: cannot read %s: %s\n", path, strerror(errno));
        return false;
    }
    r->ended = false;
    r->accepted = r->unanswered = 0;
    rest = *text;
    for (int number = 1; (line = strsep(&rest, "\n")) != NULL; number++) {
        bool is_last_half = rest == NULL;

        if (*line == '\0' || is_last_half)
            continue;
        if (!take_line(r, line)) {
            fprintf(stderr, "seckill: %s:%d: this is no line of a ledger\n", path,
                    number);
            return false;
        }
    }
    r->ledger->is_complete = r->ledger->is_complete && r->ended;
    return true;
}

bool ledger_read(struct ledger *ledger, const char *dir)
{
    struct reading reading = {.ledger = ledger};
    char pattern[FILES_PATH_MAX];
    bool ok = true;
    glob_t found;

    *ledger = (struct ledger){.is_complete = true};
    files_join(pattern, dir, "ledger-*.tsv");
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; ok && i < found.gl_pathc; i++) {
            ok = i < sizeof ledger->texts / sizeof ledger->texts[0] &&
                 read_file(&reading, found.gl_pathv[i], &ledger->texts[i]);
            ledger->files++;
        }
        globfree(&found);
    }
    ledger->is_complete = ledger->is_complete && ledger->files > 0;
    return ok;
}

void ledger_free(struct ledger *ledger)
{
    for (size_t i = 0; i < sizeof ledger->texts / sizeof ledger->texts[0]; i++)
        free(ledger->texts[i]);
    free(ledger->entries);
    *ledger = (struct ledger){0};
}
