/* SPDX-License-Identifier: MIT */
/* router.h -- the functions of a link that stands for several servers and passes each
 * command to the link of one of them. cluster_links.c implements them for a Redis
 * Cluster.
 *
 * Only for base/redis/.
 *
 * Threads     Any, and fibers. */
#ifndef BASE_REDIS_ROUTER_H
#define BASE_REDIS_ROUTER_H

#include "base/redis/leg.h"
#include "base/redis/outcome.h"

/* `routes` is the state behind the link. */
struct redis_router {
    /* As redis_exchange() with one leg, whose link is the routed one. */
    void (*exchange)(void *routes, struct redis_leg *leg, const struct redis_command *command,
                     int64_t give_up_ns);
    /* The link of the server that the command is for.  NULL: `why` says why there is none. */
    struct redis_link *(*pick)(void *routes, const struct redis_command *command,
                               int64_t give_up_ns, char why[REDIS_WHY_SIZE]);
    /* After the exchange with `picked`: return the link of the server that a redirect
     * leads to.  NULL: the answer is no redirect, or leads to no server, and `answer`
     * then has the reason.  *asking: ASKING has to be sent to that server first.  Waits, at
     * most until give_up_ns, for the news of a fail-over that may be behind the redirect. */
    struct redis_link *(*pick_again)(void *routes, const struct redis_command *command,
                                     int64_t give_up_ns, struct redis_link *picked,
                                     struct redis_answer *answer, bool *asking);
    /* As redis_link_push() and redis_link_cut(), for all servers. */
    bool (*push)(void *routes);
    void (*cut)(void *routes);
    /* As redis_link_key_era(); a NULL key: of all servers. */
    uint64_t (*era)(void *routes, const char *key);
    /* As redis_link_script_text(); the text lives until the close. */
    const char *(*script_text)(void *routes, const char *text);
    void (*close)(void *routes);
};

/* Make a link of this router; closing the link calls the router's close().  NULL: no
 * memory, and close() was not called. */
struct redis_link *redis_link_new_routed(const struct redis_router *router, void *routes,
                                         const char *label);

/* Make `link` the link of one server of a router.  The router follows the redirects of
 * this server, so a redirect is NOT_DONE and not PROTOCOL. When a request has had no
 * answer for REDIS_LATE_MS, and every second after that, `late` is called, because
 * another server may have taken the place of this one.  `late` must not wait, nor use a
 * link.  Must come before any thread uses the link. */
enum { REDIS_LATE_MS = 200 };
void redis_link_route(struct redis_link *link, void (*late)(void *arg), void *arg);

#endif /* BASE_REDIS_ROUTER_H */
