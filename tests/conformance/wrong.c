/* SPDX-License-Identifier: MIT */
/* wrong.c -- runs every wrong variant against the law that has to fail with it. */
#include "tests/conformance/wrong.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lock/registry.h"

enum { NAME_SIZE = 80, CASE_SIZE = 160, LIES_MAX = 200, AT_ONCE = 2, PRINTED_MAX = 40 };
enum { LIE_ATTEMPTS = 3 };
enum { TRUTH, LIE, SIDES };

/* A wrong variant of a file in wrong/. */
struct wrong {
    const char *id; /* the name of its file */
    const char *base;
    const char *law;
    const char *lie;
    wrong_fn *make;
};

static const struct wrong wrongs[] = {
#define WRONG(id, base, law, lie) {#id, base, law, lie, wrong_##id},
#include "tests/conformance/wrong.def"
#undef WRONG
};

/* Defects of single functions, which fit every variant that excludes others. */
static dlock_status release_nothing(void *state, const dlock_claim *claim)
{
    (void)state;
    (void)claim;
    return DLOCK_OK;
}

static const dlock_variant *real; /* the variant that the defect is about */

static dlock_status let_everybody_in(void *state, dlock_claim *claim)
{
    dlock_status st = real->try_acquire(state, claim);

    return st == DLOCK_BUSY ? DLOCK_OK : st;
}

static void releases_nothing(dlock_variant *it)
{
    it->release = release_nothing;
}

static void lets_everybody_in(dlock_variant *it)
{
    it->try_acquire = let_everybody_in;
}

static const struct wrong generic[] = {
    {"release_does_nothing", NULL, "excludes a second owner",
     "its release does nothing", releases_nothing},
    {"acquire_always_ok", NULL, "excludes a second owner", "it lets everybody in",
     lets_everybody_in},
};

/* A defect of one variant. */
struct lie {
    const struct wrong *wrong;
    const char *base;
    char name[NAME_SIZE]; /* "reuses-a-fence", "acquire-always-ok:lua" */
};

static struct lie lies[LIES_MAX];
static size_t lie_count;

static void add_lie(const struct wrong *wrong, const char *base, bool name_it)
{
    struct lie *lie = &lies[lie_count];

    if (lie_count == LIES_MAX)
        return;
    lie_count++;
    lie->wrong = wrong;
    lie->base = base;
    snprintf(lie->name, sizeof(lie->name), "%s%s%s", wrong->id, name_it ? ":" : "",
             name_it ? base : "");
    for (char *c = lie->name; *c != '\0'; c++)
        if (*c == '_')
            *c = '-';
}

static void add_all_lies(void)
{
    if (lie_count > 0)
        return;
    for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++)
        add_lie(&wrongs[i], wrongs[i].base, false);
    /* For a variant that excludes nobody, both defects are its correct behaviour. */
    for (size_t g = 0; g < sizeof(generic) / sizeof(generic[0]); g++)
        for (size_t v = 0; v < dlock_variant_count(); v++)
            if (dlock_variant_at(v)->caps & DLOCK_CAP_LOCAL)
                add_lie(&generic[g], dlock_variant_at(v)->name, true);
}

const char *wrong_enable(const char *name)
{
    static dlock_variant it;

    add_all_lies();
    for (size_t i = 0; i < lie_count; i++) {
        if (strcmp(lies[i].name, name) != 0)
            continue;
        real = dlock_registry_find(lies[i].base);
        it = *real;
        lies[i].wrong->make(&it);
        dlock_registry_replace(&it);
        return lies[i].base;
    }
    return NULL;
}

void wrong_list(void)
{
    add_all_lies();
    for (size_t i = 0; i < lie_count; i++)
        printf("%s (%s): %s\n", lies[i].name, lies[i].base, lies[i].wrong->lie);
}

/* A process that runs this program again, with one law and one variant, which may be wrong. */
struct run {
    pid_t pid;
    FILE *out;
    int attempts;
    int status;
    bool ended;
};

static struct run runs[LIES_MAX][SIDES];

