/* SPDX-License-Identifier: MIT */
/* rig.c -- the systems of the variant under test, and a try that is repeated on a slow machine. */
#include "tests/liar/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four headers above. */
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/liar/servers.h"

enum { TIMEOUT_MS = 2000, PATIENCE_MS = 20000, SILENCE_MS = 1000, PAUSE_US = 1000 };

struct store stores[] = {
    {"redis", "SECKILL_REDIS_URL", "", NULL, redis_server_start, redis_server_stop,
     redis_lies, redis_is_grant},
    {"postgresql", "SECKILL_DATABASE_URL", "", NULL, postgres_server_start,
     postgres_server_stop, postgres_lies, postgres_is_grant},
    {"etcd", "SECKILL_ETCD_URL", "", NULL, etcd_server_start, etcd_server_stop, etcd_lies,
     etcd_is_grant},
    {"zookeeper", NULL, "", NULL, zookeeper_server_start, zookeeper_server_stop, zookeeper_lies,
     zookeeper_is_grant},
};

bool rig_start_servers(void)
{
    bool ok = true;

    for (size_t i = 0; i < STORE_COUNT; i++) {
        const char *variable = stores[i].real_variable;

        snprintf(stores[i].real_url, sizeof(stores[i].real_url), "%s%s",
                 variable != NULL ? getenv(variable) : "127.0.0.1:2",
                 strcmp(stores[i].name, "redis") == 0 ? "/1" : "");
        stores[i].url = stores[i].start(stores[i].real_url);
        ok = ok && stores[i].url != NULL;
    }
    return ok;
}

void rig_stop_servers(void)
{
    for (size_t i = 0; i < STORE_COUNT; i++)
        stores[i].stop();
}

struct store *rig_store_of(const char *variant)
{
    const char *name = dlock_variant_find(variant)->store;

    for (size_t i = 0; i < STORE_COUNT; i++)
        if (strncmp(name, stores[i].name, strlen(stores[i].name)) == 0)
            return &stores[i];
    return NULL;
}

static unsigned drawn;

const char *rig_new_name(void)
{
    static char name[48];

    snprintf(name, sizeof(name), "liar:%d:%u", (int)getpid(), drawn++);
    return name;
}

dlock_options rig_options(const struct subject_of_lies *of, const struct store *liar)
{
    const struct store *redis = &stores[REDIS], *postgres = &stores[POSTGRES];
    const struct store *etcd = &stores[ETCD], *zookeeper = &stores[ZOOKEEPER];
    dlock_options opts = dlock_options_default();

    opts.variant = of->variant;
    opts.redis_url = opts.redlock_urls = liar == redis ? redis->url : redis->real_url;
    if (of->has_epochs || of->liar == postgres)
        opts.database_url = liar == postgres ? postgres->url : postgres->real_url;
    opts.etcd_url = liar == etcd ? etcd->url : etcd->real_url;
    opts.zookeeper_url = liar == zookeeper ? zookeeper->url : zookeeper->real_url;
    opts.watchdog = false;
    opts.redis_timeout_ms = opts.redlock_node_timeout_ms = TIMEOUT_MS;
    opts.database_timeout_ms = TIMEOUT_MS;
    opts.etcd_timeout_ms = TIMEOUT_MS;
    opts.zookeeper_timeout_ms = SILENCE_MS;
    return opts;
}

int64_t rig_now_ms(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Open a system while its server answers correctly. */
static dlock_system *open_system(const struct subject_of_lies *of, const struct store *liar)
{
    dlock_options opts = rig_options(of, liar);
    int64_t give_up_ms = rig_now_ms() + PATIENCE_MS;
    dlock_system *sys = NULL;

    while (dlock_open(&sys, &opts) != DLOCK_OK) {
        if (rig_now_ms() > give_up_ms)
            fail_msg("%s: %s", of->name, dlock_error());
        usleep(PAUSE_US);
    }
    return sys;
}

void rig_begin(struct rig *rig, const struct subject_of_lies *of)
{
    rig->of = of;
    script_be_honest(); /* the last wrong answer may not have been sent */
    rig->other = open_system(of, NULL);
    rig->sys = open_system(of, of->liar);
}

void rig_end(struct rig *rig)
{
    dlock_close(rig->sys);
    dlock_close(rig->other);
}

void rig_take_free(dlock_system *sys, const char *name, dlock_lease *lease)
{
    int64_t give_up_ms = rig_now_ms() + PATIENCE_MS;

    while (dlock_acquire(sys, name, 0, lease) != DLOCK_OK) {
        if (rig_now_ms() > give_up_ms)
            fail_msg("a free lock is refused: %s", dlock_error());
        usleep(PAUSE_US);
    }
}

void rig_assert_works(dlock_system *sys)
{
    dlock_lease lease;

    script_be_honest();
    rig_take_free(sys, rig_new_name(), &lease);
    (void)dlock_release(sys, &lease);
}

bool rig_is_held(const struct rig *rig, const dlock_lease *held)
{
    return held != NULL && dlock_lease_valid(rig->other, held);
}
