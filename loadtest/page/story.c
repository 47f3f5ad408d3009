/* SPDX-License-Identifier: MIT */
/* story.c -- performances as one page to step through: each writes its part, and
 * the command puts the parts between the beginning and the end of the page. */
#include "loadtest/page/story.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/story_html.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/result_page.h"
#include "loadtest/page/page.h"
#include "loadtest/page/recording.h"
#include "loadtest/page/words.h"
#include "loadtest/scenario/narration/measurements.h"
#include "loadtest/scenario/narration/terminal.h"
#include "lock/record/recorder.h"

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
