/* SPDX-License-Identifier: MIT */
/* story.c -- stories of one process and one server. The story delays messages so that the
 * circumstances of the bug occur. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lock/dlock_async.h"
#include "tests/simulation/batch.h"
#include "tests/simulation/oracle.h"
#include "tests/simulation/subject.h"

enum { TIMEOUT_MS = 100, LEASE_MS = 2000 };

static const char *const NAME = "lock:a";

static dlock_system *open_system_for(const char *variant, int timeout_ms)
{
    dlock_options opts = dlock_options_default();
    dlock_system *sys = NULL;

    opts.variant = variant;
    opts.redis_url = "redis://127.0.0.1:7000";
    opts.redis_timeout_ms = timeout_ms;
    opts.lease_ms = LEASE_MS;
    if (dlock_open(&sys, &opts) != DLOCK_OK)
        world_condemn(CRASH, "the system cannot be opened: %s", dlock_error());
    return sys;
}

static dlock_system *open_system(const char *variant)
{
    return open_system_for(variant, TIMEOUT_MS);
}

static void expect(const char *what, bool is_so)
{
    if (!is_so)
        world_condemn(CRASH, "not so: %s", what);
}

/* The first request of a release is delayed, and a second one, on a new connection, is answered.
 * The thread takes the lock again. Then the first request arrives: it must not free the new hold of
 * the thread. */
static void late_release(const char *variant)
{
    struct bytes key = BYTES("lock:a");
    dlock_system *sys = open_system(variant);
    dlock_lease lease;

    expect("the lock is taken", dlock_acquire(sys, NAME, 0, &lease) == DLOCK_OK);
    network_delay_next(world.now_ns + 1000 * MS);
    expect("the lock is given back", dlock_release(sys, &lease) == DLOCK_OK);
    expect("the first request is still on its way", network_has_delayed());
    expect("the lock is taken again", dlock_acquire(sys, NAME, 0, &lease) == DLOCK_OK);
    while (network_has_delayed())
        task_pause(10 * MS);
    expect("the lease is valid", dlock_lease_valid(sys, &lease));
    expect("the server knows the holder",
           keys_find(&servers[0].model.keys, key, model_now_ms(&servers[0].model)) != NULL);
    world.is_over = true;
}

/* ---- a turn ---- */

static void send_command(const char *const *words, size_t count)
{
    struct client client = {0};
    struct bytes argv[MODEL_ARGS_MAX];
    struct buffer out = {0};

    client_begin(&client, &servers[0].model);
    for (size_t i = 0; i < count; i++)
        argv[i] = (struct bytes){(char *)(uintptr_t)words[i], strlen(words[i])};
    model_execute(&client, argv, count, &out);
    client_end(&client);
    buffer_free(&out);
}

/* The turn of a waiter ends in half a millisecond.  dlock_inspect() must take this for a turn, and
 * not for a lock of another kind. */
static void turn_ends(const char *variant)
{
    static const char *const WAITER = "00000000-0000-4000-8000-000000000000:1";
    const char *join[] = {"RPUSH", "redisson_lock_queue:{lock:a}", WAITER};
    dlock_system *sys = open_system(variant);
    dlock_info info;

    send_command(join, 3);
    for (int i = 0; i < 20; i++) {
        char end[32];
        const char *move[] = {"ZADD", "redisson_lock_timeout:{lock:a}", end, WAITER};

        (void)snprintf(end, sizeof(end), "%lld.5",
                       (long long)model_now_ms(&servers[0].model));
        send_command(move, 4);
        expect("the lock is inspected", dlock_inspect(sys, NAME, &info) == DLOCK_OK);
        task_pause(chance_between(1, 5) * MS);
    }
    world.is_over = true;
}

/* ---- a server clock that steps back ---- */

static void *wait_and_give_back(void *arg)
{
    struct process *process = arg;
    dlock_system *sys;
    dlock_lease lease;

    dlock_process_enter(&process->own);
    sys = open_system("fair");
    if (dlock_acquire(sys, NAME, 60000, &lease) == DLOCK_OK)
        (void)dlock_release(sys, &lease);
    return NULL;
}

