/* SPDX-License-Identifier: MIT */
/* scene.c -- the choice of lanes, holds and calls for a figure, the important ones first, as
 * long as there is room. */
#include "loadtest/kit/memory.h"
#include "loadtest/page/scene.h"

#include <stdlib.h>

enum { MARGIN_PARTS = 8 };

/* The two owners of the violation come first, then owners that may have freed another's lock. */
enum mark_rank { MARK_FAULT, MARK_OF_ACTOR, MARK_OF_OTHER, MARK_FOREIGN };
enum rank { RANK_ACTOR, RANK_RELEASE, RANK_OTHER, RANK_COUNT };

int page_scene_lane(const struct page_scene *s, uint32_t process, uint64_t owner)
{
    for (int i = 0; i < s->lane_count; i++)
        if (s->lanes[i].process == process && s->lanes[i].owner == owner)
            return i;
    return -1;
}

/* As page_scene_lane(), and makes one if there is room. */
static int need_lane(struct page_scene *s, uint32_t process, uint64_t owner)
{
    int lane = page_scene_lane(s, process, owner);

    if (lane >= 0 || s->lane_count == PAGE_LANES_MAX)
        return lane;
    s->lanes[s->lane_count] = (struct page_lane){.process = process, .owner = owner};
    return s->lane_count++;
}

static bool is_actor(const struct page_scene *s, uint32_t process, uint64_t owner)
{
    int lane = page_scene_lane(s, process, owner);

    return lane >= 0 && s->lanes[lane].is_actor;
}

static const struct hold *hold_of_call(const struct check *c, size_t call)
{
    for (size_t i = 0; i < c->hold_count; i++)
        if (c->holds[i].call == (int64_t)call)
            return &c->holds[i];
    return NULL;
}

static void add_actors(struct page_scene *s)
{
    const struct hold *holds[CHECK_ACTORS] = {NULL};

    for (size_t i = 0; i < s->example->actor_count; i++) {
        const struct history_call *call = &s->h->calls[s->example->actors[i]];
        int lane = need_lane(s, call->process, call->owner);

        s->lanes[lane].is_actor = true;
        holds[i] = hold_of_call(s->c, s->example->actors[i]);
    }
    if (holds[0] == NULL || holds[1] == NULL)
        return;
    s->both_from_ns = greatest(holds[0]->granted_ns, holds[1]->granted_ns);
    s->both_to_ns = least(greatest(holds[0]->kept_ns, holds[0]->worked_ns),
                          greatest(holds[1]->kept_ns, holds[1]->worked_ns));
}

static bool is_in_view(const struct page_scene *s, int64_t from_ns, int64_t to_ns)
{
    return from_ns <= s->to_ns && to_ns >= s->from_ns;
}

static enum rank rank_of(const struct page_scene *s, const struct history_call *call)
{
    if (is_actor(s, call->process, call->owner))
        return RANK_ACTOR;
    return call->kind == DLOCK_EVENT_RELEASE ? RANK_RELEASE : RANK_OTHER;
}

static void add_call(struct page_scene *s, const struct history_call *call)
{
    if (s->call_count == PAGE_CALLS_MAX ||
        need_lane(s, call->process, call->owner) < 0)
        s->calls_left_out++;
    else
        s->calls[s->call_count++] = call;
}

static void add_calls(struct page_scene *s)
{
    for (enum rank rank = RANK_ACTOR; rank < RANK_COUNT; rank++) {
        for (size_t i = 0; i < s->h->call_count; i++) {
            const struct history_call *call = &s->h->calls[i];

            if (call->invoke_ns > s->to_ns)
                break;
            if (call->name == s->name && call->answer_ns >= s->from_ns &&
                rank_of(s, call) == rank)
                add_call(s, call);
        }
    }
}

static void add_hold(struct page_scene *s, const struct hold *hold)
{
    int lane = need_lane(s, hold->process, hold->owner);

    if (lane < 0 || s->hold_count == PAGE_HOLDS_MAX) {
        s->holds_left_out++;
        return;
    }
    s->hold_lanes[s->hold_count] = lane;
    s->holds[s->hold_count++] = hold;
}

/* If no lane is to come first, the lanes are in the order of their first calls. */
static void add_lanes(struct page_scene *s)
{
    for (size_t i = 0; i < s->h->call_count; i++) {
        const struct history_call *call = &s->h->calls[i];

        if (call->name == s->name && call->answer_ns >= s->from_ns &&
            call->invoke_ns <= s->to_ns)
            need_lane(s, call->process, call->owner);
    }
}

static void add_holds(struct page_scene *s)
{
    for (int others = 0; others < 2; others++) {
        for (size_t i = 0; i < s->c->hold_count; i++) {
            const struct hold *hold = &s->c->holds[i];

            if (hold->name == s->name && !(hold->flaws & FLAW_NOBODY) &&
                is_in_view(s, hold->granted_ns,
                           greatest(hold->kept_ns, hold->worked_ns)) &&
                is_actor(s, hold->process, hold->owner) == !others)
                add_hold(s, hold);
        }
    }
}

