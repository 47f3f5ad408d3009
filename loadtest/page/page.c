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
#include "base/os/clock.h"
#include "lock/record/recorder.h"

/* The marks in the file, in their order. */
static const char title_mark[] = "<!--TITLE-->", head_mark[] = "<!--HEAD-->\n",
                  content_mark[] = "<!--CONTENT-->\n";

static void print_head(FILE *out, const struct history *h,
                       const struct check_verdict *v)
{
    const char *valid = verdict_name(v->valid);

    fprintf(out, "<h1>The run is <span class=\"%s\">%s</span></h1>\n", valid, valid);
    if (v->why_unknown != NULL) {
        fputs("<p>", out);
        page_text(out, v->why_unknown);
        fputs("</p>\n", out);
    }
    fprintf(out,
            "<p class=\"note\">%" PRId64 " holds of %" PRId64 " locks, %" PRId64
            " calls (%" PRId64 " without an answer), %" PRId64
            " faults, %zu systems</p>\n",
            v->holds, v->names, v->calls, v->unanswered, v->faults, h->process_count);
    if (h->damage_count > 0)
        fputs("<h2>What is missing of the records</h2>\n<ul>\n", out);
    for (size_t i = 0; i < h->damage_count; i++) {
        fputs("<li>", out);
        page_text(out, h->damages[i]);
        fputs("</li>\n", out);
    }
    if (h->damage_count > 0)
        fputs("</ul>\n", out);
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
        fprintf(out, "<dt class=\"%s\">%s %s</dt><dd>%s (%" PRId64 " of %" PRId64
                     " violate it)</dd>\n",
                valid, check_property_name(i), valid, check_property_text(i),
                finding->count, finding->looked);
    }
    fputs("</dl>\n", out);
}

/* How much of it is not drawn. */
static void print_left_out(FILE *out, const struct page_scene *s)
{
    if (s->calls_left_out + s->holds_left_out + s->marks_left_out == 0)
        return;
    fprintf(out, "<p class=\"note\">Not drawn, for want of room: %" PRId64
                 " more calls, %" PRId64 " more holds and %" PRId64
                 " more events in this time.</p>\n",
            s->calls_left_out, s->holds_left_out, s->marks_left_out);
}

void page_figure(FILE *out, const struct page_scene *s)
{
    /* A finding in the database's rows, for example, has no calls. */
    if (s->lane_count == 0 && s->step_count == 0 && s->line_count == 0) {
        fputs("<p class=\"note\">No call of a lock is in it, so there is nothing to "
              "draw.</p>\n</section>\n", out);
        return;
    }
    fputs("<div class=\"drawing\">\n", out);
    page_svg(out, s);
    fputs("</div>\n", out);
    fputs("<div class=\"controls\" hidden>"
          "<button type=\"button\" data-key=\"Home\">first</button>"
          "<button type=\"button\" data-key=\"ArrowLeft\">back</button>"
          "<button type=\"button\" data-key=\"ArrowRight\">on</button>"
          "<button type=\"button\" data-key=\"End\">last</button>"
          "<button type=\"button\" data-key=\"Escape\">all</button>"
          "<span class=\"note\">or the arrow keys</span>"
          "<output aria-live=\"polite\"></output></div>\n", out);
    if (s->line_count > 0)
        page_lines(out, s);
    else
        page_steps(out, s);
    print_left_out(out, s);
    page_faults(out, s);
    page_holds(out, s);
    fputs("</section>\n", out);
}

static void print_lock(FILE *out, const struct page_scene *s)
{
    fputs("<dt>lock</dt><dd><bdi>", out);
    page_text(out, s->h->names[s->name]);
    fputs("</bdi></dd>\n", out);
}

void page_holders(FILE *out, const struct page_scene *s)
{
    for (int i = 0; i < s->lane_count; i++) {
        if (!s->lanes[i].is_actor)
            continue;
        fputs("<dt>holder</dt><dd class=\"holder\">", out);
        page_owner(out, s->h, s->lanes[i].process, s->lanes[i].owner);
        fputs("</dd>\n", out);
    }
}

