/* SPDX-License-Identifier: MIT */
/* story.c -- performances as one page to step through: each writes its part, and
 * the command puts the parts between the beginning and the end of the page. */
#include "loadtest/page/story.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/os/utf8.h"
#include "base/text/version.h"
#include "gen/story_html.h"
#include "loadtest/check/check.h"
#include "loadtest/check/checks/checks.h"
#include "loadtest/kit/files.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/result_page.h"
#include "loadtest/page/page.h"
#include "loadtest/page/words.h"
#include "loadtest/scenario/narration/measurements.h"
#include "loadtest/scenario/narration/terminal.h"
#include "loadtest/scenario/stage.h"
#include "lock/record/recorder.h"

/* ---- the recording ---- */

enum {
    FORMAT = 1,         /* of the JSON; the page reports an unknown version             */
    LINES_MAX = 12000,  /* a page with more would be too slow to use                    */
    FACTS_MAX = 4000,   /* of holds, of calls and of faults                             */
    TEXT_ROOM = UTF8_SHOWN_SIZE(SCENARIO_LINE_MAX),
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

    utf8_show(from, clean, sizeof clean);
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
    char dir[UTF8_SHOWN_SIZE(FILES_PATH_MAX)];
    json_t *json;

    utf8_show(s->dir, dir, sizeof dir);
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

/* Print an element <script type="application/json" class="recording"> with the performance, which
 * must have happened and been judged.  `example`: the violation that is shown, NULL if there is
 * none.  The lines of `s` must be sorted by their beginning.  Times are microseconds since the
 * story began. */
static void recording_print(FILE *out, const struct stage *s, const struct check_example *example)
{
    json_t *json = recording_of(s, example);

    fputs("<script type=\"application/json\" class=\"recording\">", out);
    page_json(out, json, JSON_COMPACT);
    fputs("</script>\n", out);
    json_decref(json);
}

/* Sort by the beginning; of one instant the told line comes before the event. */
static int compare_lines(const void *a, const void *b)
{
    const struct stage_line *x = a, *y = b;

    if (x->from_ns != y->from_ns)
        return x->from_ns < y->from_ns ? -1 : 1;
    return (int)x->kind - (int)y->kind;
}

static void fill_line(const struct stage *s, const struct stage_line *from,
                      struct page_line *to)
{
    static const char *const kinds[] = {"told", "act", "fault", ""};
    bool is_wire = from->kind == LINE_WIRE;

    *to = (struct page_line){
        .from_ns = from->from_ns,
        .at_ns = from->at_ns,
        .is_wire = is_wire,
        .who = is_wire ? s->actors[from->actor].name : kinds[from->kind],
        .text = from->text[0],
        .text_zh = strcmp(from->text[0], from->text[1]) == 0 ? NULL : from->text[1]};
}

/* The violation that the scenario calls a break, if there is one: the two holders. */
static const struct check_example *shown_example(const struct stage *s)
{
    static const struct {
        enum check_property property;
        unsigned sign;
    } order[] = {{CHECK_exclusion, SIGN_TWO_HOLDERS}, {CHECK_kept, SIGN_TWO_HOLDERS},
                 {CHECK_lease, SIGN_WORKED_ON},       {CHECK_ownership, SIGN_FOREIGN},
                 {CHECK_reentry, SIGN_TWICE},         {CHECK_fence, SIGN_FENCE}};
    /* The violation of the lock shows how updates could be lost. */
    unsigned shown = scenario_is_measured(s->setup->scenario) ? SIGNS_TWO_INSIDE
                                                             : s->setup->scenario->breaks;

    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        const struct check_finding *finding = &s->verdict.findings[order[i].property];

        if ((shown & order[i].sign) && finding->example_count > 0)
            return &finding->examples[0];
    }
    return NULL;
}

/* The marks in the page's file, in their order. */
static const char title_mark[] = "<!--TITLE-->", heading_mark[] = "<!--HEADING-->",
                  content_mark[] = "<!--CONTENT-->\n";

