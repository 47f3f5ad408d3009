/* SPDX-License-Identifier: MIT */
/* audit.c -- `seckill audit RUN`. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/settings.h"
#include "db/order_paths.h"
#include "loadtest/audit/audit.h"
#include "loadtest/audit/evidence.h"
#include "loadtest/audit/lost.h"
#include "loadtest/audit/report.h"
#include "loadtest/audit/settled.h"
#include "loadtest/command/commands.h"
#include "loadtest/kit/command.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/name_list.h"
#include "loadtest/kit/run_directory.h"
#include "loadtest/kit/shell.h"
#include "loadtest/lab/lab.h"
#include "loadtest/sale/service_settings.h"

enum { QUIET_MS = 6000, DRAIN_MS = 6000 };

struct audit_settings {
    const char *dir, *voucher, *stream, *from, *color;
    bool json, lost;
};

static NAME_LIST(from_name, "auto", "database", "files")

#define AT(field) offsetof(struct audit_settings, field)
static const struct setting settings[] = {
    OPTION(CHOICE, "from", AT(from), .fallback = "auto", .meta = "WHERE",
           .choices = from_name,
           .help = "the source of the orders: the live database, or the files orders.tsv and "
                   "stock.json; auto: the database if PostgreSQL of the run's lab runs, else "
                   "the files"),
    OPTION(TEXT, "voucher", AT(voucher), .meta = "N[,N...]",
           .shared = "voucher", /* the vouchers that the wrk scripts ordered */
           .help = "the vouchers of a run without run.json, which you made with wrk by "
                   "hand; the wrk scripts order the vouchers of the same variable; default: "
                   "the vouchers that the lines of the ledgers name"),
    OPTION(TEXT, "stream-name", AT(stream), .fallback = ORDER_PATH_STREAM_NAME, .meta = "NAME",
           .shared = "stream-name", /* of the service */
           .help = "the stream of --order-path=stream of a run without service.json, which you "
                   "made with wrk by hand"),
    OPTION(SWITCH, "json", AT(json), .fallback = "off",
           .help = "the verdict as JSON on stdout"),
    OPTION(SWITCH, "lost", AT(lost), .fallback = "off",
           .help = "print every acknowledged order without a row, instead of the verdict: one "
                   "line each, with request, order, user and voucher, separated by tabs"),
    COMMAND_DIR(AT(dir)),
    COMMAND_COLOR(AT(color)),
};

const struct setting_program command_audit_program = {
    .name = "seckill audit",
    .synopsis = "[--from=auto|database|files] [--voucher=N[,N...]] RUN",
    .intro =
        "Judge a run from the stock that was issued before it, the orders in the database\n"
        "after it, and the ledger with the answers to the clients.\n\n"
        "  seckill audit runs/latest                         after `seckill load`\n"
        "  seckill audit runs/latest/oversell/calm/none-1\n"
        "  seckill audit --lost runs/latest       after a promotion: the lost orders\n"
        "  SECKILL_LEDGER_DIR=/tmp/r wrk ... && seckill audit /tmp/r",
    EXITS({EXIT_VALID, "the run is valid"}, {EXIT_INVALID, "the run is invalid"},
          {EXIT_UNKNOWN, NULL},
          {EXIT_USAGE, "the command line is wrong, RUN is not the directory of one run, a file "
                       "of RUN is missing or damaged, or the database never issued a voucher "
                       "of RUN"},
          {EXIT_UNAVAILABLE, NULL}, {EXIT_CANNOT_WRITE, "standard output cannot be written"},
          {EXIT_INTERRUPTED, "interrupted; there is no verdict"}),
    SETTINGS(settings),
    .max_operands = 1,
};

struct subject {
    int64_t vouchers[EVIDENCE_VOUCHERS_MAX];
    size_t count;
    bool is_of_run; /* run.json names the vouchers, and not the command line      */
    bool is_settled;
    char why_open[SETTLED_WHY_MAX]; /* why it is not settled, where that was asked */
    char lab_id[LAB_SECRET_LEN + 1];
};

/* A voucher that is named twice is audited once.  False: there is no room for it. */
static bool add_voucher(struct subject *s, int64_t id)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->vouchers[i] == id)
            return true;
    if (s->count == EVIDENCE_VOUCHERS_MAX)
        return false;
    s->vouchers[s->count++] = id;
    return true;
}

static bool vouchers_from_text(struct subject *s, const char *text)
{
    while (*text && s->count < EVIDENCE_VOUCHERS_MAX) {
        char *end;
        int64_t id = strtoll(text, &end, 10);

        if (end == text || id <= 0 || (*end != ',' && *end != '\0')) {
            eprintf("seckill audit: --voucher: expected numbers with commas\n");
            return false;
        }
        (void)add_voucher(s, id);
        text = *end ? end + 1 : end;
    }
    return true;
}

