/* SPDX-License-Identifier: MIT */
/* finding.c -- adds violations, and what cannot be decided, to the finding of a property. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "loadtest/check/checks/checks.h"

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

/* Has the process of the call a hole in its records?  The missing records may have the release or
 * the grant that would explain the finding. */
static bool comes_of_a_hole(const struct check *c, int64_t call)
{
    return call != NO_CALL && c->h->processes[c->h->calls[call].process].has_hole;
}

static void note_unsure(struct check *c, enum check_property property, const char *why)
{
    struct check_finding *finding = &c->out->findings[property];

    if (c->options->only != 0 && !(c->options->only & 1u << property))
        return;
    if (finding->unsure++ == 0)
        finding->why_unknown = why;
}

void check_tied(struct check *c, enum check_property property)
{
    note_unsure(c, property,
                "it depends on which of two events of one instant came first");
}

void check_violation(struct check *c, enum check_property property, int assumption,
                     int64_t a, int64_t b, int64_t from_ns, int64_t to_ns,
                     const char *fmt, ...)
{
    struct check_finding *finding = &c->out->findings[property];
    struct check_example *example, violation;
    int64_t cause;
    va_list args;

    if (c->options->only != 0 && !(c->options->only & 1u << property))
        return;
    if (comes_of_a_hole(c, a) || comes_of_a_hole(c, b)) {
        note_unsure(c, property, "the records of its owner have a hole");
        return;
    }
    if (c->lock.is_confused) {
        note_unsure(c, property, c->out->overlap);
        return;
    }
    finding->count++;
    cause = c->cause;
    c->cause = NO_CALL;
    if (to_ns == HISTORY_NEVER || to_ns < from_ns)
        to_ns = from_ns;
    example = place_for(finding, to_ns - from_ns);
    if (example == NULL && c->options->each == NULL)
        return;
    violation = (struct check_example){.assumption = assumption,
                                       .name = c->lock.name,
                                       .from_ns = from_ns,
                                       .to_ns = to_ns,
                                       .cause = cause};
    if (a != NO_CALL)
        violation.actors[violation.actor_count++] = (size_t)a;
    if (b != NO_CALL && b != a)
        violation.actors[violation.actor_count++] = (size_t)b;
    va_start(args, fmt);
    vsnprintf(violation.text, sizeof(violation.text), fmt, args);
    va_end(args);
    if (example != NULL)
        *example = violation;
    if (c->options->each != NULL)
        c->options->each(c->options->arg, property, &violation);
}
