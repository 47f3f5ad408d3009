/* SPDX-License-Identifier: MIT */
/* check.c -- `seckill check RUN`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loadtest/check/check.h"
#include "loadtest/check/write_log.h"
#include "loadtest/command/commands.h"
#include "loadtest/kit/command.h"
#include "loadtest/kit/files.h"
#include "loadtest/kit/name_list.h"
#include "loadtest/kit/run_directory.h"
#include "loadtest/kit/shell.h"
#include "loadtest/page/page.h"
#include "base/os/clock.h"

struct check_settings {
    const char *name, *only, *html, *color;
    bool json, all;
};

#define AT(field) offsetof(struct check_settings, field)
static const struct setting settings[] = {
    OPTION(CHOICE, "only", AT(only), .meta = "PROPERTY", .choices = check_property_name,
           .help = "judge only this property"),
    OPTION(TEXT, "name", AT(name), .meta = "LOCK", .help = "judge only this lock"),
    OPTION(SWITCH, "json", AT(json), .fallback = "off",
           .help = "the verdict as JSON on stdout"),
    OPTION(SWITCH, "all", AT(all), .fallback = "off",
           .help = "print every violation as one line before the verdict; with --json on "
                   "stderr"),
    OPTION(TEXT, "html", AT(html), .output = SETTING_WRITES_FILE, .meta = "FILE",
           .help = "write the violations as an HTML page, through which you step with the arrow "
                   "keys"),
    COMMAND_COLOR(AT(color)),
};

const struct setting_program command_check_program = {
    .name = "seckill check",
    .synopsis = "[--only=PROPERTY] [--name=LOCK] [--all] [--json] [--html=FILE] RUN",
    .intro =
        "Judge the locks of a run from the records that every process wrote.  RUN is a\n"
        "directory of such records, or a directory with the subdirectory locks, or a text\n"
        "file with one call per line, in milliseconds (see loadtest/check/history.h).  If the\n"
        "run has the record of the writes to its vouchers, the command also judges the\n"
        "fences by this record, and the record by the orders and the stock.\n\n"
        "  seckill load --record -- --lock=naive\n"
        "  seckill check runs/latest\n"
        "  seckill check runs/latest --html=timeline.html",
    EXITS({EXIT_VALID, "the locks kept their promises"},
          {EXIT_INVALID, "a promise was broken"},
          {EXIT_UNKNOWN, "the records are not sufficient for a verdict"},
          {EXIT_USAGE, "the command line is wrong, there are no records, or no recorder can "
                       "have written one of the files"},
          {EXIT_CANNOT_WRITE, "the page cannot be written"}),
    SETTINGS(settings),
    .max_operands = 1,
};

static bool read_text(struct history *h, const char *path)
{
    char error[256];
    size_t size = 0;
    char *text = files_read(path, &size);
    bool ok;

    if (text == NULL) {
        runs_say_unreadable("seckill check", path);
        return false;
    }
    ok = strlen(text) == size;
    if (!ok) /* the rest would go unread */
        snprintf(error, sizeof(error), "the byte at offset %zu is 0, so the file is no text",
                 strlen(text));
    else
        ok = history_parse(h, text, error, sizeof(error));
    if (!ok)
        eprintf("seckill check: %s: %s\n", path, error);
    history_scale(h, DLOCK_NS_PER_MS);
    free(text);
    return ok;
}

/* The directory of the run whose records are in `records`: its parent, if it is named locks.
 * False: the name says nothing about a run. */
static bool run_of(char run[FILES_PATH_MAX], const char *records)
{
    char *path = realpath(records, NULL);
    char *name = path != NULL ? strrchr(path, '/') : NULL;
    bool is_locks = name != NULL && strcmp(name + 1, "locks") == 0;

    if (is_locks)
        files_path(run, "%.*s/", (int)(name - path), path);
    free(path);
    return is_locks;
}

/* The first `of_files` damages begin with the name of a file in the directory `path`. */
static void say_damages(const struct history *h, const char *path, size_t of_files)
{
    for (size_t i = 0; i < h->damage_count; i++)
        eprintf("seckill check: %s%s%s\n", i < of_files ? path : "",
                i < of_files ? "/" : "", h->damages[i]);
}