static void say_no_run(const char *run)
{
    char latest[FILES_PATH_MAX];

    files_join(latest, run, "latest");
    eprintf("seckill audit: no run in %s, which has neither run.json nor a ledger "
            "(ledger-*.tsv)\n  name the directory of one run, such as %s\n",
            run, files_is_directory(latest) ? latest : "runs/latest");
}

/* A run that was made with wrk by hand has ledgers and no run.json.  Unless the user names the
 * vouchers, the run is about those in the lines of the ledgers. */
static bool vouchers_of_hand_made(struct subject *s, const char *run, const char *voucher)
{
    struct ledger ledger;
    bool ok = ledger_read(&ledger, run), has_room = true;

    for (size_t i = 0; ok && !voucher && i < ledger.count; i++)
        has_room = add_voucher(s, ledger.entries[i].voucher) && has_room;
    if (ok && ledger.files == 0) {
        say_no_run(run);
        ok = false;
    } else if (ok && voucher) {
        ok = vouchers_from_text(s, voucher);
    } else if (ok && s->count == 0) {
        eprintf("seckill audit: no line of the ledgers in %s names a voucher\n"
                "  name the vouchers of the run: --voucher=N[,N...]\n", run);
        ok = false;
    } else if (!has_room) {
        eprintf("seckill audit: the ledgers in %s name more than %d vouchers, and an audit "
                "judges at most %d\n", run, EVIDENCE_VOUCHERS_MAX, EVIDENCE_VOUCHERS_MAX);
        ok = false;
    }
    ledger_free(&ledger);
    return ok;
}

static bool read_subject(struct subject *s, const char *run, const char *voucher)
{
    char path[FILES_PATH_MAX];
    const char *lab_id;
    json_t *json, *entry;
    size_t i;

    if (runs_refuse_many(command_audit_program.name, run))
        return false;
    files_join(path, run, "run.json");
    if (access(path, F_OK) != 0)
        return vouchers_of_hand_made(s, run, voucher);
    s->is_of_run = true;
    json = files_read_json(path);
    if (!json)
        return false;
    json_array_foreach(json_object_get(json, "vouchers"), i, entry)
        (void)add_voucher(s, json_integer_value(entry));
    s->is_settled = json_is_true(json_object_get(json, "settled"));
    lab_id = json_string_value(json_object_get(json, "lab"));
    snprintf(s->lab_id, sizeof s->lab_id, "%s", lab_id ? lab_id : "");
    json_decref(json);
    if (s->count == 0)
        eprintf("seckill audit: %s names no vouchers; name the directory of a single run of "
                "seckill load or seckill compare\n", path);
    return s->count > 0;
}

enum { WHY_NOT_LIVE_MAX = FILES_PATH_MAX + SHELL_WORD_MAX };

/* Is this the lab that the run was made in, and does its PostgreSQL run?  The rows are there; of
 * the other servers, the audit asks only the Redis of a stream.  False: `why` has the reason. */
static bool is_live(const struct subject *s, const char *dir, struct lab *lab,
                    char why[WHY_NOT_LIVE_MAX])
{
    char word[SHELL_WORD_MAX];

    *why = '\0';
    if (!lab_state_read(lab, dir))
        snprintf(why, WHY_NOT_LIVE_MAX, "no lab is up in %s", dir);
    else if (s->lab_id[0] != '\0' && strcmp(s->lab_id, lab->id) != 0)
        snprintf(why, WHY_NOT_LIVE_MAX, "the lab in %s is not the lab of this run", dir);
    else if (!child_runs(&lab_server(lab, LAB_POSTGRES, 0)->child))
        snprintf(why, WHY_NOT_LIVE_MAX,
                 "%s of the lab in %s has ended\n  start it again: seckill lab up --dir=%s",
                 lab_server_name(lab, LAB_POSTGRES, 0), dir, shell_word(word, dir));
    return *why == '\0';
}

/* Has the run the files that take the place of the database, which cannot be read for the reason
 * in `why`?  False: the reason is on stderr. */
static bool has_files(const char *run, const char *why)
{
    char path[FILES_PATH_MAX];

    files_join(path, run, "stock.json");
    if (access(path, F_OK) == 0)
        return true;
    eprintf("seckill audit: %s has no stock.json, and its database cannot be read: %s\n", run, why);
    return false;
}

/* Nothing that was sent can still become an order once no order waits in the stream and the service
 * has done nothing for a while.  A run of `seckill load` says so itself: its processes have ended.
 * This is asked before the rows are read, so an order that leaves the stream is among the rows. */
static bool wait_settled(struct subject *s, const char *run, const struct lab *lab, lab_db *db,
                         const char *stream)
{
    char name[SERVICE_STREAM_MAX];

    return (!service_settings_stream(run, stream, name) ||
            settled_wait_drained(lab, name, DRAIN_MS, true, s->why_open)) &&
           settled_wait_quiet(db, QUIET_MS, s->why_open);
}

