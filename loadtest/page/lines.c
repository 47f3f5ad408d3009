/* SPDX-License-Identifier: MIT */
/* lines.c -- the lines of a story.  Beneath each line are the messages on the wires from its
 * beginning to the beginning of the next line, so an act is above the commands that it made. */
#include "loadtest/page/scene.h"
#include "loadtest/page/words.h"

static void print_wire(FILE *out, const struct page_scene *s,
                       const struct page_line *line)
{
    char at[PAGE_TIME_MAX];

    page_time(at, s, line->at_ns);
    fprintf(out, "<li>%s  ", at);
    page_phrase(out, "span", line->who);
    fputs(" ", out);
    page_text(out, line->text);
    fputs("</li>\n", out);
}

/* Print the lines of connections from `i` on; answers the index of the next other line. */
static size_t print_wires(FILE *out, const struct page_scene *s, size_t i)
{
    if (i == s->line_count || !s->lines[i].is_wire)
        return i;
    fputs("\n<ul class=\"wire\">\n", out);
    for (; i < s->line_count && s->lines[i].is_wire; i++)
        print_wire(out, s, &s->lines[i]);
    fputs("</ul>", out);
    return i;
}

/* The beginning of the act, and its end if the act took time. */
static void print_times(FILE *out, const struct page_scene *s,
                        const struct page_line *line)
{
    char from[PAGE_TIME_MAX], at[PAGE_TIME_MAX];

    page_time(from, s, line->from_ns);
    page_time(at, s, line->at_ns);
    if (line->at_ns > line->from_ns)
        page_say(out, TO, from, at);
    else
        fprintf(out, "%s &#183; ", from);
}

void page_lines(FILE *out, const struct page_scene *s)
{
    size_t i = 0;

    page_steps_begin(out);
    while (i < s->line_count) {
        const struct page_line *line = &s->lines[i];

        fprintf(out, "<li data-x=\"%.2f\"", page_x(s, line->at_ns));
        if (!line->is_wire)
            fprintf(out, " class=\"%s\"", line->who);
        fputs(">", out);
        print_times(out, s, line);
        if (!line->is_wire) {
            if (line->text_zh != NULL)
                page_both(out, line->text, line->text_zh);
            else
                page_text(out, line->text);
            i++;
        }
        i = print_wires(out, s, i);
        fputs("</li>\n", out);
    }
    fputs("</ol>\n", out);
}
