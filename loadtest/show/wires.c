/* SPDX-License-Identifier: MIT */
/* wires.c -- the proxies between the processes of the sale and Redis. */
#include "loadtest/show/wires.h"

#include <stdio.h>
#include <string.h>

#include "loadtest/kit/why.h"
#include "lock/store.h"

static bool open_one(struct show_wires *wires, const struct lab *lab, int i, char *why)
{
    char target[32], reason[PROXY_WHY_MAX], url[LAB_URL_MAX];
    const struct proxy_options options = {.target = target, .protocol = PROXY_RAW};
    struct lab_route route;
    int port;

    snprintf(target, sizeof target, "127.0.0.1:%d", lab_port(lab, LAB_REDIS, 0));
    if (!proxy_open(&wires->proxies[i], &options, reason)) {
        wires->proxies[i] = NULL;
        why_say(why, "cannot lay a wire to Redis: %s", reason);
        return false;
    }
    port = proxy_port(wires->proxies[i]);
    route = (struct lab_route){.ports = &port};
    lab_store_url(lab, DLOCK_STORE_REDIS, &route, url);
    snprintf(wires->urls[i], sizeof wires->urls[i], "%s=%s",
             dlock_store_row(DLOCK_STORE_REDIS)->environment, url);
    return true;
}

bool show_wires_open(struct show_wires *wires, const struct lab *lab, int count, char *why)
{
    for (int i = 0; i < count; i++)
        if (!wires->proxies[i] && !open_one(wires, lab, i, why))
            return false;
    return true;
}

void show_wires_close(struct show_wires *wires)
{
    for (int i = 0; i < SERVICE_MAX; i++) {
        proxy_close(wires->proxies[i]);
        wires->proxies[i] = NULL;
        wires->is_cut[i] = false;
    }
}

const char *show_wires_variable(const struct show_wires *wires, int process)
{
    return wires->urls[process];
}

bool show_wires_cut(struct show_wires *wires, int process, char *why)
{
    static const char *const holds[] = {"hold to-server", "hold to-client"};
    char reason[PROXY_WHY_MAX];

    for (int d = 0; d < 2; d++) {
        wires->holds[process][d] = proxy_arm(wires->proxies[process], holds[d], reason);
        if (wires->holds[process][d] >= 0)
            continue;
        if (d > 0)
            proxy_forget(wires->proxies[process], wires->holds[process][0]);
        why_say(why, "%s", reason);
        return false;
    }
    wires->is_cut[process] = true;
    return true;
}

void show_wires_mend(struct show_wires *wires, int process)
{
    for (int d = 1; wires->is_cut[process] && d >= 0; d--)
        proxy_forget(wires->proxies[process], wires->holds[process][d]);
    wires->is_cut[process] = false;
}
