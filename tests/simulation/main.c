/* SPDX-License-Identifier: MIT */
/* main.c -- `make simulate`: the table of many seeds, or one seed and the smallest world that ends
 * like it.  `simulate --help` says what it plays. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "tests/simulation/batch.h"
#include "tests/simulation/faults.h"
#include "tests/simulation/model.h"
#include "tests/simulation/smaller.h"
#include "tests/simulation/subject.h"

/* ---- the expected verdicts: the rows SIMULATED of the project's expectations.def ---- */

/* A verdict that must occur has to occur in a batch of at least this many seeds. */
enum { BREAK_SEEDS = 1000 };

static const struct row {
    const char *class;
    const char *subjects; /* separated by spaces */
    const char *must, *may; /* the verdict that must occur; the verdicts that may occur */
    const char *reason;
} expected_rows[] = {
#define EXPECT(...)
#define CHECK_GAP(names)
#define SIMULATED(class, subjects, must, may, reason) {#class, subjects, must, may, reason},
#include "loadtest/expect/expectations.def"
#undef SIMULATED
#undef CHECK_GAP
#undef EXPECT
};

static bool has_word(const char *words, const char *word)
{
    size_t len = strlen(word);

    if (strcmp(words, "all") == 0)
        return true;
    for (const char *at = strstr(words, word); at != NULL; at = strstr(at + 1, word))
        if ((at == words || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
            return true;
    return false;
}

static bool is_verdict(const char *word)
{
    for (int i = FINE + 1; i < VERDICT_COUNT; i++)
        if (strcmp(world_verdict_name((enum verdict)i), word) == 0)
            return true;
    return false;
}

static bool is_subject(const char *word)
{
    return strcmp(word, "all") == 0 || subject_find(word) != NULL;
}

static bool is_class(const char *word)
{
    for (int i = 0; i < CLASS_COUNT; i++)
        if (strcmp(class_rows[i].name, word) == 0)
            return true;
    return false;
}

static bool are_all(const char *words, bool (*is_known)(const char *word), const char *what)
{
    char copy[256];
    char *save = NULL;

    (void)snprintf(copy, sizeof(copy), "%s", words);
    for (char *word = strtok_r(copy, " ", &save); word != NULL;
         word = strtok_r(NULL, " ", &save))
        if (!is_known(word)) {
            (void)fprintf(stderr, "simulate: expectations.def names the %s %s, which does not "
                          "exist\n", what, word);
            return false;
        }
    return true;
}

/* Check the rows before all else: do they name classes, subjects and verdicts that exist? If not,
 * print the names that do not exist on stderr. */
static bool expected_check(void)
{
    bool is_fine = true;

    for (size_t i = 0; i < sizeof(expected_rows) / sizeof(expected_rows[0]); i++)
        is_fine = are_all(expected_rows[i].class, is_class, "class") &&
                  are_all(expected_rows[i].subjects, is_subject, "subject") &&
                  are_all(expected_rows[i].must, is_verdict, "verdict") &&
                  are_all(expected_rows[i].may, is_verdict, "verdict") && is_fine;
    return is_fine;
}

static const struct row *row_of(const struct batch *batch)
{
    for (size_t i = 0; i < sizeof(expected_rows) / sizeof(expected_rows[0]); i++)
        if (strcmp(expected_rows[i].class, class_rows[batch->class].name) == 0 &&
            has_word(expected_rows[i].subjects, batch->variant->name))
            return &expected_rows[i];
    return NULL;
}

/* Must no seed of the batch end with this verdict? */
static bool expected_is_wrong(const struct batch *batch, enum verdict verdict)
{
    const struct row *row = row_of(batch);
    const char *name = world_verdict_name(verdict);

    return verdict != FINE &&
           (row == NULL || (strcmp(row->must, name) != 0 && !has_word(row->may, name)));
}

/* Did the batch come out as expected?  If not, `why` says in which way. */
static bool expected_is(const struct batch *batch, const struct outcome *outcome, char *why,
                        size_t why_size)
{
    const struct row *row = row_of(batch);
    uint64_t wrong = 0, shown = 0;

    if (row == NULL) {
        (void)snprintf(why, why_size, "expectations.def has no row for it");
        return false;
    }
    for (int i = FINE + 1; i < VERDICT_COUNT; i++) {
        const char *name = world_verdict_name((enum verdict)i);

        if (strcmp(row->must, name) == 0)
            shown += outcome->verdicts[i];
        else if (expected_is_wrong(batch, (enum verdict)i))
            wrong += outcome->verdicts[i];
    }
    if (outcome->different > 0) {
        (void)snprintf(why, why_size, "%llu seeds differ from themselves",
                       (unsigned long long)outcome->different);
    } else if (outcome->disputed > 0) {
        (void)snprintf(why, why_size, "`seckill check` disputes %llu of %llu verdicts",
                       (unsigned long long)outcome->disputed,
                       (unsigned long long)outcome->checked);
    } else if (wrong > 0) {
        (void)snprintf(why, why_size, "%llu seeds are not as expected: %s",
                       (unsigned long long)wrong, row->reason);
    } else if (shown == 0 && row->must[0] != '\0' && outcome->seeds >= BREAK_SEEDS) {
        (void)snprintf(why, why_size, "no seed came to `%s`: %s", row->must, row->reason);
    } else {
        return true;
    }
    return false;
}

/* ---- the command line ---- */

/* The texts point into the arguments of the program. */
struct settings {
    const char *variants, *classes;
    uint64_t seed_count, first_seed, seed, check_one_in;
    bool has_seed, twice, is_quiet, plays_stories, hunts, prints_hashes, is_strict, has_less;
    struct smaller less;
    const char *failed_file; /* NULL: none */
    int job_count;
    const char *record_dir; /* NULL: nothing is recorded */
    const char *beside; /* the socket of a real server; NULL: none */
};

#define NUMBER_MAX UINT64_C(999999999999999999)

/* The names of all classes, separated by commas. */
static const char *const COMMAND_LINE_CLASSES = "calm,net,crash,pause,store,clock";

/* Read a whole number from 1 to `most`; end the program if `text` is none. */
static uint64_t read_number(const char *flag, const char *text, uint64_t most)
{
    char *end = NULL;
    unsigned long long number = strtoull(text, &end, 10);

    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && number > 0 && number <= most &&
        strlen(text) < 19)
        return number;
    (void)fprintf(stderr, "simulate: %s=%s is not accepted; it takes a whole number from 1 to "
                  "%llu\n", flag, text, (unsigned long long)most);
    exit(64);
}

static struct smaller read_less(const char *text)
{
    struct smaller less;

    if (smaller_read(&less, text))
        return less;
    (void)fprintf(stderr, "simulate: LESS=%s is not accepted; it takes sizes such as faults:1,"
                  "rounds:2 with these names: %s\n", text, smaller_names());
    exit(64);
}

static bool is_listed(const char *list, const char *name, size_t len)
{
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, len) == 0 && (at[len] == ',' || at[len] == '\0'))
            return true;
    }
    return false;
}

