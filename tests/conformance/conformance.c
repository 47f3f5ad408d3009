/* SPDX-License-Identifier: MIT */
/* conformance.c -- runs every law for every variant.
 *
 *     conformance                      run all, TAP on standard output
 *     conformance --list               print "variant: law" lines
 *     conformance --only GLOB          run those whose line matches
 *     conformance --async ...          the same through the asynchronous interface
 *     conformance --shard K/N          run the Kth of N parts; all N may run at the same time
 *     conformance --wrong              run the wrong locks: a law has to reject each
 *     conformance --wrong NAME         run all laws for one wrong lock, to see which fail
 *
 * A row in variants.def is enough to have a new variant tested. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lock/fault.h"
#include "lock/options.h"
#include "tests/conformance/by_async.h"
#include "tests/conformance/known_bugs.h"
#include "tests/conformance/lab.h"
#include "tests/conformance/laws.h"
#include "tests/conformance/wrong.h"

enum {
    CASES_MAX = 3000,
    CASE_NAME_SIZE = 200,
    CASE_LIMIT_S = 400,
    SHORT_PATIENCE_MS = 2500, /* the laws wait in vain for states of a wrong lock */
};

static struct case_state {
    const char *variant;
    law_fn *run;
    bool has_own_lab; /* the law kills a server that only a laboratory can start */
    char name[CASE_NAME_SIZE];
} cases[CASES_MAX];
static struct CMUnitTest tests[CASES_MAX];
static size_t case_count;
static bool goes_by_async;

#ifdef __SANITIZE_THREAD__
/* ThreadSanitizer calls this function at its start. No law uses TLS, so the only use of libcrypto
 * is the proof of a password to PostgreSQL. One such proof takes thousands of locks and copies in
 * libcrypto, which ThreadSanitizer would follow without this suppression. */
const char *__tsan_default_suppressions(void);

const char *__tsan_default_suppressions(void)
{
    return "called_from_lib:libcrypto.so.3\n";
}
#endif

static int reset(void **state)
{
    (void)state;
    rig_reset();
    return 0;
}

static void run_case(void **state)
{
    const struct case_state *c = *state;

    alarm(CASE_LIMIT_S); /* a hang ends the program by a signal, which the runner reports */
    premise_run(c->name, c->run, c->variant, rig_reset);
    alarm(0);
}

static unsigned store_of(const char *variant)
{
    const char *store = dlock_variant_find(variant)->store;

    if (strncmp(store, "redis", 5) == 0)
        return LAW_REDIS;
    return strcmp(store, "postgresql") == 0  ? LAW_POSTGRES
           : strcmp(store, "zookeeper") == 0 ? LAW_ZOOKEEPER
           : strcmp(store, "etcd") == 0      ? LAW_ETCD
                                             : 0;
}

/* Choose the function of the law that fits the variant; NULL if the law does not concern the
 * variant. */
static law_fn *choose(const struct law *law, const char *variant)
{
    unsigned store = store_of(variant);
    unsigned other_stores = LAW_STORES & ~store;
    unsigned caps = rig_caps(variant) | store |
                    (store != 0 ? LAW_REMOTE : 0) |
                    (store & (LAW_POSTGRES | LAW_ZOOKEEPER | LAW_ETCD) ? LAW_DURABLE : 0) |
                    (rig_is_watched(variant) ? LAW_WATCHED : 0) |
                    (rig_may_be_handed_over(variant) ? LAW_HANDED : 0) |
                    (is_left_to_itself(variant) ? LAW_LATER : 0) |
                    (is_tried_with_a_replica(variant) ? LAW_COPIED : 0) |
                    (rig_is(variant, "getset") ? 0 : LAW_TIMELESS) |
                    (store == LAW_REDIS && rig_is_on_cluster() ? 0 : LAW_ONE_WIRE) |
                    (rig_uses_nodes(variant) ? LAW_NODES : LAW_SINGLE) |
                    (rig_caps(variant) & DLOCK_CAP_SHARED ? 0 : LAW_UNSHARED);

    if (store != 0 && (law->needs & other_stores))
        return NULL;
    if (store == 0 && (law->needs & (LAW_POSTGRES | LAW_ZOOKEEPER | LAW_ETCD)))
        return NULL;
    if ((caps & law->needs) == law->needs)
        return law->claimed;
    return (caps & law->absent_needs) == law->absent_needs ? law->absent : NULL;
}

static bool is_law(const char *name)
{
    for (size_t i = 0; i < law_count; i++)
        if (strcmp(laws[i].name, name) == 0)
            return true;
    return false;
}

static void add_case(const struct law *law, const char *variant, const char *glob)
{
    struct case_state *c = &cases[case_count];
    law_fn *run = choose(law, variant);
    size_t len;
    bool fits;

    if (run == NULL || case_count == CASES_MAX ||
        (goes_by_async && !by_async_applies(variant, law->name)))
        return;
    len = (size_t)snprintf(c->name, sizeof(c->name), "%s: %s%s", variant,
                           run == law->claimed ? "" : "(not claimed) ", law->name);
    fits = glob == NULL || fnmatch(glob, c->name, 0) == 0;
    known_bugs_append(c->name + len, sizeof(c->name) - len,
                      c->name + strlen(variant) + 2);
    if (!fits && fnmatch(glob, c->name, 0) != 0)
        return;
    c->variant = variant;
    c->run = run;
    c->has_own_lab = (law->needs & LAW_DURABLE) != 0;
    tests[case_count].name = c->name;
    tests[case_count].test_func = run_case;
    tests[case_count].teardown_func = reset;
    tests[case_count].initial_state = c;
    case_count++;
}

