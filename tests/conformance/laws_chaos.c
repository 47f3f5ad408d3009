/* SPDX-License-Identifier: MIT */
/* laws_chaos.c -- 64 threads take and release locks while their store is killed,
 * stopped and restarted.
 *
 * Two systems of 32 threads each take the same few names.  Each holder checks that no
 * other thread holds the same name.  Two holders at once are accepted only if the store
 * itself lost the lock (a Redis without a disk was restarted, or a session ended), and
 * only if the release of the first holder then answers LOST. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/conformance/database.h"
#include "tests/conformance/laws.h"
#include "tests/conformance/nodes.h"

enum {
    THREADS = 64,
    NAMES = 4,
    WAIT_MS = 500,
    STUCK_MS = 30000, /* far longer than the lease, so that a busy machine is not called stuck */
    NOBODY = -1,
    MEETINGS_MAX = 1000,
};

#define CHAOS_LEASE_MS STRETCHED(1500)
#define ANSWER_MS STRETCHED(1000) /* the timeout of one command */

struct crew;

struct worker {
    struct crew *crew;
    dlock_system *sys;
    pthread_t thread;
    unsigned turn;
    int inside;             /* the name that it holds, or NOBODY */
    unsigned hold;          /* the number of this hold */
    atomic_llong call_count; /* calls that have been answered */
};

/* Two owners were inside at once. The release of the owner that was granted first has to answer
 * LOST. The owner that entered first need not be that one. */
struct meeting {
    struct {
        const struct worker *worker;
        unsigned hold;
        bool kept; /* its release answered OK */
    } sides[2];
};

struct crew {
    const char *names[NAMES];
    struct worker workers[THREADS];
    atomic_llong grants[NAMES];
    atomic_bool may_stop;
    atomic_bool may_lose;   /* the store may lose a lock that is held           */
    bool tells;             /* its releases can answer LOST */
    bool is_well;
    pthread_mutex_t door;   /* guards the fields below, and `inside` of the workers */
    struct meeting meetings[MEETINGS_MAX]; /* while the store may lose a lock */
    size_t meeting_count;
    atomic_int violations;  /* meetings while the store loses no lock */
};

static void note_meeting(struct crew *crew, const struct worker *one,
                         const struct worker *two)
{
    if (!atomic_load(&crew->may_lose) || crew->meeting_count == MEETINGS_MAX) {
        atomic_fetch_add(&crew->violations, 1);
        return;
    }
    crew->meetings[crew->meeting_count++] =
        (struct meeting){{{one, one->hold, false}, {two, two->hold, false}}};
}

/* Note that the worker holds the name, and each other worker that holds it too. */
static void enter(struct worker *worker, int name)
{
    struct crew *crew = worker->crew;

    pthread_mutex_lock(&crew->door);
    worker->hold++;
    worker->inside = name;
    for (int i = 0; i < THREADS; i++)
        if (&crew->workers[i] != worker && crew->workers[i].inside == name)
            note_meeting(crew, worker, &crew->workers[i]);
    pthread_mutex_unlock(&crew->door);
}

static void leave(struct worker *worker)
{
    pthread_mutex_lock(&worker->crew->door);
    worker->inside = NOBODY;
    pthread_mutex_unlock(&worker->crew->door);
}

/* The worker's release answered OK: note this in the meetings of its hold. */
static void note_kept(struct worker *worker)
{
    struct crew *crew = worker->crew;

    pthread_mutex_lock(&crew->door);
    for (size_t i = 0; i < 2 * crew->meeting_count; i++)
        if (crew->meetings[i / 2].sides[i % 2].worker == worker &&
            crew->meetings[i / 2].sides[i % 2].hold == worker->hold)
            crew->meetings[i / 2].sides[i % 2].kept = true;
    pthread_mutex_unlock(&crew->door);
}

static void work_once(struct worker *worker, int name)
{
    struct crew *crew = worker->crew;
    dlock_lease lease;
    dlock_status st;

    st = dlock_acquire(worker->sys, crew->names[name], WAIT_MS, &lease);
    atomic_fetch_add(&worker->call_count, 1);
    if (st != DLOCK_OK) {
        rig_pause_ms(1); /* a pause, since calls to a dead store answer at once */
        return;
    }
    enter(worker, name);
    atomic_fetch_add(&crew->grants[name], 1);
    rig_pause_ms(1);
    leave(worker);
    st = dlock_release(worker->sys, &lease);
    atomic_fetch_add(&worker->call_count, 1);
    if (st == DLOCK_OK && crew->tells)
        note_kept(worker);
}

