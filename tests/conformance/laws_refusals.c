/* SPDX-License-Identifier: MIT */
/* laws_refusals.c -- every error of base/os/refusals.def, in answer to every call: an error that
 * passes is waited for, and an error that lasts ends the call at once. */
#include <pthread.h>
#include <stdio.h>

#include "tests/conformance/laws.h"
#include "tests/conformance/refuser.h"

enum { FOR_EVER = -1, AWAY_MS = 60, WAIT_MS = 45000 };

/* ZooKeeper's requests are repeated for this time before they fail. */
#define ZOOKEEPER_MS STRETCHED(200)

static const struct refuser_row ROWS[] = {
#define REFUSAL(store, code, meaning) {REFUSAL_##store, code, REFUSAL_##meaning, NULL},
#include "base/os/refusals.def"
#undef REFUSAL
    /* A proxy's page may be JSON: it is no answer of etcd, which has a header, or the number of an
     * error of gRPC. */
    {REFUSAL_HTTP, "429", REFUSAL_PASSES, "{}"},
    {REFUSAL_HTTP, "429", REFUSAL_PASSES, "{\"message\":\"API rate limit exceeded\"}"},
    {REFUSAL_HTTP, "502", REFUSAL_UNDECIDED, "{}"},
    {REFUSAL_HTTP, "503", REFUSAL_UNDECIDED, "{\"message\":\"no upstream\",\"code\":503}"},
    {REFUSAL_HTTP, "401", REFUSAL_LASTS, "{\"message\":\"no user\"}"},
    {REFUSAL_HTTP, "200", REFUSAL_LASTS, "{}"},
};

/* A system behind the refuser, and one without it. */
struct refused {
    dlock_options opts;
    dlock_system *sys, *other;
    unsigned caps;
    enum refusal_store store;
    const struct refuser_row *row;
    bool cuts; /* the connections are cut when the refusals begin */
};

static bool is_on(const char *variant, const char *store)
{
    return strncmp(dlock_variant_find(variant)->store, store, strlen(store)) == 0;
}

static void begin(struct refused *r, const char *variant)
{
    const char **url;

    r->opts = rig_options(variant);
    r->opts.zookeeper_timeout_ms = ZOOKEEPER_MS;
    r->caps = rig_caps(variant);
    r->other = rig_open(&r->opts);
    if (is_on(variant, "redis")) {
        r->store = REFUSAL_REDIS;
        url = &r->opts.redis_url;
    } else if (is_on(variant, "zookeeper")) {
        r->store = REFUSAL_ZOOKEEPER;
        url = &r->opts.zookeeper_url;
    } else if (is_on(variant, "etcd")) {
        r->store = REFUSAL_ETCD;
        url = &r->opts.etcd_url;
    } else {
        r->store = REFUSAL_POSTGRES;
        url = &r->opts.database_url;
    }
    *url = refuser_start(r->store, *url);
    r->sys = rig_open(&r->opts);
}

/* The answer of a call whose first request was refused. An opening changes nothing, so it is never
 * UNKNOWN. */
static void check(const struct refused *r, const char *call, dlock_status st)
{
    bool fits = r->row->meaning == REFUSAL_LASTS     ? st == DLOCK_PROTOCOL
                : r->row->meaning == REFUSAL_PASSES ? st == DLOCK_IO
                                                    : st == DLOCK_UNKNOWN || st == DLOCK_IO;

    /* A request to ZooKeeper may have no answer in ZOOKEEPER_MS, and an opening no connection. A
     * lock that always answers so has it in each beginning. */
    premise_check(fits || r->store != REFUSAL_ZOOKEEPER || (st != DLOCK_UNKNOWN && st != DLOCK_IO),
                  "ZooKeeper answers in time", __FILE__, __LINE__);
    if (!fits)
        fail_msg("%s answered %s after \"%s\"%s: %s", call, dlock_status_id(st), r->row->code,
                 r->cuts ? " on a new connection" : "", dlock_error());
}

static void refuse(const struct refused *r)
{
    refuser_refuse(r->row, r->cuts);
}

static void *pass_later(void *arg)
{
    rig_pause_ms(AWAY_MS);
    refuser_pass();
    return arg;
}

