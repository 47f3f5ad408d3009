/* SPDX-License-Identifier: MIT */
/* refusals.c -- the calls that the asynchronous interface refuses, and the variants that have an
 * asynchronous interface. */
#include <string.h>

#include "tests/async/rig.h"
#include "tests/conformance/forked.h"

/* ---- what is refused ---- */

static void wrong_arguments_are_refused_at_once(void)
{
    dlock_request request = {.size = 3};
    static struct async_answer answer;
    dlock_async *second = NULL;
    dlock_lease none = {.hold = 0};

    async_open();
    assert_status(INVALID, dlock_async_open(&second, async_sys, 0));
    assert_null(second);
    assert_status(INVALID,
                  dlock_async_acquire(async_it, "", NULL, NULL, async_note, &answer, NULL));
    assert_status(INVALID, dlock_async_acquire(async_it, "a", NULL, NULL, NULL, NULL, NULL));
    assert_status(INVALID, dlock_async_acquire(async_it, "a", &request, NULL, async_note, &answer,
                                               NULL));
    request = (dlock_request){.shared = true};
    assert_status(UNSUPPORTED, dlock_async_acquire(async_it, "a", &request, NULL, async_note,
                                                   &answer, NULL));
    assert_status(INVALID, async_submit(dlock_async_release, NULL, &answer));
    assert_status(INVALID, async_release(&none));
    assert_int_equal(0, atomic_load(&answer.count));
    if (async_has_thread) {
        assert_int_equal(-1, dlock_poll(async_it, 0));
        assert_int_equal(-1, dlock_async_fd(async_it));
    } else {
        assert_true(dlock_async_fd(async_it) >= 0);
    }
    assert_status(INVALID, dlock_async_open(&second, async_sys, 1u << 30));
    assert_status(INVALID, dlock_async_open(NULL, async_sys, 0));
    assert_status(INVALID, dlock_async_open(&second, NULL, 0));
    assert_null(second);
}

static int use_inherited(void *data)
{
    const dlock_lease *lease = data;
    bool refused = dlock_poll(async_it, 0) == -1 &&
                   dlock_async_release(async_it, lease, NULL, NULL) == DLOCK_INVALID &&
                   dlock_async_cancel(async_it, 1) == DLOCK_INVALID &&
                   dlock_async_close(async_it) == DLOCK_INVALID;

    return refused ? 0 : 1;
}

static void a_forked_child_is_refused(void)
{
    static struct async_answer answer;

    async_open();
    assert_status(OK, async_acquire(rig_name(), 0, &answer));
    assert_int_equal(0, forked_answer(use_inherited, &answer.lease));
    assert_status(OK, async_release(&answer.lease));
}

/* ---- variants ---- */

static bool is_blocking(const char *store)
{
    return strcmp(store, "postgresql") == 0 || strcmp(store, "zookeeper") == 0 ||
           strcmp(store, "etcd") == 0;
}

static void use_variant(const dlock_variant_info *info)
{
    const char *name = rig_name();
    static struct async_answer held, other, renewed;

    async_opts = rig_options(info->name);
    async_open();
    assert_status(OK, async_acquire(name, 0, &held));
    if (info->caps & DLOCK_CAP_LOCAL)
        assert_status(BUSY, async_acquire(name, 0, &other));
    if (info->caps & DLOCK_CAP_RENEW) {
        assert_status(OK, async_submit(dlock_async_renew, &held.lease, &renewed));
        assert_status(OK, async_wait(&renewed));
    }
    if (info->caps & DLOCK_CAP_LOCAL)
        async_ask(name, -1, &other);
    async_drive();
    assert_status(OK, async_release(&held.lease));
    if (info->caps & DLOCK_CAP_LOCAL) {
        assert_status(OK, async_wait(&other));
        assert_status(OK, async_release(&other.lease));
    }
    async_close();
}

static void every_variant_without_a_blocking_client_works(void)
{
    for (size_t i = 0; i < dlock_variant_count(); i++) {
        const dlock_variant_info *info = dlock_variant_at(i);

        if (!is_blocking(info->store))
            use_variant(info);
    }
}

static void blocking_clients_are_unsupported(void)
{
    int count = 0;

    for (size_t i = 0; i < dlock_variant_count(); i++) {
        const dlock_variant_info *info = dlock_variant_at(i);
        dlock_async *none = NULL;
        dlock_options opts;

        if (!is_blocking(info->store))
            continue;
        opts = rig_options(info->name);
        assert_status(UNSUPPORTED, dlock_async_open(&none, rig_open(&opts), 0));
        assert_null(none);
        assert_non_null(strstr(dlock_error(), info->name));
        rig_close_systems();
        count++;
    }
    assert_true(count >= 6);
}

struct async_test async_refusals_tests[] = {
    ASYNC_TEST(wrong_arguments_are_refused_at_once),
    ASYNC_TEST(a_forked_child_is_refused),
    ASYNC_TEST(every_variant_without_a_blocking_client_works),
    ASYNC_TEST(blocking_clients_are_unsupported),
    {.name = NULL},
};
