/* SPDX-License-Identifier: MIT */
/* admin_locks.c -- shows the state of one lock to an operator, and frees it by force. */
#include <inttypes.h>
#include <string.h>

#include "app/handlers.h"
#include "base/text/log.h"
#include "lock/status.h"
#include "lock/system.h"

/* Answer with the failure of the lock library. */
static void refuse(const struct request *rq, struct answer *an, dlock_status st)
{
    if (st == DLOCK_INVALID)
        answer_outcome(rq, an, FACE_API, OUTCOME_BAD_REQUEST, dlock_error());
    else if (st == DLOCK_UNSUPPORTED)
        answer_status(rq, an, FACE_API, OUTCOME_UNAVAILABLE, 501, dlock_error());
    else
        answer_outcome(rq, an, FACE_API, st == DLOCK_UNKNOWN ? OUTCOME_UNKNOWN
                                                             : OUTCOME_UNAVAILABLE, dlock_error());
}

static void begin(const struct request *rq, struct answer *an)
{
    an->outcome = OUTCOME_ACCEPTED;
    answer_json(an, 200);
    text_add(an->body, "{\"name\":");
    text_add_json(an->body, rq->word);
    text_add(an->body, ",\"lock\":\"%s\"", rq->service->config->lock);
}

/* Write a number; null: it is not known. */
static void add_number(struct answer *an, const char *key, int64_t value)
{
    if (value < 0 || value == INT64_MAX)
        text_add(an->body, ",\"%s\":null", key);
    else
        text_add(an->body, ",\"%s\":%" PRId64, key, value);
}

/* Write the first waiter in the queue, and whether a client listens for its turn. */
static void add_next(struct answer *an, const dlock_info *info)
{
    text_add(an->body, ",\"next\":{\"owner\":");
    text_add_json(an->body, info->next_owner);
    add_number(an, "leftMs", info->next_left_ms);
    text_add(an->body, ",\"isGone\":%s}", info->next_is_gone ? "true" : "false");
}

void admin_lock_show(const struct request *rq, struct answer *an)
{
    dlock_info info;
    dlock_status st = dlock_inspect(rq->service->locks, rq->word, &info);

    if (st != DLOCK_OK) {
        refuse(rq, an, st);
        return;
    }
    begin(rq, an);
    text_add(an->body, ",\"locked\":%s,\"shared\":%s,\"owner\":",
             info.locked ? "true" : "false", info.shared ? "true" : "false");
    text_add_json(an->body, info.owner[0] != '\0' ? info.owner : NULL);
    add_number(an, "holdCount", info.hold_count);
    add_number(an, "readerCount", info.reader_count);
    add_number(an, "waiterCount", info.waiter_count);
    add_number(an, "leftMs", info.left_ms);
    text_add(an->body, ",\"endsByItself\":%s",
             info.locked && info.left_ms == INT64_MAX ? "false" : "true");
    if (info.fence != 0)
        text_add(an->body, ",\"fence\":\"%" PRIu64 "\"", info.fence);
    if (info.next_owner[0] != '\0')
        add_next(an, &info);
    /* If this process holds the lock, the owner in the store begins with this UUID. */
    text_add(an->body, ",\"system\":\"%s\"}\n", rq->service->locks->uuid);
}

void admin_lock_force(const struct request *rq, struct answer *an)
{
    bool is_ours = strncmp(rq->word, "lock:", strlen("lock:")) == 0;
    dlock_status st = is_ours ? dlock_force_release(rq->service->locks, rq->word)
                              : dlock_fail(DLOCK_INVALID, "our locks begin with \"lock:\"");

    log_warn("an operator's request to free %s: %s", rq->word, dlock_status_text(st));
    if (st != DLOCK_OK && st != DLOCK_LOST) {
        refuse(rq, an, st);
        return;
    }
    begin(rq, an);
    text_add(an->body, ",\"freed\":%s}\n", st == DLOCK_OK ? "true" : "false");
}
