/* SPDX-License-Identifier: MIT */
/* link_post.c -- posts: commands for whose answer no thread waits. */
#include "base/os/clock.h"
#include "base/os/scratch.h"
#include "base/redis/link.h"
#include "base/redis/link_inside.h"
#include "base/redis/post.h"

bool redis_link_post(struct redis_link *asked, const struct redis_command *command,
                     struct redis_post *post)
{
    DLOCK_SCRATCH struct redis_written written;
    DLOCK_SCRATCH char why[REDIS_WHY_SIZE];
    struct redis_link *link = asked;
    bool is_queued;

    if (asked->router != NULL)
        link = asked->router->pick(asked->routes, command, 0, why);
    if (link == NULL || !redis_command_write(&written, command))
        return false;
    post->leg.link = link;
    post->leg.despite_failure = post->leg.unawaited = post->leg.asking = false;
    post->leg.shape = command->shape;
    post->trip = (struct redis_request_leg){.leg = &post->leg};
    ++*redis_commands_here();
    redis_link_group_lock(link->group);
    is_queued = (link->is_ready || link->pause_ms == 0) &&
                redis_queue_add(&link->queue, &post->trip, written.bytes, written.len,
                                dlock_clock_ns());
    redis_link_group_unlock(link->group);
    redis_written_free(&written);
    return is_queued;
}

bool redis_link_push(struct redis_link *link)
{
    bool is_left;

    if (link->router != NULL)
        return link->router->push(link->routes);
    redis_link_group_lock(link->group);
    redis_link_send_now(link);
    is_left = !link->is_ready && redis_queue_count(&link->queue) > 0;
    redis_link_group_unlock(link->group);
    return !is_left;
}

bool redis_link_has_requests(struct redis_link *link)
{
    bool has_requests;

    redis_link_group_lock(link->group);
    has_requests = redis_queue_count(&link->queue) > 0;
    redis_link_group_unlock(link->group);
    return has_requests;
}
