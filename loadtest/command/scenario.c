/* SPDX-License-Identifier: MIT */
/* scenario.c -- `seckill scenario list` and `seckill scenario run`. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/suggest.h"
#include "db/guard.h"
#include "loadtest/command/commands.h"
#include "loadtest/command/run_report.h"
#include "loadtest/kit/command.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/name_list.h"
#include "loadtest/kit/pager.h"
#include "loadtest/kit/result_page.h"
#include "loadtest/kit/run_directory.h"
#include "loadtest/kit/style.h"
#include "loadtest/kit/verdict.h"
#include "loadtest/live/series.h"
#include "loadtest/page/story.h"
#include "loadtest/scenario/catalogue.h"
#include "loadtest/scenario/plan.h"
#include "loadtest/scenario/run.h"

struct scenario_settings {
    const char *lock, *guard, *html, *language, *out, *markdown, *dir, *color;
    int64_t jobs, seed, duration_ms;
    bool wire, no_pager, quiet, json_lines;
};

enum { LOCKS_MAX = 64 };

/* The word for the stories of topologies. */
#define TOPOLOGIES "topologies"

static NAME_LIST(action_at, "list", "run")
static NAME_LIST(language_at, "en", "zh")

#define AT(field) offsetof(struct scenario_settings, field)
static const struct setting settings[] = {
    OPTION(NAMES, "locks", AT(lock), .meta = "A,B,...", .choices = words_lock_at,
           .help = "only these locks; default: every lock that has a row for the scenario"),
    OPTION(CHOICE, "guard", AT(guard), .meta = "GUARD", .choices = guard_name_at,
           .help = "only the performances under this stock guard"),
    OPTION(CHOICE, "language", AT(language), .fallback = "en", .meta = "LANGUAGE",
           .choices = language_at, .help = "the story in English or Chinese; the page has both"),
    OPTION(TEXT, "html", AT(html), .output = SETTING_WRITES_FILE, .meta = "FILE",
           .help = "the HTML page that replays the story; default: story.html in the directory "
                   "of the run, except with `run all`"),
    OPTION(SWITCH, "wire", AT(wire), .fallback = "off",
           .help = "also print the commands that were sent to the servers"),
    OPTION(COUNT, "jobs", AT(jobs), .fallback = "0", .meta = "N", .max = 16,
           .help = "the number of performances at a time; a scenario that injects faults into "
                   "servers runs alone; 0: 3, or 12 for measurements"),
    OPTION(DURATION, "duration", AT(duration_ms), .fallback = "0ms", .meta = "TIME",
           .max = 3600000,
           .help = "the duration of each performance of a measurement; 0ms: as in the list.  In "
                   "a shorter time a lock may lose no update, and the result is unknown"),
    OPTION(COUNT, "seed", AT(seed), .fallback = "0", .meta = "N", .max = INT32_MAX,
           .help = "a number that determines the order of the performances, and the random "
                   "values of a measurement; 0: the order of the list"),
    COMMAND_MARKDOWN(AT(markdown)),
    COMMAND_OF_RUNS,
    COMMAND_NO_PAGER(AT(no_pager)),
};

const struct setting_program command_scenario_program = {
    .name = "seckill scenario",
    .synopsis = "list | run NAME|all|topologies [OPTIONS]",
    .intro =
        "Perform the failures that the articles describe on real servers, with the same\n"
        "outcome each time: a lease ends while its holder works, a holder deletes the lock of\n"
        "another holder, a process dies between two commands.  Each participant is a process\n"
        "of its own.  The checker of histories judges whether two participants held the lock\n"
        "at once, and the database shows the stock and the orders.\n\n"
        "  seckill scenario list\n"
        "  seckill scenario run expired-lease --locks=lua       the story, step by step\n"
        "  seckill scenario run expired-lease --locks=lua --wire --html=story.html\n"
        "  seckill scenario run wrong-delete --locks=naive,lua  two locks side by side\n"
        "  seckill scenario run expired-lease        under every lock with a row for it\n"
        "  seckill scenario run all                  every story under every lock\n"
        "  seckill scenario run topologies           the stories on Sentinels, ensembles, ...\n"
        "  seckill scenario run pause-storm          a measurement; takes minutes\n\n"
        "Each scenario has an expected outcome for each lock.  If a broken lock does not\n"
        "break, that is as much a failure as a sound lock that breaks.",
    EXITS({EXIT_VALID, "every outcome is the expected one"},
          {EXIT_INVALID, "an outcome is not the expected one"},
          {EXIT_UNKNOWN, "a scenario did not happen"}, {EXIT_USAGE, NULL}, {EXIT_UNAVAILABLE, NULL},
          {EXIT_BUG, NULL}, {EXIT_CANNOT_WRITE, NULL}, {EXIT_INTERRUPTED, NULL}),
    SETTINGS(settings),
    .max_operands = 2,
};

