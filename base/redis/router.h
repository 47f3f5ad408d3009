/* SPDX-License-Identifier: MIT */
/* router.h -- a link that stands for several servers, and leaves each command to the link of one of
 * them: what such a link is made of.  cluster_links.c has the one of a Redis Cluster.
 *
 * Only for this room.
 *
 * Threads     Any, and fibers. */
#ifndef BASE_REDIS_ROUTER_H
#define BASE_REDIS_ROUTER_H

#include "base/redis/leg.h"
#include "base/redis/outcome.h"

/* `routes` is the state behind the link. */
struct redis_router {
    /* As redis_exchange() with one leg, whose link is the one that stands for all. */
    void (*exchange)(void *routes, struct redis_leg *leg, const struct redis_command *command,
                     int64_t give_up_ns);
    /* The link of the server that the command is for.  NULL: `why` says why there is none. */
    struct redis_link *(*pick)(void *routes, const struct redis_command *command,
                               int64_t give_up_ns, char why[REDIS_WHY_SIZE]);
    /* The server behind `picked` has answered the command, or not: the link of the server that a
     * redirect leads to.  NULL: the answer is no redirect, or leads to no server, which `answer`
     * says then.  *asking: that server has to be told ASKING before. */
    struct redis_link *(*pick_again)(void *routes, const struct redis_command *command,
                                     struct redis_link *picked, struct redis_answer *answer,
                                     bool *asking);
    /* As redis_link_push() and redis_link_cut(), for all of them. */
    bool (*push)(void *routes);
    void (*cut)(void *routes);
    /* As redis_link_era(); NULL for the key: of all of them. */
    uint64_t (*era)(void *routes, const char *key);
    /* A script as these servers have to get it, kept until the close.  NULL: no memory. */
    const char *(*script_text)(void *routes, const char *text);
    void (*close)(void *routes);
};

/* A link by that router, which it closes.  NULL: no memory, and nothing was closed. */
struct redis_link *redis_link_new_routed(const struct redis_router *router, void *routes,
                                         const char *label);

/* Make `link` one of a router's.  Redirects of its server are for the router to follow, so that they
 * are NOT_DONE and not PROTOCOL.  `late` is called when a request has had no answer for
 * REDIS_LATE_MS, and every second while that lasts: another server may have its place by now.  The call must not wait, nor use a link.
 * Before any thread uses the link. */
enum { REDIS_LATE_MS = 200 };
void redis_link_route(struct redis_link *link, void (*late)(void *arg), void *arg);

#endif /* BASE_REDIS_ROUTER_H */
