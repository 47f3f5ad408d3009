/* SPDX-License-Identifier: MIT */
/* conformance.c -- runs every law for every variant.
 *
 *     conformance                      run all, TAP on standard output
 *     conformance --list               print "variant: law" lines
 *     conformance --only GLOB          run those whose line matches
 *     conformance --async ...          the same through the asynchronous interface
 *     conformance --jobs=N             run N cases side by side, instead of 16
 *     conformance --fail-fast          end with the first failure
 *     conformance --wrong              run the wrong locks: a law has to reject each
 *     conformance --wrong NAME         run all laws for one wrong lock, to see which fail
 *
 * Each case runs in a process of its own. A row in variants.def is enough to have a new variant
 * tested. */
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lock/fault.h"
#include "lock/options.h"
#include "tests/conformance/database.h"
#include "tests/conformance/lab.h"
#include "tests/conformance/laws.h"
#include "tests/conformance/wrong.h"
#include "tests/jobs.h"

/* ---- bugs of other lock libraries ---- */

static const struct known_bug {
    const char *name;
    const char *law;
} known_bugs[] = {
#define BUG(name, law) {name, law},
#include "tests/conformance/known_bugs.def"
#undef BUG
};

/* Write the bugs that the law tests for to `end`, the end of a case's name, in parentheses; write
 * nothing if there are none. `law` may be a part of that name, since the function reads `law`
 * before it writes. */
static void known_bugs_append(char *end, size_t size, const char *law)
{
    size_t law_len = strlen(law);
    size_t len = 0;

    for (size_t i = 0; i < sizeof(known_bugs) / sizeof(known_bugs[0]); i++) {
        if (strlen(known_bugs[i].law) != law_len ||
            strncmp(known_bugs[i].law, law, law_len) != 0)
            continue;
        if (len < size)
            len += (size_t)snprintf(end + len, size - len, "%s%s",
                                    len == 0 ? " (" : "; ", known_bugs[i].name);
    }
    if (len > 0 && len < size)
        snprintf(end + len, size - len, ")");
}

/* End the program if a row names a law that does not exist: no test would show the absence of its
 * bug. */
static void known_bugs_check(bool (*is_law)(const char *name))
{
    static const char absent[] = "(not claimed) ";

    for (size_t i = 0; i < sizeof(known_bugs) / sizeof(known_bugs[0]); i++) {
        const char *law = known_bugs[i].law;

        if (strncmp(law, absent, sizeof(absent) - 1) == 0)
            law += sizeof(absent) - 1;
        if (is_law(law))
            continue;
        printf("Bail out! known_bugs.def names no law: %s\n", law);
        exit(70);
    }
}

enum {
    CASES_MAX = 3000,
    CASE_NAME_SIZE = 200,
    /* The limit of a beginning of a law whose times are not stretched. Four states that do not come
     * for PATIENCE_MS fit into it, so that it ends a call that hangs, and no slow machine. */
    CASE_LIMIT_S = 120,
    JOBS = 16,
};

static struct case_state {
    const char *variant;
    law_fn *run;
    bool has_own_lab; /* the law kills a server that only a laboratory can start */
    char name[CASE_NAME_SIZE];
    double part; /* of the variant's cases that come before, 0 to 1 */
} cases[CASES_MAX];
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

/* The process ends by a signal: let the servers of the environment go on. */
static void give_up(int signal_number)
{
    database_wake();
    servers_leave();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void begin_anew(void)
{
    alarm((unsigned)(CASE_LIMIT_S * premise_stretch));
    rig_reset();
}

static int reset(void **state)
{
    (void)state;
    rig_reset();
    return 0;
}

static void judge_case(void **state)
{
    const struct case_state *c = *state;

    premise_run(c->name, c->run, c->variant, begin_anew);
}

static const char *name_of(size_t which)
{
    return cases[which].name;
}

/* A law that kills the server of a lab leaves it to no other case of that store. */
static unsigned store_alone(size_t which)
{
    return cases[which].has_own_lab ? store_of(cases[which].variant) : 0;
}

/* In the process of the case. Returns the number of failures. */
static int run_case(size_t which)
{
    const struct CMUnitTest test = {.name = cases[which].name,
                                    .test_func = judge_case,
                                    .teardown_func = reset,
                                    .initial_state = &cases[which]};

    signal(SIGALRM, give_up);
    signal(SIGTERM, give_up);
    signal(SIGINT, give_up);
    alarm(CASE_LIMIT_S);
    return _cmocka_run_group_tests("conformance", &test, 1, NULL, NULL);
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
    case_count++;
}

static void add_cases(const char *glob)
{
    for (size_t v = 0; v < dlock_variant_count(); v++) {
        size_t first = case_count;

        for (size_t i = 0; i < law_count; i++)
            add_case(&laws[i], dlock_variant_at(v)->name, glob);
        for (size_t i = first; i < case_count; i++)
            cases[i].part = (double)(i - first) / (double)(case_count - first);
    }
}

/* All variants begin with their first case, and end with their last one: the cases of one store at
 * the same time would load its server alone. */
static int by_part(const void *a, const void *b)
{
    const struct case_state *x = a, *y = b;

    return x->part != y->part ? (x->part > y->part) - (x->part < y->part)
                              : strcmp(x->name, y->name);
}

/* Run the only case of that name. */
static int run_named(const char *name)
{
    case_count = 0;
    add_cases(name);
    return case_count == 1 ? run_case(0) : -1;
}

static int usage(void)
{
    fputs("usage: conformance [--async] [--list] [--only GLOB] [--jobs=N] [--fail-fast] "
          "[--wrong [NAME]]\n",
          stderr);
    return 64;
}

/* The options of the command line. */
struct request {
    const char *glob;
    bool list;
    bool wrong;
    const char *lie; /* the name of a wrong lock; NULL: all of them */
    unsigned jobs;
    bool fail_fast;
};

static bool read_jobs(const char *text, struct request *out)
{
    int used = 0;

    return sscanf(text, "--jobs=%3u%n", &out->jobs, &used) == 1 && text[used] == '\0' &&
           out->jobs >= 1;
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
        else if (strcmp(argv[i], "--fail-fast") == 0)
            out->fail_fast = true;
        else if (strncmp(argv[i], "--jobs=", strlen("--jobs=")) == 0) {
            if (!read_jobs(argv[i], out))
                return false;
        }
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
        puts(cases[i].name);
    return 0;
}

static int run_all(const struct request *request)
{
    struct jobs jobs = {.count = case_count,
                        .name = name_of,
                        .run = run_case,
                        .alone_with = store_alone,
                        .at_once = request->jobs,
                        .fail_fast = request->fail_fast};
    int code;

    qsort(cases, case_count, sizeof(cases[0]), by_part);
    lab_begin();
    code = jobs_run(&jobs);
    lab_end();
    return code;
}

int main(int argc, char **argv)
{
    struct request request = {.jobs = JOBS};
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
    /* Most laws hold a lock for longer than a short fixed lease. */
    dlock_options_lift_limits(true);
    dlock_fault_allow();
    cmocka_set_message_output(CM_OUTPUT_TAP);
    if (request.wrong && request.lie == NULL)
        return wrong_run_all(request.jobs, request.fail_fast, run_named);
    return run_all(&request);
}
