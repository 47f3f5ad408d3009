/* SPDX-License-Identifier: MIT */
/* main.c -- `make simulate`: the locks in simulated worlds.
 *
 *   simulate [--variant=NAMES] [--class=NAMES] [--seeds=N] [--from=N] [--jobs=N] [--twice]
 *            [--strict] [--failed=FILE] [--check-one-in=N] [--record=DIR]
 *       play N seeds of each variant in each class, and print a table; --strict: nothing is
 *       expected to break; FILE gets the commands that play the failed seeds again;
 *       `seckill check` judges the records of each lock's seed that is not fine, and of one of
 *       N others (100), too; DIR keeps these records
 *   simulate --variant=NAME --class=NAME --seed=N [--quiet] [--less=SIZES]
 *            [--picture=FILE] [--record=DIR]
 *       play one seed, and print what happens, and then the smallest world that ends as badly;
 *       SIZES: play a smaller world; FILE gets the page of the last world, to step through;
 *       DIR gets the recorder's files of the first, for `seckill check`
 *   simulate --hunt [--variant=NAMES] [--class=NAMES] [--seeds=N] [--from=N]
 *       play at most N seeds of each, and end at the first whose verdict is wrong
 *   simulate --hashes [--variant=NAMES] [--class=NAMES] [--seeds=N] [--from=N]
 *       print the hash of each seed's trace: variant, class, seed, hash
 *   simulate --stories
 *       play the circumstances of bugs that are mended, as TAP
 *   simulate --beside=SOCKET [--seeds=N] [--from=N]
 *       play N random sequences of commands to the model and to a real server
 *
 * Exit status: 0 all is as expected, 1 something is not, 64 usage, 70 no process or memory, or
 * expectations that name what does not exist. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/simulation/batch.h"
#include "tests/simulation/beside.h"
#include "tests/simulation/expected.h"
#include "tests/simulation/faults.h"
#include "tests/simulation/progress.h"
#include "tests/simulation/shrink.h"
#include "tests/simulation/story.h"
#include "tests/simulation/subject.h"

#define NUMBER_MAX UINT64_C(999999999999999999)

static const char *const DEFAULT_CLASSES = "calm,net,crash,pause,store,clock";

struct settings {
    const char *variants, *classes;
    uint64_t seed_count, first_seed, seed, check_one_in;
    bool has_seed, twice, is_quiet, plays_stories, hunts, prints_hashes, is_strict, has_less;
    struct smaller less;
    const char *failed_file, *picture; /* NULL: none */
    int job_count;
    const char *record_dir; /* NULL: nothing is recorded */
    const char *beside; /* the socket of a real server; NULL: none */
};

/* ---- the command line ---- */

/* A whole number from 1 to `most`; ends the program if it is none. */
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

/* Is `name` one of those with commas between, or are all? */
static bool names(const char *list, const char *name)
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

static void read_settings(int argc, char **argv, struct settings *out)
{
    static const struct option options[] = {
        {"variant", required_argument, NULL, 'v'}, {"class", required_argument, NULL, 'c'},
        {"seeds", required_argument, NULL, 'n'},   {"from", required_argument, NULL, 'f'},
        {"seed", required_argument, NULL, 's'},    {"jobs", required_argument, NULL, 'j'},
        {"twice", no_argument, NULL, '2'},         {"quiet", no_argument, NULL, 'q'},
        {"stories", no_argument, NULL, 't'},       {"beside", required_argument, NULL, 'b'},
        {"hunt", no_argument, NULL, 'h'},          {"hashes", no_argument, NULL, 'H'},
        {"less", required_argument, NULL, 'l'},    {"strict", no_argument, NULL, 'S'},
        {"picture", required_argument, NULL, 'P'},
        {"failed", required_argument, NULL, 'F'},
        {"record", required_argument, NULL, 'r'},
        {"check-one-in", required_argument, NULL, 'o'},
        {NULL, 0, NULL, 0}};
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
        case 'P': out->picture = optarg; break;
        case 'F': out->failed_file = optarg; break;
        case 'S': out->is_strict = true; break;
        case 'l': out->less = read_less(optarg), out->has_less = true; break;
        case 'H': out->prints_hashes = true; break;
        case 't': out->plays_stories = true; break;
        default: exit(64);
        }
    refuse_unknown("class", out->classes, DEFAULT_CLASSES);
    refuse_unknown("variant", out->variants, subject_names());
}

/* ---- the table ---- */

/* Of processor time, which the seeds have taken so far: others may use the machine too. */
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

/* Was nothing found? */
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

            if (names(settings->variants, batch.variant->name) &&
                names(settings->classes, class_rows[class].name))
                is_fine = print_cell(settings, &batch) && is_fine;
        }
    if (is_table)
        (void)printf("* seeds in a second of one processor; each is %s\n",
                 settings->twice ? "played twice" : "played once");
    return is_fine;
}

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

/* The same verdict with less, if there is such a world. */
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
                        settings->picture, settings->record_dir};
    struct account account;

    while (play.class < CLASS_COUNT &&
           strcmp(class_rows[play.class].name, settings->classes) != 0)
        play.class ++;
    if (play.variant == NULL || play.class == CLASS_COUNT) {
        (void)fprintf(stderr, "simulate: one seed needs one VARIANT (of %s) and one CLASS "
                      "(of %s)\n", subject_names(), DEFAULT_CLASSES);
        exit(64);
    }
    batch_play(&play, &account, !settings->is_quiet);
    play.record_dir = NULL; /* of this world alone */
    print_outcome(&play, &account);
    if (account.verdict != FINE && !settings->is_quiet && !settings->has_less)
        print_smallest(&play, &account);
    if (settings->picture != NULL)
        (void)printf("# its timeline: %s\n", settings->picture);
    return account.verdict == FINE;
}

int main(int argc, char **argv)
{
    struct settings settings;
    bool is_fine;

    read_settings(argc, argv, &settings);
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