static void *keep_working(void *arg)
{
    struct worker *worker = arg;

    while (!atomic_load(&worker->crew->may_stop))
        work_once(worker, (int)(worker->turn++ % NAMES));
    return NULL;
}

static struct crew *crew_start(const dlock_options *opts)
{
    struct rig_pair pair = rig_open_pair(opts);
    struct crew *crew = calloc(1, sizeof(*crew));

    premise_watch_pace();
    assert_non_null(crew);
    pthread_mutex_init(&crew->door, NULL);
    crew->is_well = true;
    crew->tells = rig_caps(opts->variant) & DLOCK_CAP_OWNED;
    for (int i = 0; i < NAMES; i++)
        crew->names[i] = rig_name();
    for (int i = 0; i < THREADS; i++) {
        struct worker *worker = &crew->workers[i];

        worker->crew = crew;
        worker->sys = i % 2 == 0 ? pair.a : pair.b;
        worker->turn = (unsigned)i / 2;
        worker->inside = NOBODY;
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(0, pthread_create(&crew->workers[i].thread, NULL, keep_working,
                                           &crew->workers[i]));
    return crew;
}

/* The counts of each kind of event at one moment, and the counts since then. */
struct progress {
    long long grants[NAMES];
    long long calls[THREADS];
    int names_granted;
    int threads_answered;
};

static struct progress progress_begin(struct crew *crew)
{
    struct progress it = {0};