/* Is `name` in the comma-separated `list`, or is "all" in it? */
static bool command_line_names(const char *list, const char *name)
{
    return is_listed(list, "all", 3) || is_listed(list, name, strlen(name));
}

static void refuse_unknown(const char *what, const char *list, const char *known)
{
    for (const char *at = list;; at++) {
        size_t len = strcspn(at, ",");

        if (len == 0 || (!is_listed("all", at, len) && !is_listed(known, at, len))) {
            (void)fprintf(stderr, "simulate: there is no %s \"%.*s\"; accepted are: all,%s\n",
                          what, (int)len, at, known);
            exit(64);
        }
        at += len;
        if (*at == '\0')
            return;
    }
}

static const char USAGE[] =
    "usage: simulate [--variant=NAMES] [--class=NAMES] [--seeds=N]      a table of many seeds\n"
    "       simulate --variant=NAME --class=NAME --seed=N               one seed, event by event\n"
    "       simulate --hunt | --hashes | --stories | --beside=SOCKET    see below\n"
    "\n"
    "The program plays the project's own locks in simulated worlds: clocks, threads, networks\n"
    "and Redis are simulated.  A seed decides all chance, so the same build plays the same seed\n"
    "in the same way, event by event.\n"
    "\n"
    "Which seeds are played:\n"
    "  --variant=NAMES     locks or primitives, with commas between (default: all)\n"
    "  --class=NAMES       classes of faults, with commas between (default: all)\n"
    "  --seeds=N           so many seeds of each variant in each class (default: 100)\n"
    "  --from=N            the first seed (default: 1)\n"
    "  --jobs=N            so many seeds are played at once (default: 2)\n"
    "\n"
    "What is done with each of them:\n"
    "  --twice             each seed is played twice, and its two traces have to be the same\n"
    "  --strict            every verdict but `fine` is a failure, whatever is expected\n"
    "  --check-one-in=N    `seckill check` judges the records of one in N seeds too (default 100)\n"
    "  --failed=FILE       FILE gets the commands that play the failed seeds again\n"
    "  --record=DIR        DIR keeps the records that `seckill check` judged\n"
    "\n"
    "One seed:\n"
    "  --seed=N            print what happens in it, then the smallest world that ends as badly\n"
    "  --quiet             print only how it ended\n"
    "  --less=SIZES        play a smaller world of the seed, such as faults:1,rounds:2,draw:4\n"
    "\n"
    "Other commands:\n"
    "  --hunt              end at the first seed whose verdict must not come\n"
    "  --hashes            print the hash of each seed's trace: variant, class, seed, hash\n"
    "  --stories           play the circumstances of mended bugs, as TAP\n"
    "  --beside=SOCKET     play random sequences of commands to the model and to a redis-server\n"
    "  --help              print this text\n"
    "\n"
    "Exit status: 0 all is as expected; 1 a seed or a cell is not; 64 a flag is not accepted;\n"
    "70 a process, memory or a file is not to be had.\n"
    "\n"
    "Examples:\n"
    "  simulate --seeds=1000 --variant=lua,redlock --class=net\n"
    "  simulate --variant=fair --class=clock --seed=7\n"
    "\n";

