/* SPDX-License-Identifier: MIT */
/* start_signal.c -- the starting gun: all clients of a run fire in the same moment. */
#include "loadtest/sale/start_signal.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "base/text/version.h"
#include "loadtest/lab/urls.h"

enum { TIMEOUT_MS = 10000 };

bool gun_load(struct gun *gun, const struct lab *lab, int count)
{
    char url[LAB_URL_MAX];
    dlock_status st;

    *gun = (struct gun){0};
    files_sibling(gun->library, SECKILL_LIBRARY);
    if (access(gun->library, R_OK) != 0) {
        fprintf(stderr, "seckill: no starting gun: there is no %s\n", gun->library);
        return false;
    }
    snprintf(gun->name, sizeof gun->name, "seckill:gun:%d:%" PRId64, (int)getpid(),
             monotonic_ns());
    lab_store_url(lab, DLOCK_STORE_REDIS, NULL, url);
    st = dlock_primitives_open(&gun->prims, url, TIMEOUT_MS);
    if (st == DLOCK_OK)
        st = dlock_latch_set(gun->prims, gun->name, count);
    if (st == DLOCK_OK)
        return true;
    fprintf(stderr, "seckill: no starting gun: %s: %s\n", dlock_status_text(st),
            dlock_error());
    gun_unload(gun);
    return false;
}

void gun_unload(struct gun *gun)
{
    if (gun->prims)
        (void)dlock_latch_delete(gun->prims, gun->name); /* if somebody never came */
    dlock_primitives_close(gun->prims);
    gun->prims = NULL;
}

void gun_look(const struct control *control, struct gun_start *out)
{
    int64_t last_ns = 0;

    *out = (struct gun_start){0};
    for (int i = 1; control->page && i <= CONTROL_THREADS_MAX; i++) {
        int64_t at_ns = control_of(control, i, CONTROL_FIRED_NS);

        if (at_ns == 0)
            continue;
        out->fired++;
        out->by_gun += control_of(control, i, CONTROL_BY_GUN) != 0;
        if (out->first_ns == 0 || at_ns < out->first_ns)
            out->first_ns = at_ns;
        if (at_ns > last_ns)
            last_ns = at_ns;
    }
    out->spread_ms = (double)(last_ns - out->first_ns) / 1e6;
}
