/* SPDX-License-Identifier: MIT */
/* recording.c -- a performance as JSON.  The page derives what it draws from these facts: the lines
 * that were told, the holds that the checker put together, the calls, the faults, and the
 * violation. */
#include "loadtest/page/recording.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "base/text/version.h"
#include "base/os/clock.h"
#include "loadtest/check/checks/checks.h"
#include "loadtest/kit/files.h"
#include "loadtest/kit/memory.h"
#include "loadtest/page/words.h"

enum {
    FORMAT = 1,         /* of the JSON; the page reports an unknown version             */
    LINES_MAX = 12000,  /* a page with more would be too slow to use                    */
    FACTS_MAX = 4000,   /* of holds, of calls and of faults                             */
    TEXT_ROOM = 3 * SCENARIO_LINE_MAX + 1,
    NS_PER_US = 1000,
};

static const struct {
    const char *scenario, *article, *chinese, *english;
} predictions[] = {
#define PREDICTION(scenario, article, chinese, english) {scenario, article, chinese, english},
#include "loadtest/page/predictions.def"
#undef PREDICTION
};

/* Text of any bytes. */
static json_t *text(const char *from)
{
    char clean[TEXT_ROOM];

    utf8_clean(from, clean, sizeof clean);
    return json_string(clean);
}

static json_t *both(const char *english, const char *chinese)
{
    return json_pack("{s:o, s:o}", "en", text(english), "zh", text(chinese));
}

/* A message of another directory, in both languages if phrases.def has it. */
static json_t *message(const char *english)
{
    char chinese[PAGE_PHRASE_MAX];

    (void)page_chinese(english, chinese);
    return both(english, chinese);
}

/* Microseconds since the story began; null: never. */
static json_t *moment(const struct stage *s, int64_t at_ns)
{
    return at_ns == HISTORY_NEVER ? json_null() : json_integer((at_ns - s->zero_ns) / NS_PER_US);
}

/* The actor that made this call: the actor of its process, or the one that was told when the
 * call was made; -1: not known. */
static int actor_of(const struct stage *s, uint32_t process, int64_t invoke_ns)
{
    uint32_t pid = s->history.processes[process].pid;
    int found = -1, count = 0;

    for (int i = 0; i < s->actor_count; i++)
        if (s->actors[i].process->pid == pid) {
            found = i;
            count++;
        }
    for (size_t i = 0; count > 1 && i < s->line_count; i++) {
        const struct stage_line *line = &s->lines[i];

        if (line->kind == LINE_ACT && line->actor >= 0 &&
            s->actors[line->actor].process->pid == pid && line->from_ns <= invoke_ns &&
            invoke_ns <= line->at_ns)
            return line->actor;
    }
    return found;
}

static json_t *lines_of(const struct stage *s)
{
    static const char *const kinds[] = {"told", "act", "fault", "wire"};
    json_t *list = json_array();

    for (size_t i = 0; i < s->line_count && i < LINES_MAX; i++) {
        const struct stage_line *line = &s->lines[i];
        json_t *one = json_pack("[s, o, o, i, o]", kinds[line->kind], moment(s, line->from_ns),
                                moment(s, line->at_ns), line->actor, text(line->text[0]));

        if (strcmp(line->text[0], line->text[1]) != 0)
            json_array_append_new(one, text(line->text[1]));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *holds_of(const struct stage *s, int64_t name)
{
    json_t *list = json_array();

    for (size_t i = 0; i < s->check->hold_count && json_array_size(list) < FACTS_MAX; i++) {
        const struct hold *hold = &s->check->holds[i];

        if ((int64_t)hold->name != name || (hold->flaws & FLAW_NOBODY))
            continue;
        json_array_append_new(
            list,
            json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:b, s:o}", "actor",
                      actor_of(s, hold->process, hold->invoke_ns), "granted",
                      moment(s, hold->granted_ns), "promised", moment(s, hold->promised_ns), "kept",
                      moment(s, hold->kept_ns), "worked", moment(s, hold->worked_ns), "lost",
                      moment(s, hold->lost_ns), "shared", hold->mode == DLOCK_MODE_SHARED, "fence",
                      json_integer((json_int_t)hold->fence)));
    }
    return list;
}

static json_t *calls_of(const struct stage *s, int64_t name)
{
    json_t *list = json_array();

    for (size_t i = 0; i < s->history.call_count && json_array_size(list) < FACTS_MAX; i++) {
        const struct history_call *call = &s->history.calls[i];

        if ((int64_t)call->name == name)
            json_array_append_new(
                list, json_pack("{s:i, s:s, s:o, s:o, s:s, s:o}", "actor",
                                actor_of(s, call->process, call->invoke_ns), "what",
                                dlock_event_name(call->kind), "from", moment(s, call->invoke_ns),
                                "to", moment(s, call->answer_ns), "status",
                                call->is_answered ? dlock_status_id(call->status) : "", "until",
                                moment(s, call->deadline_ns)));
    }
    return list;
}

static json_t *violation_of(const struct stage *s, const struct check_example *example)
{
    const struct check_finding *findings = s->verdict.findings;
    json_t *holders;

    if (example == NULL)
        return json_null();
    holders = json_array();
    for (size_t i = 0; i < example->actor_count; i++) {
        const struct history_call *call = &s->history.calls[example->actors[i]];

        json_array_append_new(holders, json_integer(actor_of(s, call->process, call->invoke_ns)));
    }
    for (size_t i = 0; i < CHECK_COUNT; i++)
        if (example >= findings[i].examples && example < findings[i].examples + CHECK_EXAMPLES)
            return json_pack("{s:s, s:o, s:o, s:o, s:o}", "rule", check_property_name(i), "from",
                             moment(s, example->from_ns), "to", moment(s, example->to_ns),
                             "holders", holders, "assumption",
                             example->assumption == DLOCK_ASSUMES_NONE
                                 ? json_null()
                                 : text(dlock_assumption_text(example->assumption)));
    json_decref(holders);
    return json_null();
}

