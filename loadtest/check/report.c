/* SPDX-License-Identifier: MIT */
/* report.c -- a verdict for people, and for programs. */
#include <inttypes.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/text/utf8.h"
#include "loadtest/check/check.h"
#include "loadtest/check/timeline.h"
#include "loadtest/kit/style.h"
#include "lock/record/recorder.h"

enum {
    TIME_TEXT_MAX = 32,
    OWNER_TEXT_MAX = 40,
    NAME_TEXT_MAX = 3 * DLOCK_NAME_MAX + 1,
    CALLS_SHOWN = 40, /* of an example */
};

static double to_ms(int64_t ns)
{
    return (double)ns / (double)DLOCK_NS_PER_MS;
}

/* Relative to the beginning of a window. */
static void time_text(char out[TIME_TEXT_MAX], int64_t at_ns, int64_t from_ns)
{
    if (at_ns == HISTORY_NEVER)
        snprintf(out, TIME_TEXT_MAX, "never");
    else
        snprintf(out, TIME_TEXT_MAX, "%+.3f ms", to_ms(at_ns - from_ns));
}

/* Names hold any bytes.  A terminal obeys some bytes as commands, and JSON takes only
 * text. */
static void name_text(char out[NAME_TEXT_MAX], const struct history *h, uint32_t name)
{
    utf8_clean(h->names[name], out, NAME_TEXT_MAX);
}

static void owner_text(char out[OWNER_TEXT_MAX], const struct history *h,
                       const struct history_call *call)
{
    const struct history_process *process = &h->processes[call->process];

    snprintf(out, OWNER_TEXT_MAX, "pid %" PRIu32 ", %.8s:%" PRIu64, process->pid,
             process->uuid, call->owner);
}

static const char *answer_text(const struct history_call *call)
{
    return call->is_answered ? dlock_status_id(call->status) : "no answer";
}

static void token_text(char out[2 * DLOCK_RECORD_TOKEN_SIZE + 1],
                       const struct history_call *call)
{
    for (size_t i = 0; i < DLOCK_RECORD_TOKEN_SIZE; i++)
        snprintf(out + 2 * i, 3, "%02x", call->token[i]);
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

/* The call that broke the rule, and the call that it collided with; -1: none.  For a
 * refusal the earlier holder is only shown to the reader. */
static int64_t culprit_of(size_t property, const struct check_example *example)
{
    if (example->actor_count == 0)
        return -1;
    return (int64_t)example->actors[property == CHECK_refusal ? 0
                                                              : example->actor_count - 1];
}

static int64_t victim_of(size_t property, const struct check_example *example)
{
    if (example->actor_count < 2)
        return -1;
    return (int64_t)example->actors[property == CHECK_refusal ? 1 : 0];
}

/* Does the call belong to the story that the window tells? */
static bool is_shown(const struct history *h, const struct check_example *example,
                     const struct history_call *call)
{
    return call->name == example->name && call->invoke_ns <= example->to_ns &&
           call->answer_ns >= example->from_ns &&
           (is_actor(h, example, call) || is_cause(h, example, call));
}

static bool is_shown_mark(const struct check_example *example,
                          const struct history_mark *mark)
{
    return mark->at_ns >= example->from_ns && mark->at_ns <= example->to_ns &&
           (mark->kind == DLOCK_EVENT_FAULT ||
            (mark->kind == DLOCK_EVENT_LOST && mark->name == example->name));
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
            dlock_event_name(call->kind), answer_text(call), owner);
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

/* "acquire of pid 7, p1:3, at +0.000 ms". */
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
}

static void print_blame(FILE *out, const struct history *h, size_t property,
                        const struct check_example *example)
{
    print_who(out, h, "broken by the ", culprit_of(property, example), example->from_ns);
    print_who(out, h, ", beside the ", victim_of(property, example), example->from_ns);
    print_who(out, h, "; to blame is the ", example->cause, example->from_ns);
}