    for (int i = 0; i < NAMES; i++)
        it.grants[i] = atomic_load(&crew->grants[i]);
    for (int i = 0; i < THREADS; i++)
        it.calls[i] = atomic_load(&crew->workers[i].call_count);
    return it;
}

static bool progress_is_made(struct crew *crew, struct progress *it)
{
    it->names_granted = it->threads_answered = 0;
    for (int i = 0; i < NAMES; i++)
        it->names_granted += atomic_load(&crew->grants[i]) > it->grants[i];
    for (int i = 0; i < THREADS; i++)
        it->threads_answered +=
            atomic_load(&crew->workers[i].call_count) > it->calls[i];
    return it->names_granted == NAMES && it->threads_answered == THREADS;
}

/* After the trouble: wait until every call that was under way has been answered, and every name was
 * granted again. The function only records a failure, because the test must not end before its
 * threads. */
static void comes_through(struct crew *crew, const char *trouble)
{
    struct progress progress = progress_begin(crew);
    int64_t give_up_ms = rig_now_ms() + STUCK_MS;

    if (!crew->is_well)
        return;
    while (!progress_is_made(crew, &progress) && rig_now_ms() < give_up_ms)
        rig_pause_ms(5);
    crew->is_well = progress_is_made(crew, &progress) &&
                    atomic_load(&crew->violations) == 0;
    if (!crew->is_well)
        print_error("%s: %d of %d names granted again, %d of %d threads answered, "
                    "%d unexplained overlaps\n",
                    trouble, progress.names_granted, NAMES, progress.threads_answered,
                    THREADS, atomic_load(&crew->violations));
}

static void crew_stop(struct crew *crew)
{
    bool is_well;

    atomic_store(&crew->may_stop, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(crew->workers[i].thread, NULL);
    is_well = crew->is_well && atomic_load(&crew->violations) == 0;
    for (size_t i = 0; i < crew->meeting_count; i++)
        if (crew->meetings[i].sides[0].kept && crew->meetings[i].sides[1].kept) {
            print_error("two were inside at once, and neither was told\n");
            is_well = false;
        }
    pthread_mutex_destroy(&crew->door);
    free(crew);
    assert_provided(is_steady(CHAOS_LEASE_MS), is_well);
}

static dlock_options chaos_options(const char *variant)
{
    dlock_options opts = rig_options(variant);

    opts.lease_ms = CHAOS_LEASE_MS;
    opts.watchdog = true;
    opts.redis_timeout_ms = opts.redlock_node_timeout_ms = ANSWER_MS;
    opts.database_timeout_ms = opts.zookeeper_timeout_ms = ANSWER_MS;
    opts.etcd_timeout_ms = ANSWER_MS;
    return opts;
}

static size_t open_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    size_t count = 0;

    assert_non_null(dir);
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count;
}

static void tell_all(const char *command)
{
    for (size_t i = 0; i < servers_found(); i++)
        servers_tell(i, command);
}

/* Is the store empty? Locks that an unanswered call left end with their lease; the counters of
 * fences stay. */
static bool is_empty(const char *variant)
{
    long long counters = rig_caps(variant) & DLOCK_CAP_FENCED ? NAMES : 0;

    for (size_t i = 0; i < servers_found(); i++)
        if (servers_ask(i, "DBSIZE") > counters ||
            servers_tell(i, "PUBSUB CHANNELS")->elements > 0)
            return false;
    return true;
}

void comes_through_redis_trouble(const char *variant)
{
    static const char *const troubles[] = {
        "CLIENT PAUSE 300 ALL", "SCRIPT FLUSH", "CLIENT KILL TYPE pubsub",
        "CLIENT KILL TYPE normal SKIPME yes", "SCRIPT FLUSH",
    };
    dlock_options opts = chaos_options(variant);
    size_t files_before;
    struct crew *crew;

    servers_start(&opts);
    files_before = open_files();
    crew = crew_start(&opts);
    comes_through(crew, "calm");
    for (size_t i = 0; i < sizeof(troubles) / sizeof(troubles[0]); i++) {
        tell_all(troubles[i]);
        comes_through(crew, troubles[i]);
    }
    atomic_store(&crew->may_lose, !rig_uses_nodes(variant));
    servers_signal(0, 1, SIGKILL);
    servers_restart(0);
    comes_through(crew, "a restart");
    crew_stop(crew);
    assert_comes(is_empty(variant));
    rig_close_systems();
    assert_comes(open_files() <= files_before);
}

void comes_through_ended_backends(const char *variant)
{
    dlock_options opts = chaos_options(variant);
    size_t files_before = open_files();
    struct crew *crew = crew_start(&opts);
    char sql[160];

    snprintf(sql, sizeof(sql),
             "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
             " WHERE application_name = 'dlock-%d'",
             (int)getpid());
    comes_through(crew, "calm");
    atomic_store(&crew->may_lose, rig_caps(variant) & DLOCK_CAP_SESSION);
    for (int i = 0; i < 3; i++) {
        (void)database_ask(sql, NULL);
        comes_through(crew, "ended backends");
    }
    crew_stop(crew);
    rig_close_systems();
    assert_comes(database_count_backends("true") == 0);
    database_stop();
    assert_comes(open_files() <= files_before);
}

/* When a session is ended, its system loses every lock and every place in a queue at once. */
void comes_through_ended_sessions(const char *variant)
{
    enum { EXPIRIES = 3 };
    dlock_options opts = chaos_options(variant);
    int64_t sessions[2 * (EXPIRIES + 1)];
    char names[NAMES][DLOCK_NAME_MAX + 1];
    int session_count = 0;
    size_t files_before;
    dlock_system *last;
    struct crew *crew;

    /* Opens the test's own connection, which the count below does not include. */
    assert_true(nodes_exists("/"));
    files_before = open_files();
    crew = crew_start(&opts);
    for (int i = 0; i < NAMES; i++)
        snprintf(names[i], sizeof(names[i]), "%s", crew->names[i]);
    comes_through(crew, "calm");
    atomic_store(&crew->may_lose, true);
    for (int i = 0; i <= EXPIRIES; i++) {
        for (int side = 0; side < 2; side++)
            sessions[session_count++] = nodes_session(crew->workers[side].sys);
        if (i < EXPIRIES) {
            nodes_expire(crew->workers[i % 2].sys);
            comes_through(crew, "an ended session");
        }
    }
    last = crew->workers[1].sys;
    crew_stop(crew);
    for (int i = 0; i < NAMES; i++)
        assert_comes(nodes_count_of(variant, names[i]) == 0);
    /* A busy machine may stop a process for so long that its session ends, and the library opens
     * another one. So the number of the session is read again until the server knows it. */
    assert_comes(nodes_has_session(sessions[session_count - 1] = nodes_session(last)));
    rig_close_systems();
    for (int i = 0; i < session_count; i++)
        assert_comes(!nodes_has_session(sessions[i]));
    assert_comes(open_files() <= files_before);
}
