/* SPDX-License-Identifier: MIT */
/* report.c -- a verdict for people. */
#include <inttypes.h>
#include <string.h>

#include "loadtest/check/example.h"
#include "loadtest/check/timeline.h"
#include "loadtest/kit/style.h"
#include "lock/record/recorder.h"

enum {
    TIME_TEXT_MAX = 32,
    OWNER_TEXT_MAX = 40,
    TRACES_SHOWN = 5, /* of a hold */
};

/* Relative to the beginning of a window. */
static void time_text(char out[TIME_TEXT_MAX], int64_t at_ns, int64_t from_ns)
{
    if (at_ns == HISTORY_NEVER)
        snprintf(out, TIME_TEXT_MAX, "never");
    else
        snprintf(out, TIME_TEXT_MAX, "%+.3f ms", example_ms(at_ns - from_ns));
}

static void owner_text(char out[OWNER_TEXT_MAX], const struct history *h,
                       const struct history_call *call)
{
    const struct history_process *process = &h->processes[call->process];

    snprintf(out, OWNER_TEXT_MAX, "pid %" PRIu32 ", %.8s:%" PRIu64, process->pid,
             process->uuid, call->owner);
}

static void print_call(FILE *out, const struct history *h,
                       const struct check_example *example,
                       const struct history_call *call)
{
    char at[TIME_TEXT_MAX], answered[TIME_TEXT_MAX], until[TIME_TEXT_MAX];
    char owner[OWNER_TEXT_MAX];

    time_text(at, call->invoke_ns, example->from_ns);
    time_text(answered, call->answer_ns, example->from_ns);
    owner_text(owner, h, call);
    fprintf(out, "    %14s  %14s  %-8s %-9s  %s", at, answered,
            dlock_event_name(call->kind), example_answer(call), owner);
    if (call->is_answered && call->status == DLOCK_OK &&
        (call->kind == DLOCK_EVENT_ACQUIRE || call->kind == DLOCK_EVENT_RENEW)) {
        time_text(until, call->deadline_ns, example->from_ns);
        fprintf(out, "  until %s", until);
        if (call->fence != 0)
            fprintf(out, ", fence %" PRIu64, call->fence);
    } else if (call->is_answered && call->kind == DLOCK_EVENT_ACQUIRE &&
               call->deadline_ns > 0) {
        time_text(until, call->deadline_ns, example->from_ns);
        fprintf(out, "  granted until %s, heard too late", until);
    }
    fputc('\n', out);
}

/* ", trace 4bf92f", or ", traces 4bf92f, b7ad6b and 3 more". */
static void print_traces(FILE *out, const struct history *h,
                         const struct history_call *call)
{
    const struct history_trace *traces;
    size_t count = history_traces_of(h, call, &traces);
    char id[EXAMPLE_NAME_MAX];

    for (size_t i = 0; i < count && i < TRACES_SHOWN; i++) {
        example_name(id, h, traces[i].id);
        fprintf(out, ", %s%s", i > 0 ? "" : count > 1 ? "traces " : "trace ", id);
    }
    if (count > TRACES_SHOWN)
        fprintf(out, " and %zu more", count - TRACES_SHOWN);
}

/* "acquire of pid 7, p1:3, at +0.000 ms, trace 4bf92f". */
static void print_who(FILE *out, const struct history *h, const char *what, int64_t call,
                      int64_t from_ns)
{
    char at[TIME_TEXT_MAX], owner[OWNER_TEXT_MAX];

    if (call < 0)
        return;
    time_text(at, h->calls[call].invoke_ns, from_ns);
    owner_text(owner, h, &h->calls[call]);
    fprintf(out, "%s%s of %s, at %s", what, dlock_event_name(h->calls[call].kind), owner,
            at);
    print_traces(out, h, &h->calls[call]);
}

static void print_blame(FILE *out, const struct history *h, size_t property,
                        const struct check_example *example)
{
    print_who(out, h, "broken by the ", example_culprit(property, example), example->from_ns);
    print_who(out, h, ", beside the ", example_victim(property, example), example->from_ns);
    print_who(out, h, "; to blame is the ", example->cause, example->from_ns);
}

void check_print_example(FILE *out, const struct history *h, enum check_property property,
                         const struct check_example *example)
{
    char name[EXAMPLE_NAME_MAX];

    example_name(name, h, example->name);
    fprintf(out, "%s: lock \"%s\": %s: ", check_property_name(property), name,
            example->text);
    print_blame(out, h, property, example);
    fputc('\n', out);
}