void check_print_example(FILE *out, const struct history *h, enum check_property property,
                         const struct check_example *example)
{
    char name[NAME_TEXT_MAX];

    name_text(name, h, example->name);
    fprintf(out, "%s: lock \"%s\": %s: ", check_property_name(property), name,
            example->text);
    print_blame(out, h, property, example);
    fputc('\n', out);
}

static void print_mark(FILE *out, const struct history *h,
                       const struct check_example *example,
                       const struct history_mark *mark)
{
    static const char *const phases[] = {"", "armed", "begun", "ended", "happened"};
    char at[TIME_TEXT_MAX], name[NAME_TEXT_MAX];

    name_text(name, h, mark->name);
    time_text(at, mark->at_ns, example->from_ns);
    if (mark->kind == DLOCK_EVENT_LOST)
        fprintf(out, "    %14s  %14s  lost      told       owner %" PRIu64 "\n", at, "",
                mark->owner);
    else if (mark->owner != 0)
        fprintf(out, "    %14s  %14s  fault    %s: %s, pid %" PRIu64 "\n", at, "",
                name, phases[mark->detail], mark->owner);
    else
        fprintf(out, "    %14s  %14s  fault    %s: %s\n", at, "", name,
                phases[mark->detail]);
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
        if (!is_shown(h, example, call) || ++shown > CALLS_SHOWN)
            continue;
        for (; mark < h->mark_count && h->marks[mark].at_ns < call->invoke_ns; mark++)
            if (is_shown_mark(example, &h->marks[mark]))
                print_mark(out, h, example, &h->marks[mark]);
        print_call(out, h, example, call);
    }
    for (; mark < h->mark_count && h->marks[mark].at_ns <= example->to_ns; mark++)
        if (is_shown_mark(example, &h->marks[mark]))
            print_mark(out, h, example, &h->marks[mark]);
    if (shown > CALLS_SHOWN)
        fprintf(out, "    and %zu more calls of the same owners\n", shown - CALLS_SHOWN);
}