static bool read_run(struct history *h, const char *run)
{
    char path[FILES_PATH_MAX], parent[FILES_PATH_MAX];
    size_t of_files;

    if (!files_is_directory(run))
        return read_text(h, run);
    files_join(path, run, "locks");
    if (access(path, F_OK) != 0 && errno == ENOENT)
        files_path(path, "%s", run);
    if (!history_read(h, path))
        return false;
    of_files = h->damage_count;
    if ((h->process_count > 0 || h->damage_count > 0) && run_of(parent, path))
        history_note_missing(h, parent);
    if (h->nonsense_count > 0) {
        say_damages(h, path, of_files);
        return false;
    }
    if (h->process_count > 0 || h->damage_count > 0)
        return true;
    if (runs_refuse_many(command_check_program.name, run))
        return false;
    eprintf("seckill check: no records in %s; a record is made by seckill load --record, "
            "by seckill compare --record and by seckilld --record=DIR\n", path);
    return false;
}

/* Forget every lock but the named one. */
static bool keep_one(struct history *h, const char *name)
{
    int64_t index = history_find_name(h, name);
    size_t count = 0;

    for (size_t i = 0; i < h->call_count; i++)
        if (h->calls[i].name == index)
            h->calls[count++] = h->calls[i];
    h->call_count = count;
    if (count == 0)
        eprintf("seckill check: no lock \"%s\" in this run\n", name);
    return count > 0;
}

/* The verdict stays the same, but a page that was asked for and cannot be written is a
 * failure. */
static enum exit_code draw(const struct check_settings *v, const char *run,
                           const struct history *h, const struct check *c,
                           const struct check_verdict *verdict)
{
    char word[SHELL_WORD_MAX];

    if (v->html != NULL && !page_write(v->html, h, c, verdict))
        return EXIT_CANNOT_WRITE;
    if (v->json)
        return verdict_exit(verdict->valid);
    if (v->html != NULL)
        printf("\ndrawn in %s\n", v->html);
    else if (verdict->valid == VERDICT_INVALID)
        printf("\nstep through it: seckill check %s --html=timeline.html\n", shell_word(word, run));
    return verdict_exit(verdict->valid);
}

/* The stream to which --all prints. */
struct all {
    FILE *out;
    const struct history *h;
};

static void print_one(void *arg, enum check_property property,
                      const struct check_example *example)
{
    const struct all *all = arg;

    check_print_example(all->out, all->h, property, example);
}

static enum exit_code judge(const struct check_settings *v, const char *run,
                            const struct history *h, const struct write_log *log)
{
    struct check_options options = check_options_default();
    struct all all = {v->json ? stderr : stdout, h};
    struct check *c = check_new();
    struct check_verdict verdict;
    enum exit_code rc;

    if (v->only != NULL)
        options.only = 1u << words_place(check_property_name, v->only);
    write_log_use(log, &options);
    if (v->all) {
        options.each = print_one;
        options.arg = &all;
    }
    check_judge(c, h, &options, &verdict);
    if (v->json)
        files_print_json(check_to_json(h, &verdict));
    else
        check_print(stdout, h, &verdict);
    rc = draw(v, run, h, c, &verdict);
    check_free(c);
    return rc;
}

/* Read the record of the writes, if the run has one: the operand is the directory of the run, or
 * its subdirectory with the records of the locks.  A history with damages may be damaged in its
 * run.json, and is unknown without the record of the writes as well. */
static bool read_writes(struct write_log *log, struct history *h, const char *operand)
{
    char parent[FILES_PATH_MAX];
    const char *run = operand;

    if (!write_log_is_in(operand) && run_of(parent, operand))
        run = parent;
    if (write_log_is_in(run))
        return write_log_read(log, h, run);
    if (h->damage_count == 0)
        write_log_note_missing(log, run);
    return true;
}

static enum exit_code run(const struct settings *s, const void *values)
{
    const struct check_settings *v = values;
    struct history h = {0};
    struct write_log log = {0};
    enum exit_code rc = EXIT_USAGE;

    if (s->operand_count != 1) {
        eprintf("seckill check: name a run, such as runs/latest\n");
        return EXIT_USAGE;
    }
    if (read_run(&h, s->operands[0]) && read_writes(&log, &h, s->operands[0]) &&
        (v->name == NULL || keep_one(&h, v->name)))
        rc = judge(v, s->operands[0], &h, &log);
    write_log_free(&log);
    history_free(&h);
    return rc;
}

COMMAND_FUNCTION(check, command_run)