static void print_usage(void)
{
    (void)printf("%sClasses: %s\nVariants: %s\n", USAGE, COMMAND_LINE_CLASSES, subject_names());
    exit(0);
}

/* getopt_long() has printed its own line on stderr before. */
static void refuse_flag(void)
{
    (void)fprintf(stderr, "simulate: `simulate --help` lists all flags\n");
    exit(64);
}

/* The program takes no arguments but flags. */
static void refuse_word(const char *word)
{
    (void)fprintf(stderr, "simulate: \"%s\" is not accepted; every argument is a flag\n", word);
    refuse_flag();
}

/* Read the arguments into `out`.  Ends the program with 0 after --help, and with 64, all accepted
 * values on stderr, for what is not accepted. */
static void command_line_read(int argc, char **argv, struct settings *out)
{
    static const struct option options[] = {
        {"variant", required_argument, NULL, 'v'}, {"class", required_argument, NULL, 'c'},
        {"seeds", required_argument, NULL, 'n'},   {"from", required_argument, NULL, 'f'},
        {"seed", required_argument, NULL, 's'},    {"jobs", required_argument, NULL, 'j'},
        {"twice", no_argument, NULL, '2'},         {"quiet", no_argument, NULL, 'q'},
        {"stories", no_argument, NULL, 't'},       {"beside", required_argument, NULL, 'b'},
        {"hunt", no_argument, NULL, 'h'},          {"hashes", no_argument, NULL, 'H'},
        {"less", required_argument, NULL, 'l'},    {"strict", no_argument, NULL, 'S'},
        {"failed", required_argument, NULL, 'F'},
        {"record", required_argument, NULL, 'r'},
        {"check-one-in", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'u'}, {NULL, 0, NULL, 0}};
    int flag;

    *out = (struct settings){.variants = "all", .classes = "all", .seed_count = 100,
                             .first_seed = 1, .check_one_in = 100, .job_count = 2};
    while ((flag = getopt_long(argc, argv, "", options, NULL)) != -1)
        switch (flag) {
        case 'v': out->variants = optarg; break;
        case 'c': out->classes = optarg; break;
        case 'n': out->seed_count = read_number("SEEDS", optarg, NUMBER_MAX); break;
        case 'f': out->first_seed = read_number("FROM", optarg, NUMBER_MAX); break;
        case 's': out->seed = read_number("SEED", optarg, NUMBER_MAX), out->has_seed = true; break;
        case 'j': out->job_count = (int)read_number("JOBS", optarg, BATCH_JOBS_MAX); break;
        case '2': out->twice = true; break;
        case 'q': out->is_quiet = true; break;
        case 'b': out->beside = optarg; break;
        case 'o': out->check_one_in = read_number("check-one-in", optarg, NUMBER_MAX); break;
        case 'r': out->record_dir = optarg; break;
        case 'h': out->hunts = true; break;
        case 'F': out->failed_file = optarg; break;
        case 'S': out->is_strict = true; break;
        case 'l': out->less = read_less(optarg), out->has_less = true; break;
        case 'H': out->prints_hashes = true; break;
        case 't': out->plays_stories = true; break;
        case 'u': print_usage(); break;
        default: refuse_flag();
        }
    if (optind < argc)
        refuse_word(argv[optind]);
    refuse_unknown("class", out->classes, COMMAND_LINE_CLASSES);
    refuse_unknown("variant", out->variants, subject_names());
}

