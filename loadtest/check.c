/* SPDX-License-Identifier: MIT */
/* check.c -- every property over every lock, and the verdict of it all. */
#include "loadtest/check.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/checks/checks.h"
#include "lock/clock.h"

enum { SLACK_MS = 50, PATIENCE_MS = 1200 };

enum { PARTS, WHOLE };

static const struct property {
    const char *name, *text;
    unsigned caps;
    int needs;
    void (*look)(struct check *c);
} properties[] = {
#define CHECK(name, caps, whole, text) {#name, text, caps, whole, check_##name},
#include "loadtest/checks.def"
#undef CHECK
};

struct check_options check_options_default(void)
{
    struct check_options options = {.slack_ns = SLACK_MS * DLOCK_NS_PER_MS,
                                    .patience_ns = PATIENCE_MS * DLOCK_NS_PER_MS};

    return options;
}

struct check *check_new(void)
{
    struct check *c = calloc(1, sizeof(*c));

    if (c == NULL) {
        fprintf(stderr, "seckill: no memory for the check\n");
        exit(70);
    }
    return c;
}

void check_free(struct check *c)
{
    if (c == NULL)
        return;
    free(c->by_name);
    free(c->by_owner);
    free(c->holds);
    free(c->refusals);
    free(c->times);
    free(c);
}

/* The examples kept are those with the smallest windows, smallest first. */
static struct check_example *place_for(struct check_finding *finding, int64_t width_ns)
{
    size_t at = finding->example_count;

    while (at > 0 && finding->examples[at - 1].to_ns -
                             finding->examples[at - 1].from_ns > width_ns)
        at--;
    if (at == CHECK_EXAMPLES)
        return NULL;
    if (finding->example_count < CHECK_EXAMPLES)
        finding->example_count++;
    memmove(&finding->examples[at + 1], &finding->examples[at],
            (finding->example_count - at - 1) * sizeof(finding->examples[0]));
    return &finding->examples[at];
}

void check_violation(struct check *c, enum check_property property, int assumption,
                     int64_t a, int64_t b, int64_t from_ns, int64_t to_ns,
                     const char *fmt, ...)
{
    struct check_finding *finding = &c->out->findings[property];
    struct check_example *example;
    va_list args;

    if (c->options->only != 0 && !(c->options->only & 1u << property))
        return;
    finding->count++;
    if (to_ns == HISTORY_NEVER || to_ns < from_ns)
        to_ns = from_ns;
    example = place_for(finding, to_ns - from_ns);
    if (example == NULL)
        return;
    *example = (struct check_example){.assumption = assumption,
                                      .name = c->lock.name,
                                      .from_ns = from_ns,
                                      .to_ns = to_ns};
    if (a != NO_CALL)
        example->actors[example->actor_count++] = (size_t)a;
    if (b != NO_CALL && b != a)
        example->actors[example->actor_count++] = (size_t)b;
    va_start(args, fmt);
    vsnprintf(example->text, sizeof(example->text), fmt, args);
    va_end(args);
}

int64_t check_last_fault_ns(const struct check *c)
{
    int64_t last_ns = 0;

    for (size_t i = 0; i < c->h->mark_count; i++)
        if (c->h->marks[i].kind == DLOCK_EVENT_FAULT &&
            c->h->marks[i].detail != DLOCK_FAULT_IS_ARMED)
            last_ns = c->h->marks[i].at_ns;
    return last_ns;
}

static void begin(struct check *c, const struct history *h,
                  const struct check_options *options, struct check_verdict *out)
{
    memset(out, 0, sizeof(*out));
    c->h = h;
    c->options = options;
    c->out = out;
    c->end_ns = HISTORY_NEVER;
    c->has_holes = h->damage_count > 0;
    for (size_t i = 0; i < h->process_count; i++)
        if (h->processes[i].dropping_ns < c->end_ns)
            c->end_ns = h->processes[i].dropping_ns;
}

static void count_all(struct check *c)
{
    struct check_verdict *out = c->out;

    out->calls = (int64_t)c->h->call_count;
    for (size_t i = 0; i < c->h->call_count; i++)
        out->unanswered += !check_is_answered(c, &c->h->calls[i]) ||
                           c->h->calls[i].status == DLOCK_UNKNOWN;
    for (size_t i = 0; i < c->h->mark_count; i++)
        out->faults += c->h->marks[i].kind == DLOCK_EVENT_FAULT &&
                       c->h->marks[i].detail != DLOCK_FAULT_IS_ARMED &&
                       c->h->marks[i].detail != DLOCK_FAULT_HAS_ENDED;
    for (size_t i = 0; i < c->hold_count; i++)
        out->holds += !(c->holds[i].flaws & FLAW_NOBODY);
}

static void look_at_lock(struct check *c)
{
    for (size_t i = 0; i < CHECK_COUNT; i++) {
        const struct property *property = &properties[i];

        if (i == CHECK_orders || /* which is about no lock */
            (property->caps != 0 && !(property->caps & c->lock.caps)))
            continue;
        if (c->options->only == 0 || c->options->only & 1u << i)
            c->out->findings[i].is_claimed = true;
        if (i != CHECK_kept)
            property->look(c);
    }
}

static void settle(struct check *c)
{
    struct check_verdict *out = c->out;

    for (size_t i = 0; i < CHECK_COUNT; i++) {
        struct check_finding *finding = &out->findings[i];

        if (finding->count > 0 && c->has_holes && properties[i].needs == WHOLE) {
            finding->valid = CHECK_UNKNOWN;
            finding->why_unknown = "it cannot be told from a history with holes";
        } else if (finding->count > 0) {
            finding->valid = CHECK_INVALID;
        } else if (finding->is_claimed && finding->why_unknown != NULL) {
            finding->valid = CHECK_UNKNOWN;
        }
        if (finding->valid > out->valid) {
            out->valid = finding->valid;
            out->why_unknown = finding->why_unknown;
        }
    }
    if (out->valid == CHECK_INVALID) {
        out->why_unknown = NULL;
    } else if (out->holds == 0) {
        out->valid = CHECK_UNKNOWN;
        out->why_unknown = "nobody was ever granted a lock";
    } else if (c->has_holes) {
        out->valid = CHECK_UNKNOWN;
        out->why_unknown = c->h->damages[0];
    }
}

void check_judge(struct check *c, const struct history *h,
                 const struct check_options *options, struct check_verdict *out)
{
    size_t hold_at = 0, refusal_at = 0, call_at = 0;

    begin(c, h, options, out);
    check_build(c);
    count_all(c);
    while (check_next_lock(c, &hold_at, &refusal_at, &call_at)) {
        out->names += c->lock.call_count > 0;
        /* `kept` first: it cuts short the holds that are known to be lost. */
        check_kept(c);
        look_at_lock(c);
    }
    if (options->only == 0 || options->only & 1u << CHECK_orders)
        check_orders(c);
    settle(c);
}

const char *check_property_name(size_t property)
{
    return property < CHECK_COUNT ? properties[property].name : NULL;
}

const char *check_property_text(size_t property)
{
    return properties[property].text;
}

const char *check_valid_name(enum check_valid valid)
{
    static const char *const names[] = {"valid", "unknown", "invalid"};

    return names[valid];
}

int check_exit_code(enum check_valid valid)
{
    static const int codes[] = {0, 2, 1};

    return codes[valid];
}