void page_window(FILE *out, const struct page_scene *s)
{
    const struct check_example *example = s->example;

    if (example == NULL || s->lane_count == 0)
        return;
    fprintf(out, "<dt>window</dt><dd>%.3f ms",
            (double)(example->to_ns - example->from_ns) / (double)DLOCK_NS_PER_MS);
    if (s->zero_ns == example->from_ns) {
        fputs("; times are from its beginning", out);
    } else {
        fputs(", from ", out);
        page_time(out, s, example->from_ns);
        fputs(" to ", out);
        page_time(out, s, example->to_ns);
    }
    fputs("</dd>\n", out);
}

static void print_example(FILE *out, const struct page_scene *s, size_t property)
{
    const struct check_example *example = s->example;

    fprintf(out, "<section class=\"figure\" tabindex=\"0\" data-property=\"%s\">\n"
                 "<h2><span class=\"invalid\">%s:</span> ",
            check_property_name(property), check_property_name(property));
    page_text(out, example->text);
    fprintf(out, "</h2>\n<dl>\n<dt>what was violated</dt><dd>%s</dd>\n",
            check_property_text(property));
    if (example->assumption != DLOCK_ASSUMES_NONE)
        fprintf(out, "<dt>what did not hold</dt><dd>%s</dd>\n",
                dlock_assumption_text(example->assumption));
    print_lock(out, s);
    page_holders(out, s);
    page_window(out, s);
    fputs("</dl>\n", out);
    page_figure(out, s);
}

/* Answers how many figures there are. */
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
            fprintf(out, "<p class=\"note\">Of %" PRId64 " violations of %s, the %zu "
                         "with the smallest windows are drawn.</p>\n",
                    finding->count, check_property_name(i), finding->example_count);
    }
    return count;
}

static void print_beginning(FILE *out, struct page_scene *s, const struct history *h,
                            const struct check *c)
{
    page_scene_of_beginning(s, h, c);
    fprintf(out, "<section class=\"figure\" tabindex=\"0\">\n"
                 "<h2>How it began</h2>\n<p>No violation was found. Drawn are %d of "
                 "%zu calls: the first ones of the lock that was called most.</p>\n"
                 "<dl>\n",
            s->call_count, h->call_count);
    print_lock(out, s);
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

void page_begin(FILE *out, const char *title)
{
    page_piece(out, TIMELINE_HTML, NULL, title_mark);
    page_text(out, title);
    page_piece(out, TIMELINE_HTML, title_mark, head_mark);
}

void page_key(FILE *out)
{
    page_piece(out, TIMELINE_HTML, head_mark, content_mark);
}

void page_end(FILE *out)
{
    page_piece(out, TIMELINE_HTML, content_mark, NULL);
}

void page_print(FILE *out, const struct history *h, const struct check *c,
                const struct check_verdict *v)
{
    struct page_scene *s = memory_need(calloc(1, sizeof(*s)));
    char title[64];

    snprintf(title, sizeof(title), "seckill check: %s", verdict_name(v->valid));
    page_begin(out, title);
    print_head(out, h, v);
    print_properties(out, v);
    page_key(out);
    if (print_examples(out, s, h, c, v) == 0 && h->call_count > 0)
        print_beginning(out, s, h, c);
    page_end(out);
    free(s);
}

bool page_write(const char *path, const struct history *h, const struct check *c,
                const struct check_verdict *v)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    bool ok;

    memory_need(out);
    page_print(out, h, c, v);
    if (ferror(out) || fclose(out) != 0) {
        fprintf(stderr, "seckill check: no memory for the page\n");
        exit(70);
    }
    ok = files_write(path, text);
    if (!ok)
        fprintf(stderr, "seckill check: cannot write %s: %s\n", path, strerror(errno));
    free(text);
    return ok;
}