static const char *word_at(size_t i)
{
    static const char *const words[] = {"all", TOPOLOGIES};
    const struct scenario *scenario = i > 1 ? scenario_at(i - 2) : NULL;

    return i < 2 ? words[i] : scenario != NULL ? scenario->name : NULL;
}

/* "no scenario called X; did you mean Y?" */
static enum exit_code refuse(const char *what, const char *word,
                             const char *(*names)(size_t i))
{
    eprintf("seckill scenario: no %s called \"%s\"", what, word);
    suggest_tell(word, names);
    return EXIT_USAGE;
}

/* Every name between the commas must be a lock's.  False: stderr says which is not. */
static bool are_locks(const char *locks)
{
    const char *names[LOCKS_MAX];

    return words_read(command_scenario_program.name, "locks", locks, words_lock_at, names,
                      LOCKS_MAX) > 0;
}

/* Print the locks of each expected outcome. */
static void print_expected(const struct scenario_setup *setups, size_t count, bool is_chinese)
{
    for (size_t outcome = 0; outcome < SCENARIO_OUTCOME_COUNT; outcome++) {
        bool is_first = true;

        for (size_t i = 0; i < count; i++) {
            if (setups[i].expected->outcome != outcome)
                continue;
            if (is_first)
                printf("      %s:",
                       scenario_outcome_name((enum scenario_outcome)outcome, is_chinese));
            is_first = false;
            printf(" %s%s%s", setups[i].lock->name, setups[i].expected->guard ? "+" : "",
                   setups[i].expected->guard ? setups[i].expected->guard->name : "");
        }
        if (!is_first)
            putchar('\n');
    }
}

static void print_scenario(const struct scenario *scenario, bool is_chinese)
{
    printf("%-4s %s%-26s%s %s\n", scenario->number, report_style(stdout, STYLE_BOLD),
           scenario->name, report_style(stdout, STYLE_PLAIN),
           is_chinese ? scenario->title_zh : scenario->title);
    printf("      %s\n", scenario->source);
    if (scenario_is_measured(scenario))
        printf(is_chinese ? "      测量：每把锁 %" PRId64 " 秒；只按名字运行，不在 all 里\n"
                          : "      measured: %" PRId64 " s for each lock; run by its "
                            "name only, not by `all`\n",
               scenario->duration_ms / 1000);
    if (scenario->topology != LAB_TOPOLOGY_CORE)
        printf(is_chinese ? "      在 lab up --%s 的服务器上；按名字或 topologies 运行，不在 all 里\n"
                          : "      on the servers of lab up --%s; run by its name or with "
                            "`topologies`, not by `all`\n",
               lab_topology_flag(scenario->topology));
}

/* Print the scenarios that have a row for one of the locks, under the guard. */
static enum exit_code list(const struct scenario_settings *v)
{
    const struct stock_guard *guard = v->guard ? guard_find(v->guard) : NULL;
    bool is_chinese = strcmp(v->language, "zh") == 0;
    const struct scenario *scenario;
    size_t listed = 0;

    if (!v->no_pager)
        pager_begin();
    for (size_t i = 0; (scenario = scenario_at(i)) != NULL; i++) {
        struct scenario_setup *setups;
        size_t count = scenario_setups(scenario, v->lock, guard, &setups);

        if (count > 0) {
            print_scenario(scenario, is_chinese);
            print_expected(setups, count, is_chinese);
            listed++;
        }
        free(setups);
    }
    if (listed > 0)
        return EXIT_VALID;
    eprintf("seckill scenario: no scenario has an expected outcome for these locks and "
                    "this guard\n  see: seckill scenario list\n");
    return EXIT_USAGE;
}

/* The same order for the same seed, on every machine. */
static void shuffle(struct scenario_setup *setups, size_t count, uint64_t seed)
{
    for (size_t i = count; seed != 0 && i > 1; i--) {
        struct scenario_setup keep = setups[i - 1];
        size_t other;

        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        other = (size_t)(seed >> 33) % i;
        setups[i - 1] = setups[other];
        setups[other] = keep;
    }
}

/* The series of the performances.  A single story prints its own lines, so its series prints
 * none. */
static struct series *open_series(const struct scenario_settings *v,
                                  const struct scenario_setup *setups, size_t count)
{
    const struct series_options shown = {
        .command = "scenario",
        .piece = "performance",
        .good = verdict_beside_expectation(VERDICT_VALID),
        .bad = verdict_beside_expectation(VERDICT_INVALID),
        .count = count,
        .is_quiet = v->quiet,
        .is_told = count == 1 && !scenario_is_measured(setups[0].scenario)};

    return series_open(&shown);
}

