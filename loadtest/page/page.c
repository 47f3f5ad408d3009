/* SPDX-License-Identifier: MIT */
/* page.c -- the verdict and its figures, put into loadtest/page/timeline.html. */
#include "loadtest/page/page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gen/timeline_html.h"
#include "loadtest/kit/files.h"
#include "loadtest/kit/memory.h"
#include "loadtest/page/scene.h"
#include "loadtest/page/words.h"
#include "base/os/clock.h"
#include "base/text/exit_codes.h"
#include "lock/record/recorder.h"

/* The marks in the file, in their order. */
static const char title_mark[] = "<!--TITLE-->", head_mark[] = "<!--HEAD-->\n",
                  content_mark[] = "<!--CONTENT-->\n";

#define NOTE(id, ...) page_say_in(out, "p class=\"note\"", id, ##__VA_ARGS__)

static void print_damages(FILE *out, const struct history *h)
{
    if (h->damage_count == 0)
        return;
    page_say_in(out, "h2", MISSING);
    fputs("<ul>\n", out);
    for (size_t i = 0; i < h->damage_count; i++)
        page_phrase_in(out, "li", h->damages[i]);
    fputs("</ul>\n", out);
}

static void print_head(FILE *out, const struct history *h,
                       const struct check_verdict *v)
{
    static const enum page_word titles[] = {[VERDICT_VALID] = PAGE_WORD_RUN_VALID,
                                            [VERDICT_UNKNOWN] = PAGE_WORD_RUN_UNKNOWN,
                                            [VERDICT_INVALID] = PAGE_WORD_RUN_INVALID};

    fputs("<header class=\"row\"><h1>", out);
    page_say_words(out, titles[v->valid], (const char *const[]){""});
    fputs("</h1><span class=\"tools\"></span></header>\n", out);
    if (v->why_unknown != NULL)
        page_phrase_in(out, "p", v->why_unknown);
    NOTE(COUNTS, WHOLE(v->holds), WHOLE(v->names), WHOLE(v->calls),
         WHOLE(v->unanswered), WHOLE(v->faults), WHOLE(h->process_count));
    print_damages(out, h);
}

static void print_properties(FILE *out, const struct check_verdict *v)
{
    fputs("<dl>\n", out);
    for (size_t i = 0; i < CHECK_COUNT; i++) {
        const struct check_finding *finding = &v->findings[i];
        const char *valid = verdict_name(finding->valid);

        if (finding->count == 0 && finding->valid == VERDICT_VALID &&
            !finding->is_claimed)
            continue;
        fprintf(out, "<dt class=\"%s\">", valid);
        page_phrase(out, "span", check_property_name(i));
        fputs(" ", out);
        page_phrase(out, "span", valid);
        fputs("</dt><dd>", out);
        page_phrase(out, "span", check_property_text(i));
        fputs(" ", out);
        page_say(out, VIOLATED_BY, WHOLE(finding->count), WHOLE(finding->looked));
        fputs("</dd>\n", out);
    }
    fputs("</dl>\n", out);
}

/* Print how many calls are not drawn. */
static void print_left_out(FILE *out, const struct page_scene *s)
{
    if (s->calls_left_out + s->holds_left_out + s->marks_left_out > 0)
        NOTE(NOT_DRAWN, WHOLE(s->calls_left_out), WHOLE(s->holds_left_out),
             WHOLE(s->marks_left_out));
}

#define BUTTON(key, id)                                                                \
    (fputs("<button type=\"button\" data-key=\"" key "\">", out), page_say(out, id),   \
     fputs("</button>", out))

static void print_controls(FILE *out)
{
    fputs("<div class=\"controls\" hidden>", out);
    BUTTON("Home", FIRST);
    BUTTON("ArrowLeft", BACK);
    BUTTON("ArrowRight", NEXT);
    BUTTON("End", LAST);
    BUTTON("Escape", ALL);
    fputs("<span class=\"note\">", out);
    page_say(out, OR_KEYS);
    fputs("</span><div class=\"step-now\"></div></div>\n", out);
}

void page_figure(FILE *out, const struct page_scene *s)
{
    /* A finding in the database's rows, for example, has no calls. */
    if (s->lane_count == 0 && s->step_count == 0 && s->line_count == 0) {
        NOTE(NOTHING_TO_DRAW);
        fputs("</section>\n", out);
        return;
    }
    fputs("<div class=\"drawing\" role=\"group\" tabindex=\"0\"", out);
    page_name(out, DRAWING);
    fputs(">\n", out);
    page_svg(out, s);
    fputs("</div>\n", out);
    print_controls(out);
    if (s->line_count > 0)
        page_lines(out, s);
    else
        page_steps(out, s);
    print_left_out(out, s);
    page_faults(out, s);
    page_holds(out, s);
    fputs("</section>\n", out);
}

#define TERM(id) (fputs("<dt>", out), page_say(out, id), fputs("</dt>", out))

/* A name of the history, which may have any bytes. */
static void print_name(FILE *out, const char *tag, const struct page_scene *s,
                       uint32_t name)
{
    fprintf(out, "<%s><bdi>", tag);
    page_text(out, s->h->names[name]);
    fputs("</bdi>", out);
    page_end(out, tag);
}

void page_holders(FILE *out, const struct page_scene *s)
{
    char owner[PAGE_TEXT_MAX];

    for (int i = 0; i < s->lane_count; i++) {
        if (!s->lanes[i].is_actor)
            continue;
        page_owner(owner, s->h, s->lanes[i].process, s->lanes[i].owner);
        TERM(HOLDER);
        page_phrase_in(out, "dd class=\"holder\"", owner);
    }
}