static void print_story(FILE *out, const char *const *story, const char *language)
{
    fprintf(out, "<p class=\"%.2s\" lang=\"%s\">", language, language);
    for (int i = 0; i < SCENARIO_LINES && story[i] != NULL; i++) {
        if (i > 0)
            fputs("<br>\n", out);
        page_text(out, story[i]);
    }
    fputs("</p>\n", out);
}

static void print_tally(FILE *out, const struct scenario_tally *tally)
{
    char *text = NULL;
    size_t size = 0;
    FILE *sentence = memory_need(open_memstream(&text, &size));

    table_sentence(sentence, tally);
    if (fclose(sentence) == 0)
        page_phrase_in(out, "dd", text);
    free(text);
}

static void print_term(FILE *out, const char *english, const char *chinese)
{
    fputs("<dt>", out);
    page_both(out, english, chinese);
    fputs("</dt>", out);
}

static void print_verdict(FILE *out, const struct stage *s)
{
    const struct scenario_result *r = s->result;

    fputs("<dl>\n", out);
    print_term(out, "lock", "锁");
    fprintf(out, "<dd>%s, ", s->setup->lock->name);
    page_both(out, "stock guard", "库存兜底");
    fprintf(out, " %s</dd>\n", s->setup->guard->name);
    print_term(out, "outcome", "结果");
    fputs("<dd>", out);
    page_both(out, scenario_outcome_name(r->outcome, false),
              scenario_outcome_name(r->outcome, true));
    fputs(", ", out);
    if (r->is_expected)
        page_both(out, "as expected", "符合预期");
    else if (r->rc == EXIT_UNKNOWN)
        page_both(out, "unknown", "无法判定");
    else
        page_both(out, "UNEXPECTED", "与预期不符");
    fputs("</dd>\n", out);
    if (r->tally.is_counted) {
        print_term(out, "counted", "计数");
        print_tally(out, &r->tally);
        print_term(out, "published", "已发表的数字");
        page_phrase_in(out, "dd", s->setup->scenario->published);
    }
    for (int i = 0; i < SIGN_COUNT; i++)
        if (r->signs & (1u << i)) {
            print_term(out, "seen", "看到");
            fputs("<dd>", out);
            page_both(out, scenario_sign_name(i, false), scenario_sign_name(i, true));
            fputs("</dd>\n", out);
        }
    for (int i = DLOCK_ASSUMES_NONE + 1; i < DLOCK_ASSUMPTION_COUNT; i++)
        if (r->gave_way & (1u << i)) {
            fputs("<dt>", out);
            page_say(out, WHAT_GAVE_WAY);
            fputs("</dt>", out);
            page_phrase_in(out, "dd", dlock_assumption_text(i));
        }
}

static void print_part(FILE *out, const struct stage *s, struct page_scene *scene)
{
    const struct scenario *scenario = s->setup->scenario;

    fputs("<section class=\"figure\" tabindex=\"0\">\n<h2>", out);
    page_both(out, scenario->title, scenario->title_zh);
    fprintf(out, ", %s</h2>\n<p class=\"note\">%s: ", s->setup->lock->name, scenario->number);
    page_phrase(out, "span", scenario->source);
    fputs("</p>\n", out);
    print_story(out, scenario->story, "en");
    print_story(out, scenario->story_zh, "zh-CN");
    print_verdict(out, s);
    page_holders(out, scene);
    page_window(out, scene);
    fputs("</dl>\n", out);
    page_figure(out, scene);
}

/* A story of two minutes does not fit into a figure, which then shows only the two holders. */
static void draw_measured(FILE *out, const struct stage *s)
{
    struct page_scene *scene = memory_need(calloc(1, sizeof *scene));
    const struct check_example *example = shown_example(s);

    if (example != NULL)
        page_scene_of_example(scene, &s->history, s->check, example);
    else
        page_scene_of_beginning(scene, &s->history, s->check);
    print_part(out, s, scene);
    free(scene);
}