static void print_finding(FILE *out, const struct history *h, size_t property,
                          const struct check_finding *finding)
{
    const struct check_example *example = &finding->examples[0];
    char name[NAME_TEXT_MAX];

    fprintf(out, "  %-9s  %s: %s (%" PRId64 " of %" PRId64 ")\n",
            verdict_name(finding->valid), check_property_name(property),
            check_property_text(property), finding->count, finding->looked);
    if (finding->example_count == 0)
        return;
    name_text(name, h, example->name);
    fprintf(out, "    lock \"%s\", in %.3f ms: %s\n", name,
            to_ms(example->to_ns - example->from_ns), example->text);
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

/* The damage that would not be seen. */
static void print_limits(FILE *out, const struct history *h)
{
    uint64_t unsealed = 0;
    size_t plain = 0;

    for (size_t i = 0; i < h->process_count; i++) {
        plain += h->processes[i].is_plain;
        unsealed += h->processes[i].unsealed;
    }
    if (plain > 0)
        fprintf(out, "  %zu of %zu files carry no checksums, being of version %d: damage "
                     "to them cannot be seen\n", plain, h->process_count,
                DLOCK_RECORD_VERSION_PLAIN);
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

static json_t *call_to_json(const struct history *h, const struct history_call *call,
                            int64_t from_ns)
{
    const struct history_process *process = &h->processes[call->process];
    char token[2 * DLOCK_RECORD_TOKEN_SIZE + 1];
    json_t *json;

    token_text(token, call);
    json = json_pack(
        "{s:s, s:s, s:f, s:i, s:s, s:I, s:s, s:I, s:i, s:b}", "call",
        dlock_event_name(call->kind), "answer", answer_text(call), "asked_ms",
        to_ms(call->invoke_ns - from_ns), "pid", (int)process->pid, "system",
        process->uuid, "owner", (json_int_t)call->owner, "token", token, "fence",
        (json_int_t)call->fence, "level", call->level, "shared",
        call->mode == DLOCK_MODE_SHARED);
    if (call->is_answered)
        json_object_set_new(json, "answered_ms",
                            json_real(to_ms(call->answer_ns - from_ns)));
    if (call->is_answered && call->status == DLOCK_OK &&
        call->deadline_ns != HISTORY_NEVER && call->deadline_ns > 0)
        json_object_set_new(json, "until_ms",
                            json_real(to_ms(call->deadline_ns - from_ns)));
    return json;
}

static void set_call(json_t *json, const char *key, const struct history *h, int64_t call,
                     int64_t from_ns)
{
    if (call >= 0)
        json_object_set_new(json, key, call_to_json(h, &h->calls[call], from_ns));
}

static json_t *example_to_json(const struct history *h, size_t property,
                               const struct check_example *example)
{
    json_t *json;
    size_t shown = 0;
    json_t *calls = json_array(), *faults = json_array();
    char name[NAME_TEXT_MAX];

    for (size_t i = 0; i < h->call_count && shown < CALLS_SHOWN &&
                       h->calls[i].invoke_ns <= example->to_ns; i++)
        if (is_shown(h, example, &h->calls[i]) && ++shown > 0)
            json_array_append_new(calls,
                                  call_to_json(h, &h->calls[i], example->from_ns));
    for (size_t i = 0; i < h->mark_count && h->marks[i].at_ns <= example->to_ns; i++) {
        const struct history_mark *mark = &h->marks[i];

        if (!is_shown_mark(example, mark) || mark->kind != DLOCK_EVENT_FAULT)
            continue;
        name_text(name, h, mark->name);
        json_array_append_new(
            faults, json_pack("{s:s, s:i, s:f, s:I}", "fault", name, "phase",
                              mark->detail, "at_ms",
                              to_ms(mark->at_ns - example->from_ns), "pid",
                              (json_int_t)mark->owner));
    }
    name_text(name, h, example->name);
    json = json_pack("{s:s, s:s, s:s, s:f, s:o, s:o}", "lock", name,
                     "what", example->text, "assumption",
                     dlock_assumption_name(example->assumption), "window_ms",
                     to_ms(example->to_ns - example->from_ns), "calls", calls, "faults",
                     faults);
    set_call(json, "broken_by", h, culprit_of(property, example), example->from_ns);
    set_call(json, "beside", h, victim_of(property, example), example->from_ns);
    set_call(json, "to_blame", h, example->cause, example->from_ns);
    return json;
}

static json_t *finding_to_json(const struct history *h, size_t property,
                               const struct check_finding *finding)
{
    json_t *examples = json_array();

    for (size_t i = 0; i < finding->example_count; i++)
        json_array_append_new(examples, example_to_json(h, property, &finding->examples[i]));
    return json_pack("{s:s, s:s, s:s, s:b, s:I, s:I, s:o}", "property",
                     check_property_name(property), "text",
                     check_property_text(property), "verdict",
                     verdict_name(finding->valid), "claimed", finding->is_claimed,
                     "looked", (json_int_t)finding->looked, "count",
                     (json_int_t)finding->count, "examples", examples);
}

json_t *check_to_json(const struct history *h, const struct check_verdict *v)
{
    json_t *findings = json_array(), *holes = json_array();
    json_int_t plain = 0;
    json_t *json;

    for (size_t i = 0; i < CHECK_COUNT; i++)
        if (v->findings[i].is_claimed || v->findings[i].count > 0)
            json_array_append_new(findings, finding_to_json(h, i, &v->findings[i]));
    for (size_t i = 0; i < h->damage_count; i++)
        json_array_append_new(holes, json_string(h->damages[i]));
    json = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "verdict",
                     verdict_name(v->valid), "holds", (json_int_t)v->holds, "locks",
                     (json_int_t)v->names, "calls", (json_int_t)v->calls, "unanswered",
                     (json_int_t)v->unanswered, "faults", (json_int_t)v->faults,
                     "findings", findings, "holes", holes);
    for (size_t i = 0; i < h->process_count; i++)
        plain += h->processes[i].is_plain;
    json_object_set_new(json, "files_without_checksums", json_integer(plain));
    if (v->why_unknown != NULL)
        json_object_set_new(json, "why_unknown", json_string(v->why_unknown));
    return json;
}