static void start(size_t i, int side)
{
    const struct lie *lie = &lies[i];
    struct run *run = &runs[i][side];
    char name[CASE_SIZE];

    snprintf(name, sizeof(name), "%s: %s", lie->base, lie->wrong->law);
    if (run->out != NULL)
        fclose(run->out);
    run->out = tmpfile();
    run->attempts++;
    run->ended = false;
    fflush(stdout);
    run->pid = run->out != NULL ? fork() : -1;
    if (run->pid != 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(fileno(run->out), STDOUT_FILENO);
    dup2(fileno(run->out), STDERR_FILENO);
    setenv(WRONG_ENV, side == LIE ? lie->name : "", 1);
    execl("/proc/self/exe", "conformance", "--only", name, (char *)NULL);
    _exit(127);
}

/* pg-unique deletes ended rows of every name. Other programs that use the same PostgreSQL can
 * therefore delete the row on which a defect of pg-unique shows, and then the law holds by
 * chance. */
static bool may_be_hidden(const struct lie *lie)
{
    return strcmp(lie->base, "pg-unique") == 0;
}

static bool may_try_again(size_t i, int side)
{
    const struct run *run = &runs[i][side];

    return side == LIE && may_be_hidden(&lies[i]) && run->attempts < LIE_ATTEMPTS &&
           WIFEXITED(run->status) && WEXITSTATUS(run->status) == 0;
}

/* Returns true if the program was started once more. */
static bool note_end(pid_t pid, int status)
{
    bool started = false;

    for (size_t i = 0; i < lie_count; i++)
        for (int side = 0; side < SIDES; side++) {
            struct run *run = &runs[i][side];

            if (run->pid != pid || run->ended)
                continue;
            run->status = status;
            run->ended = true;
            started = may_try_again(i, side);
            if (started)
                start(i, side);
        }
    return started;
}

/* Did the program end by itself with that code, after a line that begins with `text`? */
static bool has_said(struct run *run, int exit_code, const char *text)
{
    char line[400];
    bool said = false;

    if (!run->ended || !WIFEXITED(run->status) || WEXITSTATUS(run->status) != exit_code)
        return false;
    rewind(run->out);
    while (fgets(line, sizeof(line), run->out) != NULL)
        said = said || strncmp(line, text, strlen(text)) == 0;
    return said;
}

static void show(struct run *run, const char *who)
{
    char line[400];

    printf("# %s ended with %d and said\n", who, run->status);
    rewind(run->out);
    for (int i = 0; i < PRINTED_MAX && fgets(line, sizeof(line), run->out); i++)
        printf("#   %s", line);
}

/* Print the result of one wrong lock. Returns true if the law fails for the wrong lock, and holds
 * for the real one. */
static bool judge(size_t i)
{
    const struct lie *lie = &lies[i];
    bool true_holds = has_said(&runs[i][TRUTH], 0, "ok 1 - ");
    bool lie_fails = has_said(&runs[i][LIE], 1, "not ok 1 - ");

    printf("%s %zu - %s, %s, is caught by \"%s: %s\"\n",
           true_holds && lie_fails ? "ok" : "not ok", i + 1, lie->name, lie->wrong->lie,
           lie->base, lie->wrong->law);
    if (runs[i][LIE].attempts > 1)
        printf("# the law was asked %d times\n", runs[i][LIE].attempts);
    if (!true_holds)
        show(&runs[i][TRUTH], "the real one");
    if (!lie_fails)
        show(&runs[i][LIE], "the wrong one");
    for (int side = 0; side < SIDES; side++)
        if (runs[i][side].out != NULL)
            fclose(runs[i][side].out);
    fflush(stdout);
    return true_holds && lie_fails;
}

int wrong_run_all(void)
{
    size_t started = 0;
    size_t judged = 0;
    int running = 0;
    int failed = 0;

    add_all_lies();
    printf("1..%zu\n", lie_count);
    while (judged < lie_count) {
        int status;
        pid_t pid;

        while (running < AT_ONCE && started < SIDES * lie_count) {
            start(started / SIDES, (int)(started % SIDES));
            started++;
            running++;
        }
        pid = waitpid(-1, &status, 0);
        if (pid < 0)
            break;
        if (!note_end(pid, status))
            running--;
        for (; judged < lie_count && runs[judged][TRUTH].ended && runs[judged][LIE].ended;
             judged++)
            failed += !judge(judged);
    }
    return judged == lie_count && failed == 0 ? 0 : 1;
}
