/* SPDX-License-Identifier: MIT */
/* ledger.c -- reads the answers that clients got. */
#include "loadtest/audit/ledger.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/files.h"
#include "loadtest/kit/memory.h"

static int is_ledger(const struct dirent *entry)
{
    return fnmatch("ledger-*.tsv", entry->d_name, 0) == 0;
}

int ledger_files_find(const char *dir, struct dirent ***entries)
{
    return scandir(dir, entries, is_ledger, alphasort);
}

enum { FIELD_COUNT = 5 };

struct reading {
    struct ledger *ledger;
    size_t room;
    int line;
    bool has_end, adds_up;
    int64_t accepted, unanswered; /* counted from the lines, to check the end line  */
};

/* The words that a line may begin with. */
static const struct {
    const char *name;
    enum ledger_what what;
} WHATS[] = {
    {"accepted", LEDGER_ACCEPTED},
    {"queued", LEDGER_QUEUED},
    {"unsure", LEDGER_UNSURE},
    {"unanswered", LEDGER_UNSURE},
    {"sold-out", LEDGER_SOLD_OUT},
};

enum { WHAT_COUNT = sizeof WHATS / sizeof WHATS[0] };

static void append(struct reading *r, struct ledger_entry entry)
{
    struct ledger *l = r->ledger;

    MEMORY_ROOM(l->entries, l->count, 1, r->room);
    l->entries[l->count++] = entry;
}

/* Digits alone, at most `digits_max` of them. */
static bool read_digits(const char *text, size_t digits_max, int64_t *out)
{
    size_t digits = strspn(text, "0123456789");

    if (digits == 0 || digits > digits_max || text[digits] != '\0')
        return false;
    errno = 0;
    *out = strtoll(text, NULL, 10);
    return errno == 0;
}

/* Read a count of requests.  A count has at most 15 digits, so the sum over all threads does not
 * overflow. */
static bool read_count(const char *text, int64_t *out)
{
    return read_digits(text, 15, out);
}

static bool read_number(const char *text, int64_t *out)
{
    return read_digits(text, 19, out);
}

/* The totals of a thread: "end", sent, answered, accepted, unanswered.  Each request was answered,
 * or is among the unanswered.  A request that a front answered without its id is both, and a front
 * answers a connection without a request too, so the sum may be greater. */
static const char *take_end(struct reading *r, char **field)
{
    int64_t sent, answered, accepted, unanswered;

    if (!read_count(field[1], &sent) || !read_count(field[2], &answered) ||
        !read_count(field[3], &accepted) || !read_count(field[4], &unanswered))
        return "the end of a ledger has four counts";
    r->has_end = true;
    r->adds_up = accepted == r->accepted && unanswered == r->unanswered &&
                 sent <= answered + unanswered;
    r->ledger->sent += sent;
    r->ledger->answered += answered;
    r->ledger->accepted += accepted;
    return NULL;
}

static const char *take_entry(struct reading *r, char **field)
{
    struct ledger_entry entry = {.request = field[1],
                                 .file = r->ledger->files,
                                 .line = r->line};
    size_t i = 0;

    while (i < WHAT_COUNT && strcmp(field[0], WHATS[i].name) != 0)
        i++;
    if (i == WHAT_COUNT)
        return "a line begins with accepted, queued, unsure, unanswered, sold-out or end";
    entry.what = WHATS[i].what;
    if (*entry.request == '\0')
        return "the request has no id";
    if (strcmp(field[2], "-") != 0 && !read_number(field[2], &entry.order))
        return "an order is a number or \"-\"";
    if (!read_number(field[3], &entry.user) || !read_number(field[4], &entry.voucher))
        return "a user and a voucher are numbers";
    r->accepted += entry.what == LEDGER_ACCEPTED;
    r->unanswered += strcmp(field[0], "unanswered") == 0;
    append(r, entry);
    return NULL;
}

/* NULL, or the error in the line. */
static const char *take_line(struct reading *r, char *line)
{
    char *field[FIELD_COUNT] = {0};
    int n = 0;

    if (r->has_end)
        return "nothing may stand behind the end of a ledger; did two runs write into one "
               "directory? Give each its own";
    while (n < FIELD_COUNT && (field[n] = strsep(&line, "\t")) != NULL)
        n++;
    if (n < FIELD_COUNT || line)
        return "a line has five fields between tabs";
    return strcmp(field[0], "end") == 0 ? take_end(r, field) : take_entry(r, field);
}

/* A thread that was killed while it wrote leaves half of a line.  This half is left out, because a
 * ledger without an end line is incomplete in any case. */
static const char *take_text(struct reading *r, char *text, size_t size)
{
    const char *wrong = NULL;
    char *rest = text, *line;

    r->has_end = r->adds_up = false;
    r->accepted = r->unanswered = 0;
    for (r->line = 1; (line = strsep(&rest, "\n")) != NULL; r->line++) {
        bool is_half = rest == NULL;

        if (is_half && line + strlen(line) < text + size)
            wrong = "there is a zero byte";
        else if (is_half ? r->has_end && *line != '\0' : *line != '\0')
            wrong = take_line(r, line);
        if (wrong)
            break;
    }
    r->ledger->is_complete = r->ledger->is_complete && r->has_end && r->adds_up;
    return wrong;
}

static bool read_file(struct reading *r, const char *dir, const char *name)
{
    struct ledger *l = r->ledger;
    char path[FILES_PATH_MAX];
    const char *wrong;
    size_t size = 0;

    files_join(path, dir, name);
    if (l->files == LEDGER_FILES_MAX) {
        eprintf("seckill: %s: more than %d ledgers\n", path, LEDGER_FILES_MAX);
        return false;
    }
    l->texts[l->files] = files_read(path, &size);
    if (!l->texts[l->files]) {
        eprintf("seckill: cannot read %s: %s\n", path, files_reason());
        return false;
    }
    l->paths[l->files] = strdup(name);
    if (!l->paths[l->files])
        abort();
    wrong = take_text(r, l->texts[l->files], size);
    if (wrong)
        eprintf("seckill: %s:%d: this is no line of a ledger: %s\n", path, r->line, wrong);
    l->files++;
    return !wrong;
}

bool ledger_read(struct ledger *ledger, const char *dir)
{
    struct reading reading = {.ledger = ledger};
    struct dirent **entries = NULL;
    int count = ledger_files_find(dir, &entries);
    bool ok = count >= 0;

    *ledger = (struct ledger){.is_complete = true};
    if (!ok)
        eprintf("seckill: cannot read %s: %s\n", dir, strerror(errno));
    for (int i = 0; i < count; i++) {
        ok = ok && read_file(&reading, dir, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    ledger->is_complete = ledger->is_complete && ledger->files > 0;
    return ok;
}

const char *ledger_path(const struct ledger *ledger, const struct ledger_entry *entry)
{
    return ledger->paths[entry->file] ? ledger->paths[entry->file] : "a ledger";
}

void ledger_free(struct ledger *ledger)
{
    for (int i = 0; i < LEDGER_FILES_MAX; i++) {
        free(ledger->texts[i]);
        free(ledger->paths[i]);
    }
    free(ledger->entries);
    *ledger = (struct ledger){0};
}