static enum exit_code perform(const struct scenario_settings *v, bool is_all,
                              struct scenario_setup *setups, size_t count)
{
    char out[FILES_PATH_MAX], html[FILES_PATH_MAX];
    struct scenario_run run = {.dir = v->dir,
                               .out = out,
                               .html = v->html,
                               .pages = &story_pages,
                               .is_chinese = strcmp(v->language, "zh") == 0,
                               .shows_wire = v->wire,
                               .jobs = (int)v->jobs,
                               .duration_ms = v->duration_ms,
                               .seed = (uint64_t)v->seed};
    size_t performed = 0;
    enum exit_code rc;

    if (count == 0) {
        eprintf("seckill scenario: nothing to perform: the scenario has no expected "
                        "outcome for this lock and this guard\n"
                        "  see: seckill scenario list\n");
        return EXIT_USAGE;
    }
    if (!command_begin_json_lines(&command_scenario_program, v->json_lines, v->quiet) ||
        !runs_make(out, v->out))
        return EXIT_CANNOT_WRITE;
    files_join(html, out, "story.html");
    if (run.html == NULL && !is_all)
        run.html = html;
    shuffle(setups, count, (uint64_t)v->seed);
    run.series = open_series(v, setups, count);
    rc = scenario_run_all(&run, setups, count, &performed);
    series_hide(run.series);
    if (rc == EXIT_VALID || rc == EXIT_INVALID || rc == EXIT_UNKNOWN ||
        (rc == EXIT_INTERRUPTED && performed > 0))
        rc = run_report(stdout, out, "scenario", rc);
    else if (rc == EXIT_INTERRUPTED)
        runs_take_back(out);
    series_end(run.series, (int)rc, runs_are_kept() ? out : NULL);
    series_close(run.series);
    return rc;
}

static enum exit_code refuse_duration(void)
{
    eprintf("seckill scenario: --duration is only for measurements; every other "
                    "scenario ends after its last step\n  see the lines `measured` of: "
                    "seckill scenario list\n");
    return EXIT_USAGE;
}

static bool is_called(const struct scenario *scenario, const char *name)
{
    if (strcmp(name, "all") == 0)
        return scenario_is_in_all(scenario);
    if (strcmp(name, TOPOLOGIES) == 0)
        return scenario->topology != LAB_TOPOLOGY_CORE;
    return strcmp(scenario->name, name) == 0;
}

/* The performances of all scenarios, or of the one that is named, in one array. */
static enum exit_code run_named(const struct scenario_settings *v, const char *name)
{
    bool is_all = strcmp(name, "all") == 0 || strcmp(name, TOPOLOGIES) == 0;
    struct scenario_setup *setups = NULL, *some;
    const struct scenario *scenario;
    size_t count = 0, more;
    enum exit_code rc;

    scenario = scenario_find(name);
    if (!is_all && scenario == NULL)
        return refuse("scenario", name, word_at);
    if (v->duration_ms > 0 && (is_all || !scenario_is_measured(scenario)))
        return refuse_duration();
    for (size_t i = 0; (scenario = scenario_at(i)) != NULL; i++) {
        if (!is_called(scenario, name))
            continue;
        more = scenario_setups(scenario, v->lock, v->guard ? guard_find(v->guard) : NULL,
                                 &some);
        setups = memory_need(realloc(setups, (count + more + 1) * sizeof *setups));
        memcpy(setups + count, some, more * sizeof *setups);
        count += more;
        free(some);
    }
    rc = perform(v, is_all, setups, count);
    free(setups);
    return rc;
}

static enum exit_code run(const struct settings *s, const void *values)
{
    struct scenario_settings v = *(const struct scenario_settings *)values;
    const char *word = s->operand_count > 0 ? s->operands[0] : "";

    if (!are_locks(v.lock))
        return EXIT_USAGE;
    if (v.lock && strcmp(v.lock, "all") == 0)
        v.lock = NULL;
    if (strcmp(word, "list") == 0 && s->operand_count == 1)
        return list(&v);
    if (strcmp(word, "run") == 0 && s->operand_count == 2)
        return run_named(&v, s->operands[1]);
    if (*word && words_place(action_at, word) == SIZE_MAX) {
        suggest_command(command_scenario_program.name, word, action_at);
        return EXIT_USAGE;
    }
    eprintf("seckill scenario: say `list`, `run NAME` or `run all`\n"
                    "  for example: seckill scenario run expired-lease --locks=lua\n");
    return EXIT_USAGE;
}

COMMAND_FUNCTION(scenario, command_run_long)
