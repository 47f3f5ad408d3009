/* SPDX-License-Identifier: MIT */
/* batch.c -- plays seeds in forked processes, and collects their verdicts. */
#include "tests/simulation/batch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gen/lua_scripts.h"
#include "loadtest/kit/files.h"
#include "tests/simulation/checker.h"
#include "tests/simulation/faults.h"
#include "tests/simulation/recording.h"
#include "tests/simulation/subject.h"

/* A seed that takes longer than this gets the verdict HANG. */
enum { SECONDS_MAX = 60, RECORD_DIR_MAX = 512 };

void batch_prepare(void)
{
    static const char *const texts[] = {
        LUA_REENTRANT_ACQUIRE, LUA_REENTRANT_RELEASE, LUA_REENTRANT_RENEW,
        LUA_TOKEN_RELEASE, LUA_TOKEN_RENEW, LUA_FAIR_ACQUIRE, LUA_FAIR_RELEASE,
        LUA_FENCED_ACQUIRE, LUA_RWLOCK_READ_ACQUIRE, LUA_RWLOCK_READ_RELEASE,
        LUA_RWLOCK_READ_RENEW, LUA_RWLOCK_WRITE_ACQUIRE, LUA_RWLOCK_WRITE_RELEASE,
        LUA_RWLOCK_WRITE_RENEW,
        LUA_REDISSON_INSPECT, LUA_REDISSON_FORCE, LUA_RWLOCK_INSPECT, LUA_RWLOCK_FORCE,
        LUA_STRING_INSPECT, LUA_SEMAPHORE_SET, LUA_SEMAPHORE_ACQUIRE, LUA_SEMAPHORE_DRAIN,
        LUA_SEMAPHORE_ADD, LUA_PERMITS_ACQUIRE, LUA_PERMITS_RELEASE, LUA_PERMITS_RENEW,
        LUA_PERMITS_COUNT, LUA_LATCH_SET, LUA_LATCH_COUNT_DOWN, LUA_LATCH_DELETE};

    tasks_prepare();
    network_prepare();
    scripts_prepare();
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        scripts_compile(texts[i]);
}

/* The number of servers of the variant's store. */
static int count_servers(const dlock_variant_info *variant)
{
    const char *times = strstr(variant->store, " x");

    return times != NULL ? atoi(times + 2) : 1;
}

void batch_play_here(const struct play *play, struct account *account, bool is_told)
{
    recording_to(play->record_dir);
    world_begin(play->seed, play->less, account, is_told);
    recording_begin();
    network_begin(count_servers(play->variant));
    if (play->begin != NULL) {
        play->begin();
    } else {
        workload_begin(play);
        faults_begin();
    }
    world_run();
    recording_end();
}

/* In the child. The library's threads and memory end with the process. */
static void play_and_end(const struct play *play, struct account *account, bool is_told)
{
    (void)alarm(SECONDS_MAX);
    batch_play_here(play, account, is_told);
    (void)fflush(stdout);
    _exit(0);
}

static pid_t begin(const struct play *play, struct account *account, bool is_told)
{
    pid_t pid;

    (void)fflush(stdout);
    pid = fork();
    if (pid == 0)
        play_and_end(play, account, is_told);
    if (pid < 0) {
        (void)fprintf(stderr, "simulate: no process for a seed: %s\n", strerror(errno));
        exit(70);
    }
    return pid;
}

static void note_end(struct account *account, int status)
{
    if (!WIFSIGNALED(status))
        return;
    account->verdict = WTERMSIG(status) == SIGALRM ? HANG : CRASH;
    (void)snprintf(account->text, sizeof(account->text), "the process ended by the signal %s",
                   strsignal(WTERMSIG(status)));
}

static struct account *share(size_t count)
{
    void *memory = mmap(NULL, count * sizeof(struct account), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) {
        (void)fprintf(stderr, "simulate: no memory for the accounts of seeds\n");
        exit(70);
    }
    return memory;
}

void batch_play(const struct play *play, struct account *account, bool is_told)
{
    struct account *shared = share(1);
    int status = 0;
    pid_t pid = begin(play, shared, is_told);

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    note_end(shared, status);
    *account = *shared;
    (void)munmap(shared, sizeof(*shared));
}

/* ---- a batch ---- */

struct job {
    pid_t pid;
    struct play play;
    enum stage { PLAYED, PLAYED_AGAIN, CHECKED } stage;
    struct account first; /* the account of the first play */
    char record_dir[RECORD_DIR_MAX]; /* "": the seed is not recorded */
};

static bool is_wrong(const struct batch *batch, enum verdict verdict)
{
    return batch->is_wrong != NULL ? batch->is_wrong(batch, verdict) : verdict != FINE;
}

static void note_wrong(struct outcome *outcome, const struct job *job,
                       const struct account *account)
{
    outcome->wrong_count++;
    if (outcome->first_wrong != 0 && outcome->first_wrong < job->play.seed)
        return;
    outcome->first_wrong = job->play.seed;
    outcome->wrong = *account;
}

static void complain(const struct job *job, const char *what)
{
    (void)printf("# make simulate VARIANT=%s CLASS=%s SEED=%llu %s\n", job->play.variant->name,
                 class_rows[job->play.class].name, (unsigned long long)job->play.seed, what);
}

