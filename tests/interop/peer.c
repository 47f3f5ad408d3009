/* SPDX-License-Identifier: MIT */
/* peer.c -- a C program that uses libdlock by commands: one command a line, and one line with the
 * command's tag for each answer. The commands of a named thread run in order in a thread of their
 * own, so the same thread re-enters a lock, and a waiting command delays no other thread.
 *
 *     peer REDIS-URL NODE-URLS WATCHDOG-MS [HANDOVER RECORD-DIR [slow]]
 *
 * The program ends with its input.  Locks that are held then are not released.  With HANDOVER the
 * fair lock is handed over up to HANDOVER times inside the program, calls are recorded, and the
 * systems are closed at the end.  `slow` removes the limit of time for a process, since a driver
 * that sends single lines is too slow for it. */
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "lock/dlock.h"
#include "lock/handover.h"
#include "lock/options.h"
#include "lock/system.h"
#include "tests/interop/peer.h"

enum { SYSTEMS_MAX = 16, HELD_MAX = 64 };

/* The kinds of lock by the names that all peers know. */
static const struct kind {
    const char *name;
    const char *variant;
    bool shared;
} kinds[] = {
    {"plain", "reentrant", false}, {"fair", "fair", false},
    {"spin", "spin", false},       {"fenced", "fenced", false},
    {"multi", "multi", false},     {"token", "lua", false},
    {"read", "rwlock", true},      {"write", "rwlock", false},
};

/* A lock system. Each variant has at most one. */
struct opened {
    const char *variant;
    dlock_system *sys;
};

struct held {
    const struct kind *kind;
    dlock_system *sys;
    dlock_lease lease;
};

struct actor {
    struct actor *next;
    char name[COMMAND_LINE_MAX];
    pthread_mutex_t mutex;
    pthread_cond_t given;
    struct command *first;
    struct held held[HELD_MAX]; /* of this thread, the innermost hold last */
    size_t held_count;
};

static const char *redis_url;
static const char *node_urls;
static int watchdog_ms;
static int handover;
static const char *record_dir; /* NULL: nothing is recorded */
static struct opened systems[SYSTEMS_MAX];
static pthread_mutex_t systems_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct actor *actors; /* used by the main thread only */

static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    flockfile(stdout);
    vprintf(fmt, args);
    putchar('\n');
    fflush(stdout);
    funlockfile(stdout);
    va_end(args);
}

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(name, kinds[i].name) == 0)
            return &kinds[i];
    return NULL;
}

/* NULL: dlock_error() has the reason. */
static dlock_system *system_open(const char *variant)
{
    dlock_options opts = dlock_options_default();
    dlock_system *sys;

    opts.variant = variant;
    opts.redis_url = redis_url;
    opts.redlock_urls = node_urls;
    opts.lease_ms = watchdog_ms;
    opts.record_dir = record_dir;
    opts.handover = strcmp(variant, "fair") == 0 ? handover : 0;
    return dlock_open(&sys, &opts) == DLOCK_OK ? sys : NULL;
}

static dlock_system *system_of(const char *variant)
{
    dlock_system *sys = NULL;
    size_t i = 0;

    pthread_mutex_lock(&systems_mutex);
    while (i < SYSTEMS_MAX && systems[i].sys != NULL &&
           strcmp(systems[i].variant, variant) != 0)
        i++;
    if (i < SYSTEMS_MAX) {
        if (systems[i].sys == NULL)
            systems[i] = (struct opened){variant, system_open(variant)};
        sys = systems[i].sys;
    }
    pthread_mutex_unlock(&systems_mutex);
    return sys;
}

void peer_answer(dlock_status st, char answer[ANSWER_MAX])
{
    if (dlock_is_failure(st))
        snprintf(answer, ANSWER_MAX, "error %s: %s", dlock_status_id(st),
                 dlock_error());
    else
        snprintf(answer, ANSWER_MAX, "%s", dlock_status_id(st));
}

/* Say whether the name is locked in the mode of `kind`: a reader's hold does not count for the kind
 * `write`. */
static void run_look(const struct kind *kind, dlock_system *sys, const char *name,
                     char answer[ANSWER_MAX])
{
    dlock_info info;
    dlock_status st = dlock_inspect(sys, name, &info);

    if (st != DLOCK_OK)
        peer_answer(st, answer);
    else
        snprintf(answer, ANSWER_MAX,
                 "ok locked=%d mine=0 count=%d readers=%d left=%" PRId64 " owner=%s",
                 info.locked && info.shared == kind->shared ? 1 : 0, info.hold_count,
                 info.reader_count, info.left_ms, info.owner);
}

/* Say how many threads of this process wait for the name in its line. */
static void run_line(dlock_system *sys, const char *name, char answer[ANSWER_MAX])
{
    unsigned count =
        sys->handover != NULL ? dlock_handover_count(sys->handover, name) : 0;

    snprintf(answer, ANSWER_MAX, "ok count=%u", count);
}

static void run_lock(struct actor *actor, const struct command *command,
                     const struct kind *kind, dlock_system *sys, const char *name,
                     char answer[ANSWER_MAX])
{
    /* A request with a lease is not renewed; without a lease the watchdog renews the lock. */
    dlock_request request = {
        .wait_ms = command_number(command, "wait"),
        .lease_ms = (int)command_number(command, "lease"),
        .shared = kind->shared,
    };
    struct held *held = &actor->held[actor->held_count];
    dlock_status st;

    if (actor->held_count == HELD_MAX)
        return;
    st = dlock_acquire_with(sys, name, &request, &held->lease);
    if (st != DLOCK_OK) {
        peer_answer(st, answer);
        return;
    }
    held->kind = kind;
    held->sys = sys;
    actor->held_count++;
    snprintf(answer, ANSWER_MAX, "ok owner=%s token=%s fence=%" PRIu64,
             held->lease.owner, held->lease.token, held->lease.fence);
}

