/* SPDX-License-Identifier: MIT */
/* laws_names.c -- one name is one lock. */
#include <stdio.h>
#include <string.h>

#include "tests/conformance/laws.h"

enum {
    MANY = 1000,
    MANY_SESSIONS = 6,
    PAIR_SIZE = DLOCK_NAME_MAX + 1,
};

static void meet_nowhere(dlock_system *sys, const char *one, const char *other)
{
    dlock_lease first;
    dlock_lease second;

    assert_status(OK, dlock_acquire(sys, one, 0, &first));
    assert_status(OK, dlock_acquire(sys, other, 0, &second));
    assert_status(OK, dlock_release(sys, &second));
    assert_true(dlock_lease_valid(sys, &first));
    assert_status(BUSY, rig_try_elsewhere(sys, one));
    assert_status(OK, dlock_release(sys, &first));
}

void tells_names_apart(const char *variant)
{
    static const char *const ends[][2] = {
        {"a", "A"},     {"a", "a "},       {"a", "a\xc2\xa0"}, {"a b", "a  b"},
        {"1", "01"},    {"\xc3\xa9", "e"}, {"\xff", "\xfe"},   {"{a}b", "{a}c"},
        {"a:1", "a:11"}, {"\\n", "n"},     {"%", "_"},         {"*", "x"},
    };
    dlock_options opts = rig_options(variant);
    dlock_system *sys = rig_open(&opts);
    static dlock_lease leases[MANY];
    int many = rig_caps(variant) & DLOCK_CAP_SESSION ? MANY_SESSIONS : MANY;
    const char *base = rig_name();
    int64_t begun_ms;
    int held = 0;
    char other[PAIR_SIZE];
    char one[PAIR_SIZE];

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        snprintf(one, sizeof(one), "%s:%s", base, ends[i][0]);
        snprintf(other, sizeof(other), "%s:%s", base, ends[i][1]);
        meet_nowhere(sys, one, other);
    }
    /* Names of the greatest length, which differ in the last byte only. */
    memset(one, 'n', DLOCK_NAME_MAX);
    memcpy(one, base, strlen(base));
    one[DLOCK_NAME_MAX] = '\0';
    strcpy(other, one);
    other[DLOCK_NAME_MAX - 1] = 'm';
    meet_nowhere(sys, one, other);
    /* As many as the machine takes before a third of the first lease is over, since their releases
     * take as long. */
    begun_ms = rig_now_ms();
    while (held < many && rig_now_ms() - begun_ms < opts.lease_ms / 3) {
        snprintf(one, sizeof(one), "%s:%d", base, held);
        assert_status(OK, dlock_acquire(sys, one, 0, &leases[held++]));
    }
    for (int i = 0; i < held; i++)
        assert_status_provided(rig_now_ms() - begun_ms < opts.lease_ms, OK,
                               dlock_release(sys, &leases[i]));
}