/* ---- lines on stderr, at most one in ten seconds, and the file of failed seeds ---- */

enum { PROGRESS_S = 10 };

static FILE *failed;
static const char *failed_name;
static time_t told_at; /* the time of the last printed line, or of the first batch's beginning */

/* The machine's clock, which nothing else in the simulation reads. */
static time_t progress_now(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec;
}

/* Each seed that fails is added to the file, with the command that plays it again; NULL: to no
 * file. Returns false if the file cannot be made; the reason is on stderr. */
static bool progress_begin(const char *failed_file)
{
    told_at = progress_now();
    failed_name = failed_file;
    if (failed_file == NULL)
        return true;
    failed = fopen(failed_file, "we");
    if (failed == NULL)
        (void)fprintf(stderr, "simulate: cannot write %s: %s\n", failed_file, strerror(errno));
    return failed != NULL;
}

static void progress_note(const struct batch *batch, const struct outcome *outcome,
                          uint64_t seed, const struct account *account)
{
    const char *variant = batch->variant->name, *class = class_rows[batch->class].name;

    if (failed != NULL && batch->is_wrong(batch, account->verdict)) {
        (void)fprintf(failed, "make simulate VARIANT=%s CLASS=%s SEED=%llu # %s: %s\n", variant,
                      class, (unsigned long long)seed, world_verdict_name(account->verdict),
                      account->text);
        /* Otherwise the process of each seed would write its copy of the buffer too. */
        (void)fflush(failed);
    }
    if (progress_now() < told_at + PROGRESS_S)
        return;
    told_at = progress_now();
    (void)fprintf(stderr, "# %s %s: %llu of %llu seeds, %llu failed\n", variant, class,
                  (unsigned long long)outcome->seeds, (unsigned long long)batch->seed_count,
                  (unsigned long long)outcome->wrong_count);
}

static bool progress_end(void)
{
    bool is_written = failed == NULL || (ferror(failed) == 0 && fclose(failed) == 0);

    if (!is_written)
        (void)fprintf(stderr, "simulate: cannot write %s: %s\n", failed_name, strerror(errno));
    return is_written;
}

/* ---- the table ---- */

/* Seconds of processor time that the seeds have taken so far; wall time would count other
 * programs. */
