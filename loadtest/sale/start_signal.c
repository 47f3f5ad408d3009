/* SPDX-License-Identifier: MIT */
/* start_signal.c -- the start signal: all clients of a run fire in the same moment. */
#include "loadtest/sale/start_signal.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "base/text/version.h"
#include "loadtest/lab/urls.h"

enum { TIMEOUT_MS = 10000 };

/* Beside this program, or installed. */
static bool find_library(char *out)
{
    void *library = NULL;

    files_sibling(out, SECKILL_LIBRARY);
    if (access(out, R_OK) == 0)
        return true;
    strcpy(out, SECKILL_LIBRARY);
    library = dlopen(out, RTLD_LAZY | RTLD_LOCAL);
    if (library)
        dlclose(library);
    return library != NULL;
}

bool start_signal_make(struct start_signal *start_signal, const struct lab *lab, int count)
{
    char url[LAB_URL_MAX];
    dlock_status st;

    *start_signal = (struct start_signal){0};
    if (!find_library(start_signal->lock_library)) {
        eprintf("seckill: no start signal: %s is neither beside seckill nor where "
                        "ldconfig looks\n", SECKILL_LIBRARY);
        return false;
    }
    snprintf(start_signal->name, sizeof start_signal->name, "seckill:start:%d:%" PRId64,
             (int)getpid(),
             monotonic_ns());
    lab_store_url(lab, DLOCK_STORE_REDIS, NULL, url);
    st = dlock_primitives_open(&start_signal->prims, url, TIMEOUT_MS);
    if (st == DLOCK_OK)
        st = dlock_latch_set(start_signal->prims, start_signal->name, count);
    if (st == DLOCK_OK)
        return true;
    eprintf("seckill: no start signal: %s: %s\n", dlock_status_text(st), dlock_error());
    start_signal_remove(start_signal);
    return false;
}

void start_signal_remove(struct start_signal *start_signal)
{
    if (start_signal->prims)
        (void)dlock_latch_delete(start_signal->prims, start_signal->name); /* if a process
                                                                            * never came
                                                                            */
    dlock_primitives_close(start_signal->prims);
    start_signal->prims = NULL;
}

void start_signal_read(const struct control *control, struct start_times *out)
{
    int64_t last_ns = 0;

    *out = (struct start_times){0};
    for (int i = 1; control->page && i <= CONTROL_THREADS_MAX; i++) {
        int64_t at_ns = control_of(control, i, CONTROL_FIRED_NS);

        if (at_ns == 0)
            continue;
        out->fired++;
        out->by_signal += control_of(control, i, CONTROL_BY_SIGNAL) != 0;
        if (out->first_ns == 0 || at_ns < out->first_ns)
            out->first_ns = at_ns;
        if (at_ns > last_ns)
            last_ns = at_ns;
    }
    out->spread_ms = (double)(last_ns - out->first_ns) / 1e6;
}