/* EXIT_UNAVAILABLE: the database does not answer.  EXIT_USAGE: it has not such a voucher.
 * EXIT_INTERRUPTED: a signal came before the rows were read. */
static enum exit_code gather_live(struct subject *s, const char *run, const struct lab *lab,
                                  struct evidence *e, const char *stream)
{
    struct evidence_reading reading = {0};
    lab_db *db = lab_database_open(lab, command_audit_program.name);
    char urls[LAB_DATABASE_URLS_MAX];
    bool is_whole, is_found;

    if (!db)
        return EXIT_UNAVAILABLE;
    lab_database_urls(lab, urls);
    s->is_settled = s->is_settled || wait_settled(s, run, lab, db, stream);
    lab_db_close(db);
    if (interrupted())
        return EXIT_INTERRUPTED;
    is_found = evidence_begin(&reading, urls) &&
               evidence_from_database(e, &reading, s->vouchers, s->count);
    is_whole = evidence_end(&reading);
    return !is_whole ? EXIT_UNAVAILABLE : is_found ? EXIT_VALID : EXIT_USAGE;
}

/* EXIT_USAGE: a file cannot be read, or the files of the run contradict each other.  A voucher
 * without its entry would go unjudged. */
static enum exit_code gather_files(const struct subject *s, const char *run, struct evidence *e)
{
    if (!evidence_from_files(e, run))
        return EXIT_USAGE;
    for (size_t i = 0; s->is_of_run && i < s->count; i++) {
        if (evidence_has_voucher(e, s->vouchers[i]))
            continue;
        eprintf("seckill audit: %s/stock.json has not voucher %" PRId64 ", which run.json names\n"
                "  bring the two files of one run together, or audit the live database: "
                "--from=database\n", run, s->vouchers[i]);
        return EXIT_USAGE;
    }
    return EXIT_VALID;
}

/* An audit_lost_fn. */
static void print_lost(const struct ledger_entry *entry, void *out)
{
    fprintf(out, "%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\n", entry->request,
            entry->order, entry->user, entry->voucher);
}

static enum exit_code judge(struct subject *s, const char *run, const char *source,
                            const struct evidence *e, const struct audit_settings *v)
{
    struct ledger ledger;
    struct audit_verdict verdict;
    struct audit_input input;

    if (!ledger_read(&ledger, run)) {
        ledger_free(&ledger);
        return EXIT_USAGE;
    }
    ledger_note_missing(&ledger, run);
    input = evidence_input(e, &ledger, s->is_settled);
    audit_judge(&input, &verdict);
    if (v->lost)
        (void)audit_each_lost(&input, print_lost, stdout);
    else if (v->json)
        files_print_json(audit_to_json(&verdict, source));
    else
        report_verdict(stdout, &verdict, source);
    if (verdict.valid == VERDICT_UNKNOWN && !s->is_settled && *s->why_open)
        eprintf("seckill audit: %s\n", s->why_open);
    ledger_free(&ledger);
    return verdict_exit(verdict.valid);
}

static enum exit_code run_audit(const struct audit_settings *v, const char *run)
{
    struct subject subject = {0};
    struct evidence evidence = {0};
    char why[WHY_NOT_LIVE_MAX] = "";
    struct lab lab;
    enum exit_code rc;
    bool live;

    if (!files_is_directory(run) || access(run, R_OK | X_OK) != 0) {
        if (access(run, F_OK) == 0 && !files_is_directory(run))
            errno = ENOTDIR;
        runs_say_unreadable("seckill audit", run);
        return EXIT_USAGE;
    }
    if (!read_subject(&subject, run, v->voucher))
        return EXIT_USAGE;
    live = strcmp(v->from, "files") != 0 &&
           is_live(&subject, lab_choose_dir(v->dir), &lab, why);
    if (!live && strcmp(v->from, "database") == 0) {
        eprintf("seckill audit: %s\n  or judge the files of the run: --from=files\n", why);
        return EXIT_UNAVAILABLE;
    }
    if (*why && !has_files(run, why))
        return EXIT_UNAVAILABLE;
    rc = live ? gather_live(&subject, run, &lab, &evidence, v->stream)
              : gather_files(&subject, run, &evidence);
    if (rc == EXIT_VALID)
        rc = judge(&subject, run,
                   live ? "the live database" : "orders.tsv and stock.json", &evidence, v);
    evidence_free(&evidence);
    return rc;
}

static enum exit_code run(const struct settings *s, const void *values)
{
    if (s->operand_count == 1)
        return run_audit(values, s->operands[0]);
    eprintf("seckill audit: name a run, such as runs/latest\n");
    return EXIT_USAGE;
}

COMMAND_FUNCTION(audit, command_run)