static void print_mark(FILE *out, const struct history *h,
                       const struct check_example *example,
                       const struct history_mark *mark)
{
    char at[TIME_TEXT_MAX], name[EXAMPLE_NAME_MAX];

    example_name(name, h, mark->name);
    time_text(at, mark->at_ns, example->from_ns);
    if (mark->kind == DLOCK_EVENT_LOST)
        fprintf(out, "    %14s  %14s  lost      told       owner %" PRIu64 "\n", at, "",
                mark->owner);
    else if (mark->owner != 0)
        fprintf(out, "    %14s  %14s  fault    %s: %s, pid %" PRIu64 "\n", at, "",
                name, history_phase_name(mark->detail), mark->owner);
    else
        fprintf(out, "    %14s  %14s  fault    %s: %s\n", at, "", name,
                history_phase_name(mark->detail));
}

/* The calls of the two owners and the faults between them, in the order of time. */
static void print_window(FILE *out, const struct history *h,
                         const struct check_example *example)
{
    size_t mark = 0, shown = 0;

    fprintf(out, "    %14s  %14s  call     answer     who\n", "asked", "answered");
    for (size_t i = 0; i < h->call_count; i++) {
        const struct history_call *call = &h->calls[i];

        if (call->invoke_ns > example->to_ns)
            break;
        if (!example_shows(h, example, call) || ++shown > EXAMPLE_CALLS_MAX)
            continue;
        for (; mark < h->mark_count && h->marks[mark].at_ns < call->invoke_ns; mark++)
            if (example_shows_mark(example, &h->marks[mark]))
                print_mark(out, h, example, &h->marks[mark]);
        print_call(out, h, example, call);
    }
    for (; mark < h->mark_count && h->marks[mark].at_ns <= example->to_ns; mark++)
        if (example_shows_mark(example, &h->marks[mark]))
            print_mark(out, h, example, &h->marks[mark]);
    if (shown > EXAMPLE_CALLS_MAX)
        fprintf(out, "    and %zu more calls of the same owners\n", shown - EXAMPLE_CALLS_MAX);
}

static void print_finding(FILE *out, const struct history *h, size_t property,
                          const struct check_finding *finding)
{
    const struct check_example *example = &finding->examples[0];
    char name[EXAMPLE_NAME_MAX];

    fprintf(out, "  %-9s  %s: %s (%" PRId64 " of %" PRId64 ")\n",
            verdict_name(finding->valid), check_property_name(property),
            check_property_text(property), finding->count, finding->looked);
    if (finding->example_count == 0)
        return;
    example_name(name, h, example->name);
    fprintf(out, "    lock \"%s\", in %.3f ms: %s\n", name,
            example_ms(example->to_ns - example->from_ns), example->text);
    if (example->actor_count > 0) {
        fputs("    ", out);
        print_blame(out, h, property, example);
        fputc('\n', out);
    }
    if (example->assumption != DLOCK_ASSUMES_NONE)
        fprintf(out, "    what did not hold: %s\n",
                dlock_assumption_text(example->assumption));
    print_window(out, h, example);
    if (example->to_ns > example->from_ns)
        timeline_draw(out, timeline_width(out), h, example);
}

/* Print which damage of the files could not be detected. */
static void print_limits(FILE *out, const struct history *h)
{
    uint64_t unsealed = 0;

    for (size_t i = 0; i < h->process_count; i++)
        unsealed += h->processes[i].unsealed;
    if (unsealed > 0)
        fprintf(out, "  %" PRIu64 " records of processes that were killed carry no "
                     "checksums: damage to them cannot be seen\n", unsealed);
}

void check_print(FILE *out, const struct history *h, const struct check_verdict *v)
{
    fprintf(out, "%s%s%s", report_style(out, verdict_style(v->valid)),
            verdict_name(v->valid), report_style(out, STYLE_PLAIN));
    if (v->why_unknown != NULL)
        fprintf(out, ": %s", v->why_unknown);
    fprintf(out,
            "\n%" PRId64 " holds of %" PRId64 " locks, %" PRId64 " calls (%" PRId64
            " without an answer), %" PRId64 " faults, %zu systems\n",
            v->holds, v->names, v->calls, v->unanswered, v->faults, h->process_count);
    for (size_t i = 0; i < h->damage_count; i++)
        fprintf(out, "  hole: %s\n", h->damages[i]);
    print_limits(out, h);
    for (size_t i = 0; i < CHECK_COUNT; i++) {
        const struct check_finding *finding = &v->findings[i];

        if (finding->count > 0 || finding->valid != VERDICT_VALID)
            print_finding(out, h, i, finding);
        else if (finding->is_claimed)
            fprintf(out, "  %-9s  %s: %s (%" PRId64 ")\n",
                    finding->looked > 0 ? "valid" : "-", check_property_name(i),
                    check_property_text(i), finding->looked);
    }
}
