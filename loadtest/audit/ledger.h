/* SPDX-License-Identifier: MIT */
/* ledger.h -- the answers that clients got: the files ledger-<thread>.tsv of a run.
 *
 * Each line has five fields with tabs between them: the kind of the answer, request id, order id or
 * "-", user, voucher.  The kinds are
 *   accepted    the client was told this order number
 *   queued      the client was promised an order of this number, whose row comes later
 *   unsure      the answer did not say whether there is an order
 *   unanswered  no answer came
 *   sold-out    the first such answer that this thread got for that voucher
 * The last line has the totals of the thread: end, sent, answered, accepted, unanswered.
 */
#ifndef LOADTEST_AUDIT_LEDGER_H
#define LOADTEST_AUDIT_LEDGER_H

#include <dirent.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Find the files ledger-*.tsv in `dir`, sorted by name.  The caller frees each entry and the list,
 * as after scandir().  -1, and errno: the directory cannot be read. */
int ledger_files_find(const char *dir, struct dirent ***entries);

enum ledger_what {
    LEDGER_ACCEPTED,
    LEDGER_QUEUED,
    LEDGER_UNSURE, /* also unanswered: there may be an order */
    LEDGER_SOLD_OUT,
};

struct ledger_entry {
    enum ledger_what what;
    const char *request; /* into the ledger's own memory */
    int64_t order;       /* 0: none, or not readable     */
    int64_t user, voucher;
    int file, line;      /* where it stands: ledger_path(), and the line's number    */
};

enum { LEDGER_FILES_MAX = 256, LEDGER_NAME_MAX = 64, LEDGER_MISSING_MAX = 160 };

struct ledger {
    struct ledger_entry *entries;
    size_t count;
    int64_t sent, answered, accepted; /* of the end lines, all threads together     */
    int files;
    bool is_complete; /* there are files, each has its end line, and they add up    */
    char missing[LEDGER_MISSING_MAX]; /* the first ledger that is not there; "": none is
                                       * missing                                    */
    char *texts[LEDGER_FILES_MAX]; /* the files' contents ...                       */
    char *paths[LEDGER_FILES_MAX]; /* ... and names, without their directory        */
};

/* Read all ledgers in `dir`.  False: the directory or a file cannot be read, or a file has a line
 * that makes no sense; stderr names the file and the line.  No files at all is an incomplete
 * ledger, not a failure. */
bool ledger_read(struct ledger *ledger, const char *dir);

/* If the run.json in `dir` names a ledger that was not read, the ledger is incomplete.  To be
 * called after ledger_read(). */
void ledger_note_missing(struct ledger *ledger, const char *dir);

/* The names of the ledgers in `dir`, for its run.json. */
json_t *ledger_list(const char *dir);

/* The file that an entry stands in. */
const char *ledger_path(const struct ledger *ledger, const struct ledger_entry *entry);

/* A zeroed ledger is fine. */
void ledger_free(struct ledger *ledger);

#endif /* LOADTEST_AUDIT_LEDGER_H */