static void count(const struct batch *batch, struct outcome *outcome, const struct job *job,
                  const struct account *account)
{
    switch (job->stage) {
    case PLAYED_AGAIN:
        if (account->hash != job->first.hash) {
            outcome->different++;
            complain(job, "differs from itself");
        }
        break;
    case CHECKED:
        outcome->checked++;
        if (account->verdict != FINE) {
            outcome->disputed++;
            complain(job, account->text);
        }
        break;
    default:
        outcome->seeds++;
        outcome->calls += account->calls;
        outcome->commands += account->commands;
        outcome->faults += account->faults;
        outcome->verdicts[account->verdict]++;
        if (is_wrong(batch, account->verdict))
            note_wrong(outcome, job, account);
        if (batch->note != NULL)
            batch->note(batch, outcome, job->play.seed, account);
    }
}

/* ---- the second play and the check ---- */

static void name_records(const struct batch *batch, struct job *job)
{
    const char *temporary = getenv("TMPDIR");

    job->play.record_dir = job->record_dir;
    if (batch->record_dir == NULL) {
        (void)snprintf(job->record_dir, sizeof(job->record_dir), "%s/simulate-XXXXXX",
                       temporary != NULL ? temporary : "/tmp");
        if (mkdtemp(job->record_dir) == NULL) {
            (void)fprintf(stderr, "simulate: no directory for records, %s: %s\n",
                          job->record_dir, strerror(errno));
            exit(70);
        }
        return;
    }
    (void)snprintf(job->record_dir, sizeof(job->record_dir), "%s/%s-%s-%llu-%s",
                   batch->record_dir, job->play.variant->name, class_rows[job->play.class].name,
                   (unsigned long long)job->play.seed, world_verdict_name(job->first.verdict));
}

/* In the child of a recorded seed: judge its records. */
static void check_and_end(const struct batch *batch, const struct job *job,
                          struct account *account)
{
    struct checker_claim claim = {.is_fine = job->first.verdict == FINE,
                                  .is_overlap = job->first.verdict == OVERLAP,
                                  .is_fence = job->first.verdict == FENCE,
                                  .is_sound = is_wrong(batch, OVERLAP),
                                  .is_calm = batch->class == CLASS_CALM};

    (void)alarm(SECONDS_MAX);
    *account = (struct account){.verdict = CRASH};
    if (checker_agrees(job->record_dir, &claim, account->text, sizeof(account->text)))
        account->verdict = FINE;
    (void)fflush(stdout);
    _exit(0);
}

static pid_t begin_check(const struct batch *batch, const struct job *job,
                         struct account *account)
{
    pid_t pid;

    (void)fflush(stdout);
    pid = fork();
    if (pid == 0)
        check_and_end(batch, job, account);
    if (pid < 0) {
        (void)fprintf(stderr, "simulate: no process for a check: %s\n", strerror(errno));
        exit(70);
    }
    return pid;
}

static bool is_checked(const struct batch *batch, const struct account *account, uint64_t seed)
{
    return batch->check_one_in > 0 && !batch->ends_at_wrong &&
           subject_is_lock(batch->variant) &&
           (account->verdict == FINE    ? seed % batch->check_one_in == 0
            : account->verdict == OVERLAP || account->verdict == FENCE);
}

/* Begin the next play or check of the seed. Returns false if nothing is left to do for the seed. */
static bool begin_next(const struct batch *batch, struct job *job, struct account *account)
{
    if (job->stage == PLAYED) {
        bool is_recorded = is_checked(batch, account, job->play.seed);

        if (!is_recorded && !batch->twice)
            return false;
        job->first = *account;
        if (is_recorded)
            name_records(batch, job);
        job->stage = PLAYED_AGAIN;
        job->pid = begin(&job->play, account, false);
        return true;
    }
    if (job->stage == PLAYED_AGAIN && job->record_dir[0] != '\0') {
        job->stage = CHECKED;
        job->pid = begin_check(batch, job, account);
        return true;
    }
    if (job->stage == CHECKED && batch->record_dir == NULL)
        (void)files_remove_tree(job->record_dir);
    return false;
}

static size_t find_job(const struct job *jobs, pid_t pid)
{
    size_t at = 0;

    while (jobs[at].pid != pid)
        at++;
    return at;
}

struct outcome batch_run(const struct batch *batch)
{
    struct account *accounts = share(BATCH_JOBS_MAX);
    struct job jobs[BATCH_JOBS_MAX] = {0};
    struct outcome outcome = {0};
    uint64_t begun = 0, under_way = 0;
    uint64_t room = (uint64_t)batch->job_count;

    for (;;) {
        int status = 0;
        size_t at;
        pid_t pid;

        while (under_way < room && begun < batch->seed_count &&
               !(batch->ends_at_wrong && outcome.first_wrong != 0)) {
            at = find_job(jobs, 0);
            jobs[at] = (struct job){.play = {.variant = batch->variant,
                                             .class = batch->class,
                                             .seed = batch->first_seed + begun++}};
            jobs[at].pid = begin(&jobs[at].play, &accounts[at], false);
            under_way++;
        }
        if (under_way == 0)
            break;
        pid = wait(&status);
        if (pid < 0)
            continue;
        at = find_job(jobs, pid);
        note_end(&accounts[at], status);
        count(batch, &outcome, &jobs[at], &accounts[at]);
        if (begin_next(batch, &jobs[at], &accounts[at]))
            continue;
        jobs[at].pid = 0;
        under_way--;
    }
    (void)munmap(accounts, BATCH_JOBS_MAX * sizeof(*accounts));
    return outcome;
}
