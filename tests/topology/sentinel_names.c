/* SPDX-License-Identifier: MIT */
/* sentinel_names.c -- a Sentinel that names the master by a host name whose resolution takes
 * long. */
#include "tests/registered.h"
#include "tests/topology/fake_servers.h"

#include <dlfcn.h>
#include <netdb.h>

#include "base/os/clock.h"
#include "lock/stores/redis_request.h"
#include "tests/unit/awaited.h"

enum { TIMEOUT_MS = 300, PATIENCE_MS = 30000 };

#define MASTER "master.example"

static atomic_int resolving_count;
static atomic_bool may_resolve;

/* The library calls this function in place of the C library's. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **out)
{
    int (*resolve)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

    *(void **)&resolve = dlsym(RTLD_NEXT, "getaddrinfo");
    if (strcmp(node, MASTER) != 0)
        return resolve(node, service, hints, out);
    atomic_fetch_add(&resolving_count, 1);
    while (!atomic_load(&may_resolve))
        poll(NULL, 0, 1);
    return resolve("127.0.0.1", service, hints, out);
}

/* fakes[0] is the Sentinel, and fakes[1] the master. */
static int set_up(void **state)
{
    char text[128];

    (void)state;
    atomic_store(&resolving_count, 0);
    atomic_store(&may_resolve, false);
    for (int i = 0; i < 2; i++)
        start(&fakes[i]);
    say(&fakes[0], ON_EPOCH, "*4\r\n$4\r\nname\r\n$4\r\nshop\r\n$12\r\nconfig-epoch\r\n"
                             "$1\r\n1\r\n");
    snprintf(text, sizeof(text), "*2\r\n$%zu\r\n%s\r\n$5\r\n%05d\r\n", strlen(MASTER), MASTER,
             fakes[1].port);
    say(&fakes[0], ON_ADDRESS, text);
    say(&fakes[1], ON_ROLE, "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n");
    say(&fakes[1], ON_ANYTHING, "+PONG\r\n");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        stop(&fakes[i]);
    return 0;
}

struct call {
    struct redis_link *link;
    pthread_t thread;
    dlock_status st;
    atomic_bool has_ended;
};

static void *ping(void *arg)
{
    struct call *call = arg;

    call->st = redis_ping(call->link);
    atomic_store(&call->has_ended, true);
    return NULL;
}

static void begin(struct call *call, struct redis_link *link)
{
    call->link = link;
    atomic_store(&call->has_ended, false);
    assert_int_equal(0, pthread_create(&call->thread, NULL, ping, call));
}

TEST_WITH(set_up, tear_down, other_calls_end_while_the_name_is_resolved)
{
    struct redis_link *link;
    struct call first, second;
    char url[64];

    snprintf(url, sizeof(url), "redis-sentinel://127.0.0.1:%d/shop", fakes[0].port);
    assert_int_equal(DLOCK_OK, redis_link_open(&link, url, TIMEOUT_MS, false));
    begin(&first, link);
    assert_comes(atomic_load(&resolving_count) > 0);
    begin(&second, link);
    assert_comes(atomic_load(&second.has_ended));
    assert_false(atomic_load(&first.has_ended));
    atomic_store(&may_resolve, true);
    pthread_join(first.thread, NULL);
    pthread_join(second.thread, NULL);
    assert_int_equal(DLOCK_IO, second.st);
    assert_comes(redis_ping(link) == DLOCK_OK);
    redis_link_close(link);
}
