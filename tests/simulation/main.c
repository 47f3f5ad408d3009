/* SPDX-License-Identifier: MIT */
/* main.c -- `make simulate`: the table of many seeds, or one seed and the smallest world that ends
 * like it.  `simulate --help` says what it plays. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "tests/simulation/batch.h"
#include "tests/simulation/beside.h"
#include "tests/simulation/command_line.h"
#include "tests/simulation/expected.h"
#include "tests/simulation/faults.h"
#include "tests/simulation/story.h"
#include "tests/simulation/subject.h"

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