/* The traces of the requests that the holders served, if they had any. */
static void print_traces(FILE *out, const struct page_scene *s)
{
    for (size_t i = 0; i < s->example->actor_count; i++) {
        const struct history_trace *traces;
        size_t count =
            history_traces_of(s->h, &s->h->calls[s->example->actors[i]], &traces);

        for (size_t j = 0; j < count; j++) {
            TERM(TRACE);
            print_name(out, "dd class=\"trace\"", s, traces[j].id);
        }
    }
}

void page_window(FILE *out, const struct page_scene *s)
{
    const struct check_example *example = s->example;
    char length[PAGE_TIME_MAX], from[PAGE_TIME_MAX], to[PAGE_TIME_MAX];

    if (example == NULL || s->lane_count == 0)
        return;
    snprintf(length, sizeof length, "%.3f",
             (double)(example->to_ns - example->from_ns) / (double)DLOCK_NS_PER_MS);
    page_time(from, s, example->from_ns);
    page_time(to, s, example->to_ns);
    TERM(WINDOW);
    if (s->zero_ns == example->from_ns)
        page_say_in(out, "dd", WINDOW_ZERO, length);
    else
        page_say_in(out, "dd", WINDOW_FROM, length, from, to);
}

static void print_example(FILE *out, const struct page_scene *s, size_t property)
{
    const struct check_example *example = s->example;

    fprintf(out, "<section class=\"figure\" tabindex=\"0\" data-property=\"%s\">\n",
            check_property_name(property));
    page_say_in(out, "h2", EXAMPLE, check_property_name(property), example->text);
    fputs("<dl>\n", out);
    TERM(WHAT_VIOLATED);
    page_phrase_in(out, "dd", check_property_text(property));
    if (example->assumption != DLOCK_ASSUMES_NONE) {
        TERM(WHAT_GAVE_WAY);
        page_phrase_in(out, "dd", dlock_assumption_text(example->assumption));
    }
    TERM(LOCK);
    print_name(out, "dd", s, s->name);
    page_holders(out, s);
    print_traces(out, s);
    page_window(out, s);
    fputs("</dl>\n", out);
    page_figure(out, s);
}

/* Answers the number of figures. */
static int print_examples(FILE *out, struct page_scene *s, const struct history *h,
                          const struct check *c, const struct check_verdict *v)
{
    int count = 0;

    for (size_t i = 0; i < CHECK_COUNT; i++) {
        const struct check_finding *finding = &v->findings[i];

        for (size_t j = 0; j < finding->example_count; j++, count++) {
            page_scene_of_example(s, h, c, &finding->examples[j]);
            print_example(out, s, i);
        }
        if (finding->count > (int64_t)finding->example_count)
            NOTE(SMALLEST, WHOLE(finding->count), check_property_name(i),
                 WHOLE(finding->example_count));
    }
    return count;
}

static void print_beginning(FILE *out, struct page_scene *s, const struct history *h,
                            const struct check *c)
{
    page_scene_of_beginning(s, h, c);
    fputs("<section class=\"figure\" tabindex=\"0\">\n", out);
    page_say_in(out, "h2", BEGINNING);
    page_say_in(out, "p", NO_VIOLATION, WHOLE(s->call_count), WHOLE(h->call_count));
    fputs("<dl>\n", out);
    TERM(LOCK);
    print_name(out, "dd", s, s->name);
    fputs("</dl>\n", out);
    page_figure(out, s);
}

void page_piece(FILE *out, const char *file, const char *from, const char *to)
{
    const char *at = file;

    if (from != NULL)
        at = strstr(at, from) + strlen(from);
    fwrite(at, 1, to != NULL ? (size_t)(strstr(at, to) - at) : strlen(at), out);
}

void page_key(FILE *out)
{
    page_piece(out, TIMELINE_HTML, head_mark, content_mark);
}

void page_print(FILE *out, const struct history *h, const struct check *c,
                const struct check_verdict *v)
{
    struct page_scene *s = memory_need(calloc(1, sizeof(*s)));

    page_piece(out, TIMELINE_HTML, NULL, title_mark);
    page_title_words(out, PAGE_WORD_TITLE,
                     (const char *const[]){"", verdict_name(v->valid)});
    page_piece(out, TIMELINE_HTML, title_mark, head_mark);
    print_head(out, h, v);
    print_properties(out, v);
    page_key(out);
    if (print_examples(out, s, h, c, v) == 0 && h->call_count > 0)
        print_beginning(out, s, h, c);
    page_piece(out, TIMELINE_HTML, content_mark, NULL);
    free(s);
}

bool page_keep(FILE *out, char **text, const char *path, const char *command)
{
    bool ok;

    if (ferror(out) || fclose(out) != 0) {
        eprintf("%s: no memory for the page\n", command);
        exit(EXIT_BUG);
    }
    ok = files_write(path, *text);
    if (!ok)
        eprintf("%s: cannot write %s: %s\n", command, path, strerror(errno));
    free(*text);
    return ok;
}

bool page_write(const char *path, const struct history *h, const struct check *c,
                const struct check_verdict *v)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = memory_need(open_memstream(&text, &size));

    page_print(out, h, c, v);
    return page_keep(out, &text, path, "seckill check");
}