static double seconds(void)
{
    struct rusage used;

    (void)getrusage(RUSAGE_CHILDREN, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static bool print_row(const struct batch *batch)
{
    double from = seconds();
    struct outcome outcome = batch_run(batch);
    double took = seconds() - from;
    char why[WORLD_TEXT] = "";
    bool is_fine = expected_is(batch, &outcome, why, sizeof(why)) && outcome.wrong_count == 0;

    (void)printf("%-13s %-6s %8llu %9llu %8llu %7.0f  ", batch->variant->name,
                 class_rows[batch->class].name, (unsigned long long)outcome.seeds,
                 (unsigned long long)outcome.calls, (unsigned long long)outcome.faults,
                 (double)outcome.seeds / (took + 1e-6));
    for (int i = 0; i < VERDICT_COUNT; i++)
        if (outcome.verdicts[i] > 0)
            (void)printf("%s %llu  ", world_verdict_name((enum verdict)i),
                         (unsigned long long)outcome.verdicts[i]);
    (void)printf("%s\n", is_fine ? "as expected" : "NOT AS EXPECTED");
    if (!is_fine)
        (void)printf("# %s\n", why);
    if (!is_fine && outcome.first_wrong != 0)
        (void)printf("# seed %llu: %s: %s\n# make simulate VARIANT=%s CLASS=%s SEED=%llu\n",
                     (unsigned long long)outcome.first_wrong,
                     world_verdict_name(outcome.wrong.verdict), outcome.wrong.text,
                     batch->variant->name, class_rows[batch->class].name,
                     (unsigned long long)outcome.first_wrong);
    (void)fflush(stdout);
    return is_fine;
}

/* Returns true if no seed had a wrong verdict. */
static bool print_hunt(const struct batch *batch)
{
    struct outcome outcome = batch_run(batch);
    const char *class = class_rows[batch->class].name;

    if (outcome.first_wrong == 0)
        (void)printf("%s %s: nothing in %llu seeds\n", batch->variant->name, class,
                     (unsigned long long)outcome.seeds);
    else
        (void)printf("not ok %s %s: seed %llu, after %llu: %s: %s\n", batch->variant->name,
                     class, (unsigned long long)outcome.first_wrong,
                     (unsigned long long)(outcome.first_wrong - batch->first_seed + 1),
                     world_verdict_name(outcome.wrong.verdict), outcome.wrong.text);
    (void)fflush(stdout);
    return outcome.first_wrong == 0;
}

static bool strict_is_wrong(const struct batch *batch, enum verdict verdict)
{
    (void)batch;
    return verdict != FINE;
}

static void print_hash(const struct batch *batch, const struct outcome *outcome, uint64_t seed,
                       const struct account *account)
{
    (void)outcome;
    (void)printf("%s %s %llu %016llx\n", batch->variant->name, class_rows[batch->class].name,
                 (unsigned long long)seed, (unsigned long long)account->hash);
}

static bool print_hashes(struct batch *batch)
{
    batch->note = print_hash;
    return batch_run(batch).different == 0;
}

static bool print_cell(const struct settings *settings, struct batch *batch)
{
    return settings->prints_hashes ? print_hashes(batch)
           : settings->hunts       ? print_hunt(batch)
                                   : print_row(batch);
}

static bool print_table(const struct settings *settings)
{
    bool is_table = !settings->hunts && !settings->prints_hashes;
    bool is_fine = true;

    if (is_table)
        (void)printf("%-13s %-6s %8s %9s %8s %7s  verdicts\n", "variant", "class", "seeds",
                     "calls", "faults", "seeds/s*");
    for (size_t i = 0; i < subject_count(); i++)
        for (int class = 0; class < CLASS_COUNT; class ++) {
            struct batch batch = {subject_at(i), (enum class)class,
                                  settings->first_seed, settings->seed_count,
                                  settings->twice, settings->job_count, settings->hunts,
                                  settings->is_strict ? 0 : settings->check_one_in,
                                  settings->record_dir,
                                  settings->is_strict ? strict_is_wrong : expected_is_wrong,
                                  progress_note};

            if (command_line_names(settings->variants, batch.variant->name) &&
                command_line_names(settings->classes, class_rows[class].name))
                is_fine = print_cell(settings, &batch) && is_fine;
        }
    if (is_table)
        (void)printf("* seeds in a second of one processor; each is %s\n",
                 settings->twice ? "played twice" : "played once");
    return is_fine;
}

/* ---- the smallest world with the verdict of a seed ---- */

/* The number of draws that are tried before a size is given up. */
enum { DRAWS = 40, LAST_DRAWS = 120 };

struct search {
    struct play play;
    enum verdict verdict;
    struct smaller best;
    struct account account; /* of the best world */
};

static void play_smaller(const struct search *search, const struct smaller *less,
                         struct account *account)
{
    struct play play = search->play;

    play.less = less;
    batch_play(&play, account, false);
}

/* Does the world end with the verdict for one of the draws? If so, that world becomes the best. */
static bool is_found(struct search *search, const struct smaller *less)
{
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        struct smaller tried = *less;
        struct account account;

        tried.draw = draw;
        play_smaller(search, &tried, &account);
        if (account.verdict == search->verdict) {
            search->best = tried;
            search->account = account;
            return true;
        }
    }
    return false;
}

/* The size in the best world. */
static int64_t size_now(const struct search *search, enum smaller_size size)
{
    return search->account.sizes[size];
}

/* Make one size smaller. Try the least value first, and then twice as much each time; the last try
 * is one less than the present value. Returns false if no value has the verdict. */
static bool lessen(struct search *search, enum smaller_size size)
{
    int64_t now = size_now(search, size);

    for (int64_t most = smaller_least(size); most < now;) {
        struct smaller less = search->best;

        less.most[size] = most;
        if (is_found(search, &less))
            return true;
        most = most == now - 1 ? now : most == 0 ? 1 : most * 2 < now - 1 ? most * 2 : now - 1;
    }
    return false;
}

/* Among the worlds of the smallest sizes, find the world that ends after the fewest switches of
 * tasks. */
static void find_shortest(struct search *search)
{
    struct smaller tried = search->best;

    for (tried.draw = 0; tried.draw < LAST_DRAWS; tried.draw++) {
        struct account account;

        play_smaller(search, &tried, &account);
        if (account.verdict == search->verdict &&
            account.calls + account.faults < search->account.calls + search->account.faults) {
            search->best = tried;
            search->account = account;
        }
    }
}

/* `whole` is the account of the play. Play it again with smaller sizes, until no size can be
 * smaller by one with the same verdict. `*less` is the smallest world, and `*account` its account.
 * Returns false if no smaller world has the verdict, or if the verdict is FINE, or HANG, with which
 * each play would take a minute. */
static bool shrink(const struct play *play, const struct account *whole, struct smaller *less,
                   struct account *account)
{
    struct search search = {.play = *play, .verdict = whole->verdict, .best = smaller_nothing,
                            .account = *whole};
    bool is_smaller = false, goes_on = whole->verdict != FINE && whole->verdict != HANG;

    while (goes_on) {
        goes_on = false;
        for (int size = 0; size < SIZE_COUNT; size++)
            goes_on = lessen(&search, (enum smaller_size)size) || goes_on;
        is_smaller = is_smaller || goes_on;
    }
    if (is_smaller)
        find_shortest(&search);
    *less = search.best;
    *account = search.account;
    return is_smaller;
}

/* ---- one seed ---- */

static void print_outcome(const struct play *play, const struct account *account)
{
    (void)printf("seed %llu: %s%s%s, %llu calls, %llu commands, %llu faults, %.3f s, "
                 "hash %016llx\n",
                 (unsigned long long)play->seed, world_verdict_name(account->verdict),
                 account->text[0] != '\0' ? ": " : "", account->text,
                 (unsigned long long)account->calls, (unsigned long long)account->commands,
                 (unsigned long long)account->faults, (double)account->ended_ns / 1e9,
                 (unsigned long long)account->hash);
}

/* Find and print a smaller world with the same verdict, if there is one. */
static void print_smallest(const struct play *play, const struct account *whole)
{
    struct play smallest = *play;
    struct smaller less;
    struct account account;
    char text[SMALLER_TEXT];

    (void)printf("\n# looking for the smallest world that ends so\n");
    (void)fflush(stdout);
    if (!shrink(play, whole, &less, &account)) {
        (void)printf("# there is none that is smaller\n");
        return;
    }
    smaller_print(text, &less);
    smallest.less = &less;
    batch_play(&smallest, &account, true);
    print_outcome(&smallest, &account);
    (void)printf("# make simulate VARIANT=%s CLASS=%s SEED=%llu LESS=%s\n",
                 play->variant->name, class_rows[play->class].name,
                 (unsigned long long)play->seed, text);
}

static bool print_seed(const struct settings *settings)
{
    struct play play = {subject_find(settings->variants), CLASS_CALM, settings->seed,
                        NULL, settings->has_less ? &settings->less : NULL,
                        settings->record_dir};
    struct account account;

    while (play.class < CLASS_COUNT &&
           strcmp(class_rows[play.class].name, settings->classes) != 0)
        play.class ++;
    if (play.variant == NULL || play.class == CLASS_COUNT) {
        (void)fprintf(stderr, "simulate: one seed needs one VARIANT (of %s) and one CLASS "
                      "(of %s)\n", subject_names(), COMMAND_LINE_CLASSES);
        exit(64);
    }
    batch_play(&play, &account, !settings->is_quiet);
    play.record_dir = NULL; /* record this world only */
    print_outcome(&play, &account);
    if (account.verdict != FINE && !settings->is_quiet && !settings->has_less)
        print_smallest(&play, &account);
    return account.verdict == FINE;
}

int main(int argc, char **argv)
{
    struct settings settings;
    bool is_fine;

    command_line_read(argc, argv, &settings);
    if (!expected_check())
        return 70;
    if (!progress_begin(settings.failed_file))
        return 70;
    batch_prepare();
    is_fine = settings.beside != NULL  ? beside_play(settings.beside, settings.first_seed,
                                                     settings.seed_count)
              : settings.plays_stories ? stories_play()
              : settings.has_seed    ? print_seed(&settings)
                                     : print_table(&settings);
    if (!progress_end())
        return 70;
    return is_fine ? 0 : 1;
}