static void draw(FILE *out, const struct stage *s)
{
    struct page_scene *scene = memory_need(calloc(1, sizeof *scene));
    struct page_line *lines = memory_need(calloc(s->line_count + 1, sizeof *lines));
    int64_t name = history_find_name(&s->history, s->lock), to_ns = s->zero_ns + 1;

    qsort(s->lines, s->line_count, sizeof *s->lines, compare_lines);
    for (size_t i = 0; i < s->line_count; i++) {
        fill_line(s, &s->lines[i], &lines[i]);
        if (to_ns < lines[i].at_ns)
            to_ns = lines[i].at_ns;
    }
    page_scene_of_time(scene, &s->history, s->check, shown_example(s),
                       name >= 0 ? (uint32_t)name : 0, s->zero_ns, to_ns);
    scene->lines = lines;
    scene->line_count = s->line_count;
    print_part(out, s, scene);
    recording_print(out, s, shown_example(s));
    free(lines);
    free(scene);
}

static const char command[] = "seckill scenario";

/* The same as the terminal tells, in Chinese and without its drawing, which is in English. */
static bool write_chinese(const struct stage *s)
{
    char path[FILES_PATH_MAX], *text = NULL;
    size_t size = 0;
    FILE *out = memory_need(open_memstream(&text, &size));
    struct stage *told = memory_need(malloc(sizeof *told));

    memcpy(told, s, sizeof *told);
    told->is_chinese = true;
    tell_opening(out, told);
    for (size_t i = 0; i < told->line_count; i++)
        tell_line(out, told, &told->lines[i]);
    tell_outcome(out, told);
    free(told);
    files_join(path, s->dir, STORY_ZH_FILE);
    return page_keep(out, &text, path, command);
}

static bool write_part(const struct stage *s)
{
    char path[FILES_PATH_MAX], *text = NULL;
    size_t size = 0;
    FILE *out = memory_need(open_memstream(&text, &size));

    if (s->result->has_happened && scenario_is_measured(s->setup->scenario))
        draw_measured(out, s);
    else if (s->result->has_happened)
        draw(out, s);
    files_join(path, s->dir, "page.part");
    return page_keep(out, &text, path, command) && write_chinese(s);
}

/* The part of a performance that broke off. */
static void print_missing(FILE *out, const char *part)
{
    fputs("<p class=\"note missing\">", out);
    page_both(out,
              "The steps of this performance did not happen. The reason is beside its records: ",
              "这次执行的步骤没有发生，原因在它的记录旁边：");
    page_text(out, part);
    fputs("</p>\n", out);
}

/* The commit of this program, for the player; none if it does not lie in its repository. */
static void print_origin(FILE *out)
{
    char commit[RESULT_COMMIT_MAX];
    bool has_changes;

    result_page_commit(commit, &has_changes);
    fprintf(out,
            "<script type=\"application/json\" id=\"origin\">{\"commit\": \"%.12s%s\"}</script>\n",
            commit, commit[0] != '\0' && has_changes ? " +" : "");
}

static bool write_page(const char *path, const char *name, char *const *parts,
                       size_t count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = memory_need(open_memstream(&text, &size));
    char title[80];

    snprintf(title, sizeof title, "seckill scenario: %s", name);
    page_piece(out, STORY_HTML, NULL, title_mark);
    fputs(title, out);
    page_piece(out, STORY_HTML, title_mark, heading_mark);
    fputs(title, out);
    page_piece(out, STORY_HTML, heading_mark, content_mark);
    print_origin(out);
    page_key(out);
    for (size_t i = 0; i < count; i++) {
        char *part = files_read(parts[i], NULL);

        if (part != NULL && part[0] != '\0')
            fputs(part, out);
        else
            print_missing(out, parts[i]);
        free(part);
    }
    page_piece(out, STORY_HTML, content_mark, NULL);
    return page_keep(out, &text, path, command);
}

const struct scenario_pages story_pages = {.write_part = write_part, .write_page = write_page};
