/* SPDX-License-Identifier: MIT */
/* write_log.c -- the voucher's own record of a run. */
#include "loadtest/check/write_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/output_file.h"
#include "loadtest/kit/compare.h"
#include "loadtest/kit/files.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/row_file.h"

enum field { POSITION, VOUCHER, LOCK, FENCE, REQUEST, USER, PROCESS, GUARD, OUTCOME,
             WRITTEN, FIELD_COUNT };

static const char header[] = "# position\tvoucher\tlock\tfence\trequest\tuser\tprocess\t"
                             "guard\toutcome\twritten";

static bool write_line(const struct audit_db_write *w, void *arg)
{
    fprintf(arg, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", w->position, w->voucher,
            w->lock, w->fence, w->request, w->user, w->process, w->guard, w->outcome,
            w->written);
    return true;
}

bool write_log_export(lab_db *db, const int64_t *vouchers, size_t count,
                      const char *dir)
{
    char path[FILES_PATH_MAX];
    struct output_file out;
    bool ok = true;

    files_join(path, dir, "writes.tsv");
    if (output_file_open(&out, path, false)) {
        fprintf(out.stream, "%s\n", header);
        for (size_t i = 0; ok && i < count; i++)
            ok = audit_db_writes(db, vouchers[i], write_line, out.stream);
        if (output_file_close(&out, ok))
            return true;
    }
    if (ok)
        eprintf("seckill: cannot write %s: %s\n", path, strerror(errno));
    else
        eprintf("seckill: cannot read the record of writes: %s\n", lab_db_error(db));
    return false;
}

bool write_log_is_in(const char *dir)
{
    char path[FILES_PATH_MAX];

    files_join(path, dir, "writes.tsv");
    return access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/* A run that records writes its pids into run.json at its end, and writes.tsv after that.  An older
 * run has no pids there, and it is not known whether the run had the log. */
void write_log_note_missing(struct write_log *log, const char *dir)
{
    char path[FILES_PATH_MAX];
    json_t *run;

    files_join(path, dir, "run.json");
    if (access(path, F_OK) != 0)
        return;
    run = files_read_json(path);
    log->is_missing = json_object_get(run, "pids") != NULL;
    json_decref(run);
}

/* The writes that are read, and the history to which the names of their locks belong. */
struct reading {
    struct write_log *log;
    struct history *h;
};

/* A row_file_fn.  A write that found no stock left, or that another guard refused, says nothing
 * about fences, and is left out. */
static bool take_line(void *arg, char *line)
{
    enum { MUST_BE_THERE = -1, MAY_BE_EMPTY = 0 };
    struct reading *r = arg;
    struct write_log *log = r->log;
    struct check_write write = {0};
    char *field[FIELD_COUNT];
    int64_t fence;

    if (row_file_cut(line, field, FIELD_COUNT) != FIELD_COUNT ||
        !row_file_number(field[POSITION], MUST_BE_THERE, &write.position) ||
        !row_file_number(field[VOUCHER], MUST_BE_THERE, &write.voucher) ||
        !row_file_number(field[FENCE], MAY_BE_EMPTY, &fence) ||
        !row_file_number(field[USER], MUST_BE_THERE, &write.user))
        return false;
    write.is_accepted = strcmp(field[OUTCOME], "accepted") == 0;
    if (!write.is_accepted && strcmp(field[OUTCOME], "stale") != 0)
        return true;
    write.name = history_name(r->h, field[LOCK], strlen(field[LOCK]));
    write.fence = (uint64_t)fence;
    write.sets_fence = strcmp(field[GUARD], "fence") == 0;
    write.request = field[REQUEST];
    MEMORY_ROOM(log->writes, log->count, 1, log->room);
    log->writes[log->count++] = write;
    return true;
}

static int by_name(const void *a, const void *b)
{
    const struct check_write *x = a, *y = b;
    int order = COMPARE(x->name, y->name);

    return order != 0 ? order : COMPARE(x->position, y->position);
}

static void name_vouchers(struct write_log *log, struct history *h)
{
    char name[40];

    for (size_t i = 0; i < log->evidence.voucher_count; i++) {
        const struct audit_voucher *v = &log->evidence.vouchers[i];
        int n = snprintf(name, sizeof name, "voucher %" PRId64, v->id);

        log->vouchers[i] = (struct check_voucher){history_name(h, name, (size_t)n),
                                                  v->id, v->issued, v->left, v->fence};
    }
}

bool write_log_read(struct write_log *log, struct history *h, const char *dir)
{
    struct reading reading = {log, h};
    char path[FILES_PATH_MAX];

    *log = (struct write_log){0};
    if (!evidence_from_files(&log->evidence, dir))
        return false;
    files_join(path, dir, "writes.tsv");
    log->file = row_file_read(path, "write", take_line, &reading);
    if (!log->file)
        return false;
    if (log->count > 0)
        qsort(log->writes, log->count, sizeof *log->writes, by_name);
    name_vouchers(log, h);
    return true;
}

void write_log_use(const struct write_log *log, struct check_options *options)
{
    if (log->is_missing)
        options->why_no_writes = "the record of the writes is missing: no file writes.tsv was "
                                 "found";
    options->writes = log->writes;
    options->write_count = log->count;
    options->vouchers = log->vouchers;
    options->voucher_count = log->evidence.voucher_count;
    options->orders = log->evidence.orders;
    options->order_count = log->evidence.order_count;
}

void write_log_free(struct write_log *log)
{
    evidence_free(&log->evidence);
    free(log->writes);
    free(log->file);
    *log = (struct write_log){0};
}
