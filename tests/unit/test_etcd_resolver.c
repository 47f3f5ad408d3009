/* SPDX-License-Identifier: MIT */
/* test_etcd_resolver.c -- requests to an etcd by the name of a host, while the resolver of
 * this machine does not answer.
 *
 * This file defines getaddrinfo(), which replaces the C library's, also for libcurl, and asks the
 * C library's unless a test is running. */
#include <dlfcn.h>
#include <netdb.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/os/clock.h"
#include "lock/stores/etcd_http.h"
#include "lock/stores/etcd_stream.h"
#include "tests/registered.h"

enum {
    TIMEOUT_MS = 200,
    LOOK_MS = 5,
    HANGS_MS = 20000, /* of the resolver, if nothing ends it before; no request may last so long */
};

static atomic_bool hangs, may_answer;
static atomic_int asked_count, answered_count;

static void pause_ms(int ms)
{
    dlock_clock_sleep_until(dlock_clock_after(dlock_clock_ns(), ms));
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **out)
{
    int64_t end_ns = dlock_clock_after(dlock_clock_ns(), HANGS_MS);
    int (*resolve)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

    *(void **)&resolve = dlsym(RTLD_NEXT, "getaddrinfo");
    if (!atomic_load(&hangs))
        return resolve(name, service, hints, out);
    *out = NULL;
    atomic_fetch_add(&asked_count, 1);
    while (!atomic_load(&may_answer) && dlock_clock_ns() < end_ns)
        pause_ms(LOOK_MS);
    atomic_fetch_add(&answered_count, 1);
    return EAI_AGAIN;
}

/* Make the resolver hang from now on. */
static int hang(void **state)
{
    (void)state;
    atomic_store(&hangs, true);
    atomic_store(&may_answer, false);
    atomic_store(&asked_count, 0);
    atomic_store(&answered_count, 0);
    return 0;
}

/* Let the resolver answer, and wait until all its threads have done so. */
static int let_answer(void **state)
{
    (void)state;
    atomic_store(&may_answer, true);
    while (atomic_load(&answered_count) < atomic_load(&asked_count))
        pause_ms(LOOK_MS);
    return 0;
}

static struct etcd_http *open_http(void)
{
    dlock_options opts = dlock_options_default();
    struct etcd_http *http;

    opts.etcd_url = "http://etcd.invalid:2379";
    opts.etcd_timeout_ms = TIMEOUT_MS;
    assert_int_equal(DLOCK_OK, etcd_http_open(&http, &opts));
    return http;
}

TEST_WITH(hang, let_answer, a_request_ends_before_the_resolver_answers)
{
    struct etcd_http *http = open_http();
    struct etcd_request request = {"/v3/kv/txn", "{}", INT64_MAX, false, false};
    struct etcd_reply reply;

    assert_int_equal(DLOCK_IO, etcd_http_ask(http, &request, &reply));
    assert_int_equal(0, atomic_load(&answered_count));
    etcd_http_close(http);
    assert_int_equal(0, atomic_load(&answered_count));
}

static void on_told(void *arg, const struct etcd_end *ends, size_t count, uint64_t revision)
{
    (void)arg;
    (void)ends;
    (void)count;
    (void)revision;
}

static void on_forgotten(void *arg, uint64_t revision)
{
    (void)arg;
    (void)revision;
}

TEST_WITH(hang, let_answer, a_watch_ends_before_the_resolver_answers)
{
    struct etcd_http *http = open_http();
    struct etcd_news news = {on_told, on_forgotten, NULL};
    CURLM *multi = curl_multi_init();
    struct etcd_stream *stream = etcd_stream_begin(http, multi, "name", 7, &news);
    int running = 0;

    assert_non_null(stream);
    do {
        assert_int_equal(CURLM_OK, curl_multi_perform(multi, &running));
        pause_ms(LOOK_MS);
    } while (atomic_load(&asked_count) == 0 && running > 0);
    etcd_stream_end(stream);
    assert_int_equal(0, atomic_load(&answered_count));
    (void)curl_multi_cleanup(multi);
    etcd_http_close(http);
}
