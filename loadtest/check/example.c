/* SPDX-License-Identifier: MIT */
/* example.c -- the calls and marks that show a violation, the call that broke the rule, and
 * texts. */
#include "loadtest/check/example.h"

#include "base/os/clock.h"

double example_ms(int64_t ns)
{
    return (double)ns / (double)DLOCK_NS_PER_MS;
}

void example_name(char out[EXAMPLE_NAME_MAX], const struct history *h, uint32_t name)
{
    utf8_show(h->names[name], out, EXAMPLE_NAME_MAX);
}

const char *example_answer(const struct history_call *call)
{
    return call->is_answered ? dlock_status_id(call->status) : "no answer";
}

static bool is_actor(const struct history *h, const struct check_example *example,
                     const struct history_call *call)
{
    for (size_t i = 0; i < example->actor_count; i++) {
        const struct history_call *actor = &h->calls[example->actors[i]];

        if (actor->process == call->process && actor->owner == call->owner &&
            actor->name == call->name)
            return true;
    }
    return false;
}

static bool is_cause(const struct history *h, const struct check_example *example,
                     const struct history_call *call)
{
    return example->cause >= 0 && call == &h->calls[example->cause];
}

int64_t example_culprit(size_t property, const struct check_example *example)
{
    if (example->actor_count == 0)
        return -1;
    return (int64_t)example->actors[property == CHECK_refusal ? 0
                                                              : example->actor_count - 1];
}

int64_t example_victim(size_t property, const struct check_example *example)
{
    if (example->actor_count < 2)
        return -1;
    return (int64_t)example->actors[property == CHECK_refusal ? 1 : 0];
}

bool example_shows(const struct history *h, const struct check_example *example,
                   const struct history_call *call)
{
    return call->name == example->name && call->invoke_ns <= example->to_ns &&
           call->answer_ns >= example->from_ns &&
           (is_actor(h, example, call) || is_cause(h, example, call));
}

bool example_shows_mark(const struct check_example *example,
                        const struct history_mark *mark)
{
    return mark->at_ns >= example->from_ns && mark->at_ns <= example->to_ns &&
           (mark->kind == DLOCK_EVENT_FAULT ||
            (mark->kind == DLOCK_EVENT_LOST && mark->name == example->name));
}