/* The instants at which processes stopped, went on, or died. */
static json_t *faults_of(const struct stage *s)
{
    json_t *list = json_array();

    for (size_t i = 0; i < s->history.mark_count && json_array_size(list) < FACTS_MAX; i++) {
        const struct history_mark *mark = &s->history.marks[i];
        int actor = -1;

        if (mark->kind != DLOCK_EVENT_FAULT)
            continue;
        for (int j = 0; j < s->actor_count && mark->owner != 0 && actor < 0; j++)
            if (s->actors[j].process->pid == mark->owner)
                actor = j;
        json_array_append_new(list, json_pack("[s, o, o, i]",
                                              history_phase_name(mark->detail),
                                              moment(s, mark->at_ns),
                                              text(s->history.names[mark->name]), actor));
    }
    return list;
}

static json_t *signs_of(const struct scenario_result *r)
{
    json_t *list = json_array();

    for (int i = 0; i < SIGN_COUNT; i++)
        if (r->signs & (1u << i))
            json_array_append_new(list,
                                  both(scenario_sign_name(i, false), scenario_sign_name(i, true)));
    return list;
}

static json_t *prediction_of(const struct scenario *scenario)
{
    for (size_t i = 0; i < sizeof predictions / sizeof predictions[0]; i++)
        if (strcmp(predictions[i].scenario, scenario->name) == 0)
            return json_pack("{s:s, s:s, s:s}", "article", predictions[i].article, "zh",
                             predictions[i].chinese, "en", predictions[i].english);
    return json_null();
}

/* The last line of the story, which names the remedy. */
static json_t *moral_of(const struct scenario *scenario)
{
    int last = 0;

    while (last + 1 < SCENARIO_LINES && scenario->story[last + 1] != NULL)
        last++;
    return both(scenario->story[last], scenario->story_zh[last]);
}

/* The gaps of the records. */
static json_t *damages_of(const struct stage *s)
{
    json_t *list = json_array();

    for (size_t i = 0; i < s->history.damage_count; i++)
        json_array_append_new(list, message(s->history.damages[i]));
    return list;
}

static json_t *people_of(const struct stage *s)
{
    json_t *list = json_array();

    for (int i = 0; i < s->actor_count; i++)
        json_array_append_new(list, text(s->actors[i].name));
    return list;
}

static json_t *recording_of(const struct stage *s, const struct check_example *example)
{
    const struct scenario *scenario = s->setup->scenario;
    const struct scenario_result *r = s->result;
    int64_t name = history_find_name(&s->history, s->lock);
    char dir[3 * FILES_PATH_MAX]; /* each byte may become three */
    json_t *json;

    utf8_clean(s->dir, dir, sizeof dir);
    json = json_pack(
        "{s:i, s:s, s:s, s:s, s:o, s:o, s:s, s:s, s:s, s:s, s:i, s:b, s:b}", "format", FORMAT,
        "version", SECKILL_VERSION, "scenario", scenario->name, "number", scenario->number, "title",
        both(scenario->title, scenario->title_zh), "source", message(scenario->source), "lock",
        s->setup->lock->name, "store", s->setup->lock->store, "guard", s->setup->guard->name, "dir",
        dir, "lease_ms", stage_lease_ms(s), "expires",
        (s->setup->lock->caps & DLOCK_CAP_EXPIRES) != 0, "expected", r->is_expected);

    memory_need(json);
    json_object_set_new(json, "seed", json_integer((json_int_t)s->seed));
    json_object_set_new(json, "outcome", both(scenario_outcome_name(r->outcome, false),
                                              scenario_outcome_name(r->outcome, true)));
    json_object_set_new(json, "code", json_string(scenario_outcome_name(r->outcome, false)));
    json_object_set_new(json, "stock",
                        json_pack("{s:I, s:I, s:I}", "issued", (json_int_t)s->issued, "left",
                                  (json_int_t)s->left, "sold", (json_int_t)s->sold));
    json_object_set_new(json, "people", people_of(s));
    json_object_set_new(json, "lines", lines_of(s));
    json_object_set_new(json, "holds", holds_of(s, name));
    json_object_set_new(json, "calls", calls_of(s, name));
    json_object_set_new(json, "violation", violation_of(s, example));
    json_object_set_new(json, "faults", faults_of(s));
    json_object_set_new(json, "signs", signs_of(r));
    json_object_set_new(json, "moral", moral_of(scenario));
    json_object_set_new(json, "prediction", prediction_of(scenario));
    json_object_set_new(json, "damages", damages_of(s));
    json_object_set_new(
        json, "left_out",
        json_integer(s->line_count > LINES_MAX ? (json_int_t)(s->line_count - LINES_MAX) : 0));
    return json;
}

void recording_print(FILE *out, const struct stage *s, const struct check_example *example)
{
    json_t *json = recording_of(s, example);
    char *printed = memory_need(json_dumps(json, JSON_COMPACT));

    fputs("<script type=\"application/json\" class=\"recording\">", out);
    for (const char *c = printed; *c != '\0'; c++)
        if (*c == '<')
            fputs("\\u003c", out);
        else
            fputc(*c, out);
    fputs("</script>\n", out);
    free(printed);
    json_decref(json);
}