static void add_cases(const char *glob)
{
    for (size_t v = 0; v < dlock_variant_count(); v++)
        for (size_t i = 0; i < law_count; i++)
            add_case(&laws[i], dlock_variant_at(v)->name, glob);
}

/* The shard, from 0 on, of a case that has `before` earlier cases of its kind. Neighbours go to
 * different shards, so that each shard has some cases of every variant. The cases of one store that
 * need a laboratory share a shard, because the start of a laboratory takes longer than most
 * cases. */
static size_t shard_of(const struct case_state *c, size_t before, unsigned shard_count)
{
    static const unsigned stores[] = {LAW_POSTGRES, LAW_ZOOKEEPER, LAW_ETCD};
    size_t i = 0;

    if (!c->has_own_lab)
        return before % shard_count;
    while (i + 1 < sizeof(stores) / sizeof(stores[0]) && stores[i] != store_of(c->variant))
        i++;
    return i % shard_count;
}

static void keep_shard(unsigned shard, unsigned shard_count)
{
    size_t kept = 0, before = 0;

    for (size_t i = 0; i < case_count; i++) {
        const struct case_state *c = tests[i].initial_state;

        if (shard_of(c, before, shard_count) == shard - 1)
            tests[kept++] = tests[i];
        before += !c->has_own_lab;
    }
    case_count = kept;
}

static int usage(void)
{
    fputs("usage: conformance [--async] [--list] [--only GLOB] [--shard K/N] [--wrong [NAME]]\n",
          stderr);
    return 64;
}

/* The options of the command line. */
struct request {
    const char *glob;
    bool list;
    bool wrong;
    const char *lie; /* the name of a wrong lock; NULL: all of them */
    unsigned shard;  /* one of shard_count */
    unsigned shard_count;
};

static bool read_shard(const char *text, struct request *out)
{
    int used = 0;

    return sscanf(text, "%u/%u%n", &out->shard, &out->shard_count, &used) == 2 &&
           text[used] == '\0' && out->shard >= 1 && out->shard <= out->shard_count;
}

static bool read_request(int argc, char **argv, struct request *out)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0)
            out->list = true;
        else if (strcmp(argv[i], "--async") == 0)
            goes_by_async = true;
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            out->glob = argv[++i];
        else if (strcmp(argv[i], "--shard") == 0 && i + 1 < argc &&
                 read_shard(argv[i + 1], out))
            i++;
        else if (strcmp(argv[i], "--wrong") == 0 && !out->wrong)
            out->wrong = true;
        else if (out->wrong && out->lie == NULL)
            out->lie = argv[i];
        else
            return false;
    }
    return true;
}

/* Make this process a wrong lock, or the real variant beside it: see wrong.h. Returns false if
 * there is no such wrong lock. */
static bool prepare_lie(struct request *request)
{
    static char glob[CASE_NAME_SIZE];
    const char *lie;
    const char *base;

    if (request->lie != NULL)
        setenv(WRONG_ENV, request->lie, 1);
    lie = getenv(WRONG_ENV);
    if (lie == NULL || lie[0] == '\0')
        return true;
    rig_patience_ms = SHORT_PATIENCE_MS;
    base = wrong_enable(lie);
    if (base == NULL)
        return false;
    snprintf(glob, sizeof(glob), "%s: *", base);
    if (request->glob == NULL)
        request->glob = glob;
    return true;
}

static int list_cases(const struct request *request)
{
    if (request->wrong) {
        wrong_list();
        return 0;
    }
    for (size_t i = 0; i < case_count; i++)
        puts(tests[i].name);
    return 0;
}

int main(int argc, char **argv)
{
    struct request request = {.shard = 1, .shard_count = 1};
    int failed;
    bool is_child = argc > 1 && strcmp(argv[1], "--child") == 0;

    if (!is_child && !read_request(argc, argv, &request))
        return usage();
    if (!prepare_lie(&request))
        return usage();
    if (is_child)
        return child_main(argc, argv);
    if (goes_by_async)
        by_async_begin();
    known_bugs_check(is_law);
    add_cases(request.glob);
    keep_shard(request.shard, request.shard_count);
    if (request.list)
        return list_cases(&request);
    if (getenv("SECKILL_REDIS_URL") == NULL || getenv("SECKILL_REDLOCK_URLS") == NULL ||
        getenv("SECKILL_DATABASE_URL") == NULL ||
        getenv("SECKILL_LAB_DATABASE_URL") == NULL ||
        getenv("SECKILL_ZOOKEEPER_URL") == NULL || getenv("SECKILL_ETCD_URL") == NULL) {
        puts("Bail out! the environment of a lab with ZooKeeper and etcd is not set: "
             ". .lab/env");
        return 69;
    }
    if (request.wrong && request.lie == NULL)
        return wrong_run_all();
    /* Most laws hold a lock for longer than a short fixed lease. */
    dlock_options_lift_limits(true);
    dlock_fault_allow();
    cmocka_set_message_output(CM_OUTPUT_TAP);
    failed = _cmocka_run_group_tests("conformance", tests, case_count, NULL, NULL);
    lab_end();
    return failed == 0 ? 0 : 1;
}