static size_t queue_length(void)
{
    struct bytes key = BYTES("redisson_lock_queue:{lock:a}");
    struct model *model = &servers[0].model;
    const struct key *queue = keys_find(&model->keys, key, model_now_ms(model));

    return queue != NULL ? queue->count : 0;
}

/* Start a waiter in a process of its own, and return when the waiter is in the queue. */
static struct process *begin_waiter(int number)
{
    struct process *process = &workload.processes[number];
    size_t before = queue_length();

    process->site = (struct site){.number = number, .offset_ns = SECOND * (number + 1)};
    expect("a process begins", dlock_process_init(&process->own) &&
           task_begin(&process->site, wait_and_give_back, process) != NULL);
    while (queue_length() == before)
        task_pause(MS / 10);
    return process;
}

/* The server's clock is set back, so the time until which the first waiter is believed is further
 * ahead than any waiter of this library sets it. The second waiter must not be believed for minutes
 * because of that: it dies, and must not keep a free lock from others. */
static void clock_steps_back(const char *variant)
{
    enum { SLEEPS_MS = 100, STEP_MS = 1000, GETS_IN_MS = 20000 };
    dlock_system *sys = open_system(variant);
    struct process *dies;
    dlock_lease lease;

    expect("the lock is taken", dlock_acquire(sys, NAME, 0, &lease) == DLOCK_OK);
    (void)begin_waiter(1);
    task_pause(SLEEPS_MS * MS); /* the waiter has asked again after it subscribed, and sleeps */
    servers[0].site.wall_ms -= STEP_MS;
    dies = begin_waiter(2);
    dies->site.is_dead = true;
    network_cut_process(&dies->site);
    expect("the lock is given back", dlock_release(sys, &lease) == DLOCK_OK);
    while (queue_length() > 1)
        task_pause(MS); /* until the first waiter has had its turn */
    expect("the lock is taken by another one soon",
           dlock_acquire(sys, NAME, GETS_IN_MS, &lease) == DLOCK_OK);
    world.is_over = true;
}

/* ---- a latch ---- */

static dlock_primitives *prims;
static int64_t waited_until_ns;

static void *wait_for_latch(void *arg)
{
    (void)arg;
    dlock_process_enter(&workload.processes[0].own);
    expect("the wait says that the latch was deleted",
           dlock_latch_wait(prims, NAME, 60000) == DLOCK_LOST);
    waited_until_ns = world.now_ns;
    return NULL;
}

/* A waiter that sleeps is told of the deletion, and does not sleep until its next look. */
static void latch_deleted(const char *subject)
{
    enum { SLEEPS_MS = 700, AT_ONCE_MS = 5 };
    int64_t deleted_ns;

    (void)subject;
    expect("the primitives are open",
           dlock_primitives_open(&prims, "redis://127.0.0.1:7000", TIMEOUT_MS) == DLOCK_OK);
    expect("the latch is set", dlock_latch_set(prims, NAME, 1) == DLOCK_OK);
    (void)task_begin(&workload.processes[0].site, wait_for_latch, NULL);
    task_pause(SLEEPS_MS * MS);
    expect("the latch is deleted", dlock_latch_delete(prims, NAME) == DLOCK_OK);
    deleted_ns = world.now_ns;
    while (waited_until_ns == 0)
        task_pause(MS);
    expect("the waiter has heard it at once",
           waited_until_ns < deleted_ns + AT_ONCE_MS * MS);
    world.is_over = true;
}

/* ---- a fiber that is cancelled before its bell rings ---- */

static bool is_answered;

static void note_answer(dlock_status st, dlock_lease *lease, void *arg)
{
    (void)st; /* a thread that stands still for long may lose the lock to a waiter */
    (void)lease;
    (void)arg;
    is_answered = true;
}

enum { BLOCKS = 7, BLOCK_LEAST = 48, BLOCK_MOST = 256, BLOCK_STEP = 16 };

/* Allocate the memory that was just freed, and write to it, so that a late ring of a bell in this
 * memory ends the process. */
