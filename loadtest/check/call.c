/* SPDX-License-Identifier: MIT */
/* call.c -- the meaning of a call's answer, and of a call without an answer. */
#include "loadtest/check/checks/checks.h"

bool check_may_be_done(const struct check *c, const struct history_call *call)
{
    return check_is_ok(c, call) || check_is_open(c, call);
}

bool check_was_granted_too_late(const struct history_call *call)
{
    return call->deadline_ns > 0 && call->deadline_ns <= call->answer_ns;
}

int64_t check_lasting_ns(const struct history_call *call)
{
    int64_t way_ns = call->answer_ns - check_sent_ns(call);

    return check_plus(call->deadline_ns, greatest(way_ns, 0));
}

bool check_is_ghost(const struct check *c, const struct history_call *call)
{
    bool is_refused = call->status == DLOCK_BUSY || call->status == DLOCK_TIMEOUT;

    if (call->kind != DLOCK_EVENT_ACQUIRE || call->invoke_ns >= c->end_ns)
        return false;
    if (check_is_open(c, call))
        return true;
    return is_refused && (check_was_granted_too_late(call) ||
                          (call->wait_ns != 0 && c->first_fault_ns <= call->answer_ns));
}

int64_t check_answer_ns(const struct check *c, const struct history_call *call)
{
    return check_is_answered(c, call) ? call->answer_ns
                                      : c->h->processes[call->process].last_ns;
}

int64_t check_lease_ns(const struct check *c, const struct history_call *call)
{
    return call->lease_ns > 0 ? call->lease_ns : c->h->processes[call->process].lease_ns;
}

int64_t check_sent_ns(const struct history_call *call)
{
    return call->sent_ns > 0 ? call->sent_ns : call->invoke_ns;
}

enum check_order check_order_calls(const struct history_call *first,
                                   const struct history_call *next)
{
    enum check_order order = check_order(first->answer_ns, next->invoke_ns);
    bool is_same_owner = first->process == next->process && first->owner == next->owner;

    if (order != CHECK_TIED || !is_same_owner)
        return order;
    /* Of two that took no time at all the order is that of the records. */
    return first < next || next->answer_ns > next->invoke_ns ? CHECK_BEFORE : CHECK_AFTER;
}