static void add_step(struct page_scene *s, const struct page_step *step)
{
    if (is_in_view(s, step->at_ns, step->at_ns))
        s->steps[s->step_count++] = *step;
}

/* Faults are always shown, other marks only for owners that have a lane; the actors' come first. */
static enum mark_rank mark_rank_of(const struct page_scene *s,
                                   const struct history_mark *mark)
{
    if (mark->kind == DLOCK_EVENT_FAULT)
        return MARK_FAULT;
    if (mark->name != s->name || page_scene_lane(s, mark->process, mark->owner) < 0)
        return MARK_FOREIGN;
    return is_actor(s, mark->process, mark->owner) ? MARK_OF_ACTOR : MARK_OF_OTHER;
}

static void add_marks(struct page_scene *s)
{
    int count = 0;

    for (enum mark_rank rank = MARK_FAULT; rank < MARK_FOREIGN; rank++) {
        for (size_t i = 0; i < s->h->mark_count; i++) {
            const struct history_mark *mark = &s->h->marks[i];

            if (!is_in_view(s, mark->at_ns, mark->at_ns) ||
                mark_rank_of(s, mark) != rank)
                continue;
            if (count++ < PAGE_MARKS_MAX)
                add_step(s, &(struct page_step){.at_ns = mark->at_ns, .mark = mark});
            else
                s->marks_left_out++;
        }
    }
}

/* Steps of the same time stay in the order in which they were added. */
static int compare_steps(const void *a, const void *b)
{
    const struct page_step *x = a, *y = b;
    int order = COMPARE(x->at_ns, y->at_ns);

    return order != 0 ? order : x->is_answer - y->is_answer;
}

static void add_steps(struct page_scene *s)
{
    add_marks(s);
    for (int i = 0; i < s->call_count; i++) {
        const struct history_call *call = s->calls[i];

        add_step(s, &(struct page_step){.at_ns = call->invoke_ns, .call = call});
        if (call->is_answered)
            add_step(s, &(struct page_step){.at_ns = call->answer_ns,
                                            .call = call,
                                            .is_answer = true});
    }
    qsort(s->steps, (size_t)s->step_count, sizeof(s->steps[0]), compare_steps);
}

/* Fill in the participants, calls, holds and steps between from_ns and to_ns. */
static void fill(struct page_scene *s)
{
    if (s->example != NULL)
        add_actors(s);
    else
        add_lanes(s);
    add_calls(s);
    add_holds(s);
    add_steps(s);
}

void page_scene_of_example(struct page_scene *s, const struct history *h,
                           const struct check *c, const struct check_example *example)
{
    int64_t margin_ns = (example->to_ns - example->from_ns) / MARGIN_PARTS + 1;

    *s = (struct page_scene){.h = h,
                             .c = c,
                             .example = example,
                             .name = example->name,
                             .zero_ns = example->from_ns,
                             .from_ns = example->from_ns - margin_ns,
                             .to_ns = example->to_ns + margin_ns};
    fill(s);
}

void page_scene_of_time(struct page_scene *s, const struct history *h,
                        const struct check *c, const struct check_example *example,
                        uint32_t name, int64_t from_ns, int64_t to_ns)
{
    *s = (struct page_scene){.h = h,
                             .c = c,
                             .example = example,
                             .name = name,
                             .zero_ns = from_ns,
                             .from_ns = from_ns,
                             .to_ns = to_ns};
    fill(s);
}

static uint32_t busiest(const struct history *h)
{
    uint32_t *counts = memory_need(calloc(h->name_count + 1, sizeof(*counts)));
    uint32_t best = 0;

    for (size_t i = 0; i < h->call_count; i++)
        counts[h->calls[i].name]++;
    for (uint32_t i = 0; i < h->name_count; i++)
        if (counts[i] > counts[best])
            best = i;
    free(counts);
    return best;
}

void page_scene_of_beginning(struct page_scene *s, const struct history *h,
                             const struct check *c)
{
    int count = 0;

    *s = (struct page_scene){
        .h = h, .c = c, .name = busiest(h), .to_ns = HISTORY_NEVER};
    for (size_t i = 0; i < h->call_count && count < PAGE_CALLS_MAX; i++) {
        const struct history_call *call = &h->calls[i];

        if (call->name != s->name)
            continue;
        if (count++ == 0)
            s->from_ns = s->zero_ns = s->to_ns = call->invoke_ns;
        s->to_ns = greatest(s->to_ns, call->is_answered ? call->answer_ns
                                                        : call->invoke_ns);
    }
    if (count > 0)
        s->to_ns += 1;
    fill(s);
}
