/* SPDX-License-Identifier: MIT */
/* holds.c -- the holders of the lock and their times as a table, for readers who cannot see or
 * touch the bars of the figure. */
#include <inttypes.h>

#include "loadtest/page/scene.h"
#include "loadtest/page/words.h"

static void print_cell(FILE *out, const struct page_scene *s, int64_t at_ns)
{
    char at[PAGE_TIME_MAX];

    page_time(at, s, at_ns);
    fputs("<td>", out);
    page_phrase(out, "span", at);
    fputs("</td>", out);
}

static void print_hold(FILE *out, const struct page_scene *s, const struct hold *hold)
{
    char owner[PAGE_TEXT_MAX];

    page_owner(owner, s->h, hold->process, hold->owner);
    fputs("<tr><td>", out);
    page_phrase(out, "span", owner);
    fputs("</td>", out);
    print_cell(out, s, hold->granted_ns);
    print_cell(out, s, greatest(hold->kept_ns, hold->granted_ns));
    print_cell(out, s, hold->promised_ns);
    print_cell(out, s, hold->worked_ns);
    if (hold->fence != 0)
        fprintf(out, "<td>%" PRIu64 "</td>", hold->fence);
    else
        fputs("<td></td>", out);
    fputs("</tr>\n", out);
}

#define HEADING(id) (fputs("<th scope=\"col\">", out), page_say(out, id), fputs("</th>", out))

void page_holds(FILE *out, const struct page_scene *s)
{
    if (s->hold_count == 0)
        return;
    fputs("<details class=\"holds\"><summary>", out);
    page_say(out, HOLDS_TABLE);
    fputs("</summary>\n<div class=\"wide\" role=\"group\" tabindex=\"0\"", out);
    page_name(out, HOLDS_TABLE);
    fputs("><table>\n<tr>", out);
    HEADING(WHO);
    HEADING(FROM);
    HEADING(KEPT_UNTIL);
    HEADING(LEASE_ENDS);
    HEADING(WORKED_UNTIL);
    HEADING(FENCE);
    fputs("</tr>\n", out);
    for (int i = 0; i < s->hold_count; i++)
        print_hold(out, s, s->holds[i]);
    fputs("</table></div></details>\n", out);
}