/* The innermost hold of that kind and name; NULL if this thread has none. */
static struct held *find_held(struct actor *actor, const struct kind *kind,
                              const char *name)
{
    for (size_t i = actor->held_count; i-- > 0;)
        if (actor->held[i].kind == kind &&
            strcmp(actor->held[i].lease.name, name) == 0)
            return &actor->held[i];
    return NULL;
}

static void run_unlock(struct actor *actor, const struct kind *kind, const char *name,
                       char answer[ANSWER_MAX])
{
    struct held *held = find_held(actor, kind, name);
    size_t after;

    if (held == NULL) {
        snprintf(answer, ANSWER_MAX, "lost");
        return;
    }
    peer_answer(dlock_release(held->sys, &held->lease), answer);
    after = (size_t)(&actor->held[--actor->held_count] - held);
    memmove(held, held + 1, after * sizeof(*held));
}

static void run_renew(struct actor *actor, const struct kind *kind, const char *name,
                      char answer[ANSWER_MAX])
{
    struct held *held = find_held(actor, kind, name);

    if (held == NULL)
        snprintf(answer, ANSWER_MAX, "lost");
    else
        peer_answer(dlock_renew(held->sys, &held->lease), answer);
}

static void run(struct actor *actor, const struct command *command)
{
    char verb[COMMAND_LINE_MAX];
    char kind_text[COMMAND_LINE_MAX];
    char name_text[COMMAND_LINE_MAX];
    char tag[COMMAND_LINE_MAX];
    char answer[ANSWER_MAX] = "error no such command";
    const char *name = command_text(command, "name", "", name_text);
    const char *kind_name = command_text(command, "kind", "", kind_text);
    const struct kind *kind = find_kind(kind_name);
    dlock_system *sys = kind != NULL ? system_of(kind->variant) : NULL;

    command_word(command, 1, verb);
    if (kind == NULL)
        peer_primitive(redis_url, kind_name, verb, command, answer);
    else if (sys == NULL)
        snprintf(answer, sizeof(answer), "error no system: %s", dlock_error());
    else if (strcmp(verb, "lock") == 0)
        run_lock(actor, command, kind, sys, name, answer);
    else if (strcmp(verb, "unlock") == 0)
        run_unlock(actor, kind, name, answer);
    else if (strcmp(verb, "renew") == 0)
        run_renew(actor, kind, name, answer);
    else if (strcmp(verb, "look") == 0)
        run_look(kind, sys, name, answer);
    else if (strcmp(verb, "line") == 0)
        run_line(sys, name, answer);
    else if (strcmp(verb, "force") == 0)
        peer_answer(dlock_force_release(sys, name), answer);
    else if (strcmp(verb, "contend") == 0)
        peer_contend(sys, kind->shared, redis_url, command, answer);
    say("%s %s", command_word(command, 0, tag), answer);
}

static void *act(void *opaque)
{
    struct actor *actor = opaque;

    for (;;) {
        struct command *command;

        pthread_mutex_lock(&actor->mutex);
        while (actor->first == NULL)
            pthread_cond_wait(&actor->given, &actor->mutex);
        command = actor->first;
        actor->first = command->next;
        pthread_mutex_unlock(&actor->mutex);
        run(actor, command);
        free(command);
    }
    return NULL;
}

static struct actor *actor_of(const char *name)
{
    struct actor *actor = actors;
    pthread_t thread;

    while (actor != NULL && strcmp(actor->name, name) != 0)
        actor = actor->next;
    if (actor != NULL)
        return actor;
    actor = calloc(1, sizeof(*actor));
    if (actor == NULL)
        abort();
    snprintf(actor->name, sizeof(actor->name), "%s", name);
    pthread_mutex_init(&actor->mutex, NULL);
    pthread_cond_init(&actor->given, NULL);
    actor->next = actors;
    actors = actor;
    if (pthread_create(&thread, NULL, act, actor) != 0)
        abort();
    pthread_detach(thread);
    return actor;
}

static void give(const char *line)
{
    struct command *command = calloc(1, sizeof(*command));
    char name[COMMAND_LINE_MAX];
    struct command **last;
    struct actor *actor;

    if (command == NULL)
        abort();
    snprintf(command->line, sizeof(command->line), "%s", line);
    actor = actor_of(command_text(command, "thread", "main", name));
    pthread_mutex_lock(&actor->mutex);
    last = &actor->first;
    while (*last != NULL)
        last = &(*last)->next;
    *last = command;
    pthread_cond_signal(&actor->given);
    pthread_mutex_unlock(&actor->mutex);
}

int main(int argc, char **argv)
{
    char line[COMMAND_LINE_MAX];

    if (argc != 4 && argc != 6 && argc != 7) {
        fprintf(stderr, "usage: peer REDIS-URL NODE-URLS WATCHDOG-MS "
                        "[HANDOVER RECORD-DIR [slow]]\n");
        return 64;
    }
    if (argc > 4) {
        handover = (int)strtol(argv[4], NULL, 10);
        record_dir = argv[5];
        dlock_options_lift_limits(argc == 7);
    }
    redis_url = argv[1];
    node_urls = argv[2];
    watchdog_ms = (int)strtol(argv[3], NULL, 10);
    say("ready libdlock");
    while (fgets(line, sizeof(line), stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        give(line);
    }
    for (size_t i = 0; record_dir != NULL && i < SYSTEMS_MAX; i++)
        dlock_close(systems[i].sys);
    _Exit(0); /* threads may still wait for a lock */
}