/* What has no answer from the store that counts: the calls beside the hold, and an opening. */
static void try_calls(const struct refused *r, const char *name, dlock_lease *held)
{
    dlock_system *sys = NULL;
    dlock_lease lease;
    dlock_info info;

    if (r->caps & DLOCK_CAP_RENEW) {
        check(r, "renew", dlock_renew(r->sys, held));
        assert_true(dlock_lease_valid(r->sys, held));
    }
    check(r, "inspect", dlock_inspect(r->sys, name, &info));
    check(r, "force", dlock_force_release(r->sys, name));
    check(r, "acquire", dlock_acquire(r->sys, rig_name(), 0, &lease));
    if (r->store != REFUSAL_ETCD || strcmp(r->row->code, "7") != 0) {
        check(r, "open", dlock_open(&sys, &r->opts));
        assert_null(sys);
    } /* an etcd that denies the opening's key may have given the keys of the locks */
}

/* A release is repeated until it is not refused, if the lock has a lease: without one, the end of
 * the session frees the lock. */
static void try_release(const struct refused *r, const char *name, dlock_lease *held)
{
    bool lasts = r->row->meaning == REFUSAL_LASTS;
    pthread_t later;
    dlock_status st;

    if (lasts) {
        st = dlock_release(r->sys, held);
        refuser_pass();
    } else {
        assert_int_equal(0, pthread_create(&later, NULL, pass_later, NULL));
        st = dlock_release(r->sys, held);
        pthread_join(later, NULL);
    }
    if ((r->caps & DLOCK_CAP_EXPIRES) && lasts)
        check(r, "release", st);
    if ((r->caps & DLOCK_CAP_EXPIRES) && r->row->meaning == REFUSAL_PASSES) {
        if (st != DLOCK_OK)
            fail_msg("release answered %s after \"%s\": %s", dlock_status_id(st), r->row->code,
                     dlock_error());
        assert_status(OK, rig_try(r->other, name));
    }
    assert_comes(!dlock_is_failure(dlock_force_release(r->other, name)));
}

/* A wait for ever ends if the refusal lasts. Otherwise it goes on until the store accepts. */
static void try_wait(const struct refused *r)
{
    bool lasts = r->row->meaning == REFUSAL_LASTS;
    struct rig_helper *helper;

    refuse(r);
    helper = rig_helper_start(r->sys, rig_name(), lasts ? FOR_EVER : WAIT_MS);
    if (lasts) {
        assert_comes(rig_helper_is_done(helper));
        check(r, "a wait", rig_helper_acquired(helper));
    } else {
        assert_stays(!rig_helper_is_done(helper), AWAY_MS);
    }
    refuser_pass();
    if (!lasts)
        assert_status(OK, rig_helper_acquired(helper));
    (void)rig_helper_finish(helper);
}

static void try_row(const struct refused *r)
{
    const char *name = rig_name();
    dlock_lease lease;

    assert_comes(rig_try(r->sys, rig_name()) == DLOCK_OK);
    assert_comes(dlock_acquire(r->sys, name, 0, &lease) == DLOCK_OK);
    refuse(r);
    try_calls(r, name, &lease);
    try_release(r, name, &lease);
    assert_comes(rig_try(r->sys, rig_name()) == DLOCK_OK);
    try_wait(r);
}

static void try_rows(const char *variant, enum refusal meaning)
{
    struct refused r;

    begin(&r, variant);
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        bool is_proxy = ROWS[i].store == REFUSAL_HTTP && r.store == REFUSAL_ETCD;

        if ((ROWS[i].store != r.store && !is_proxy) || ROWS[i].meaning != meaning)
            continue;
        r.row = &ROWS[i];
        r.cuts = false;
        try_row(&r);
        r.cuts = true;
        if ((r.caps & DLOCK_CAP_EXPIRES) && r.store != REFUSAL_ETCD)
            try_row(&r);
    }
}

void a_refusal_that_passes_is_waited_for(const char *variant)
{
    try_rows(variant, REFUSAL_PASSES);
}

void a_refusal_without_a_decision_is_waited_for(const char *variant)
{
    try_rows(variant, REFUSAL_UNDECIDED);
}

void a_refusal_that_lasts_ends_every_call(const char *variant)
{
    try_rows(variant, REFUSAL_LASTS);
}