static void overwrite_free_memory(void)
{
    enum { FILL = 0xa5, SIZES = (BLOCK_MOST - BLOCK_LEAST) / BLOCK_STEP };
    static char *blocks[SIZES][BLOCKS];

    for (size_t i = 0; i < SIZES; i++)
        for (size_t j = 0; j < BLOCKS; j++) {
            blocks[i][j] = malloc(BLOCK_LEAST + i * BLOCK_STEP);
            if (blocks[i][j] != NULL)
                memset(blocks[i][j], FILL, BLOCK_LEAST + i * BLOCK_STEP);
        }
    task_pause(30 * MS);
    for (size_t i = 0; i < SIZES; i++)
        for (size_t j = 0; j < BLOCKS; j++)
            free(blocks[i][j]);
}

/* A message wakes a waiter, and the thread that is to ring the waiter's bell stands still before it
 * does. Then the call is cancelled. The waiter's memory must stay until the bell was rung. */
static void cancelled_before_the_ring(const char *variant)
{
    enum { TIMES = 3000, STALL_MS = 300, WAIT_MS = 60000, PATIENT_MS = 30000 };
    const dlock_request request = {.size = sizeof(request), .wait_ms = WAIT_MS};
    dlock_system *holder = open_system_for(variant, PATIENT_MS);
    dlock_system *sys = open_system_for(variant, PATIENT_MS);
    dlock_async *async = NULL;
    dlock_async_owner *owner = NULL;
    dlock_lease lease;

    task_stall_one_in = 3;
    task_stall_most_ns = STALL_MS * MS;
    expect("the interface is open",
           dlock_async_open(&async, sys, DLOCK_ASYNC_THREAD) == DLOCK_OK);
    owner = dlock_async_owner_new(async);
    expect("the lock is taken", dlock_acquire(holder, NAME, 0, &lease) == DLOCK_OK);
    for (int i = 0; i < TIMES; i++) {
        uint64_t call = 0;

        is_answered = false;
        expect("a call begins", dlock_async_acquire(async, NAME, &request, owner, note_answer,
                                                    NULL, &call) == DLOCK_OK);
        task_pause(chance_between(1, 1000) * (MS / 100));
        (void)dlock_async_cancel(async, call);
        while (!is_answered)
            task_pause(MS / 10);
        overwrite_free_memory(); /* in its pause the library drops the channel */
    }
    world.is_over = true;
}

static const struct story {
    const char *name;
    const char *variant;
    void (*play)(const char *variant);
} stories[] = {
    {"a release that arrives late frees nothing that was taken after it", "reentrant",
     late_release},
    {"a release that arrives late frees nothing that was taken after it", "spin", late_release},
    {"a release that arrives late frees nothing that was taken after it", "fenced",
     late_release},
    {"a release that arrives late frees nothing that was taken after it", "fair", late_release},
    {"a release that arrives late frees nothing that was taken after it", "lua", late_release},
    {"a turn of less than a millisecond can be inspected", "fair", turn_ends},
    {"a server clock that steps back keeps a free lock from nobody", "fair", clock_steps_back},
    {"a waiter that is cancelled stays until its bell has rung", "fair",
     cancelled_before_the_ring},
    {"a waiter hears at once that a latch was deleted", "latch", latch_deleted},
};

static const struct story *story_here;

static void *run(void *arg)
{
    (void)arg;
    dlock_process_enter(&workload.processes[0].own);
    story_here->play(story_here->variant);
    return NULL;
}

static void story_begin(void)
{
    struct process *process = &workload.processes[0];

    process->site = (struct site){.offset_ns = SECOND};
    if (!dlock_process_init(&process->own) || task_begin(&process->site, run, NULL) == NULL)
        world_condemn(CRASH, "the story cannot begin");
}

bool stories_play(void)
{
    bool is_fine = true;
    size_t count = sizeof(stories) / sizeof(stories[0]);

    for (size_t i = 0; i < count; i++) {
        struct play play = {subject_find(stories[i].variant), CLASS_CALM, 1, story_begin,
                            NULL, NULL};
        struct account account;

        story_here = &stories[i];
        batch_play(&play, &account, false);
        if (account.verdict != FINE)
            (void)printf("# %s\n", account.text);
        (void)printf("%s %zu - %s: %s\n", account.verdict == FINE ? "ok" : "not ok", i + 1,
                     stories[i].variant, stories[i].name);
        is_fine = is_fine && account.verdict == FINE;
    }
    (void)printf("1..%zu\n", count);
    return is_fine;
}
