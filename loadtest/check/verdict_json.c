/* SPDX-License-Identifier: MIT */
/* verdict_json.c -- a verdict for programs. */
#include "loadtest/check/example.h"
#include "lock/record/recorder.h"

static void token_text(char out[2 * DLOCK_RECORD_TOKEN_SIZE + 1],
                       const struct history_call *call)
{
    for (size_t i = 0; i < DLOCK_RECORD_TOKEN_SIZE; i++)
        snprintf(out + 2 * i, 3, "%02x", call->token[i]);
}

/* The traces that the hold of the call serves; no field if there are none. */
static void set_traces(json_t *json, const struct history *h,
                       const struct history_call *call)
{
    const struct history_trace *traces;
    size_t count = history_traces_of(h, call, &traces);
    json_t *ids = json_array();
    char id[EXAMPLE_NAME_MAX];

    for (size_t i = 0; i < count; i++) {
        example_name(id, h, traces[i].id);
        json_array_append_new(ids, json_string(id));
    }
    if (count > 0)
        json_object_set(json, "traces", ids);
    json_decref(ids);
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
        dlock_event_name(call->kind), "answer", example_answer(call), "asked_ms",
        example_ms(call->invoke_ns - from_ns), "pid", (int)process->pid, "system",
        process->uuid, "owner", (json_int_t)call->owner, "token", token, "fence",
        (json_int_t)call->fence, "level", call->level, "shared",
        call->mode == DLOCK_MODE_SHARED);
    set_traces(json, h, call);
    if (call->is_answered)
        json_object_set_new(json, "answered_ms",
                            json_real(example_ms(call->answer_ns - from_ns)));
    if (call->is_answered && call->status == DLOCK_OK &&
        call->deadline_ns != HISTORY_NEVER && call->deadline_ns > 0)
        json_object_set_new(json, "until_ms",
                            json_real(example_ms(call->deadline_ns - from_ns)));
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
    char name[EXAMPLE_NAME_MAX];

    for (size_t i = 0; i < h->call_count && shown < EXAMPLE_CALLS_MAX &&
                       h->calls[i].invoke_ns <= example->to_ns; i++)
        if (example_shows(h, example, &h->calls[i]) && ++shown > 0)
            json_array_append_new(calls,
                                  call_to_json(h, &h->calls[i], example->from_ns));
    for (size_t i = 0; i < h->mark_count && h->marks[i].at_ns <= example->to_ns; i++) {
        const struct history_mark *mark = &h->marks[i];

        if (!example_shows_mark(example, mark) || mark->kind != DLOCK_EVENT_FAULT)
            continue;
        example_name(name, h, mark->name);
        json_array_append_new(
            faults, json_pack("{s:s, s:i, s:f, s:I}", "fault", name, "phase",
                              mark->detail, "at_ms",
                              example_ms(mark->at_ns - example->from_ns), "pid",
                              (json_int_t)mark->owner));
    }
    example_name(name, h, example->name);
    json = json_pack("{s:s, s:s, s:s, s:f, s:o, s:o}", "lock", name,
                     "what", example->text, "assumption",
                     dlock_assumption_name(example->assumption), "window_ms",
                     example_ms(example->to_ns - example->from_ns), "calls", calls, "faults",
                     faults);
    set_call(json, "broken_by", h, example_culprit(property, example), example->from_ns);
    set_call(json, "beside", h, example_victim(property, example), example->from_ns);
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
    if (v->why_unknown != NULL)
        json_object_set_new(json, "why_unknown", json_string(v->why_unknown));
    return json;
}
