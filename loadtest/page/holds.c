/* SPDX-License-Identifier: MIT */
/* holds.c -- who held the lock when, as a table: what the bars of a figure say, for
 * those who cannot see or touch them. */
#include <inttypes.h>

#include "loadtest/page/scene.h"

static void print_cell(FILE *out, const struct page_scene *s, int64_t at_ns)
{
    fputs("<td>", out);
    page_time(out, s, at_ns);
    fputs("</td>", out);
}

static void print_hold(FILE *out, const struct page_scene *s, const struct hold *hold)
{
    bool was_kept = hold->kept_ns > hold->granted_ns;

    fputs("<tr><td>", out);
    page_owner(out, s->h, hold->process, hold->owner);
    fputs("</td>", out);
    print_cell(out, s, hold->granted_ns);
    print_cell(out, s, was_kept ? hold->kept_ns : hold->granted_ns);
    print_cell(out, s, hold->promised_ns);
    print_cell(out, s, hold->worked_ns);
    if (hold->fence != 0)
        fprintf(out, "<td>%" PRIu64 "</td>", hold->fence);
    else
        fputs("<td></td>", out);
    fputs("</tr>\n", out);
}

void page_holds(FILE *out, const struct page_scene *s)
{
    if (s->hold_count == 0)
        return;
    fputs("<details class=\"holds\"><summary>who held it when, as a table</summary>\n"
          "<table>\n<tr><th scope=\"col\">who</th><th scope=\"col\">from</th>"
          "<th scope=\"col\">kept until</th><th scope=\"col\">lease ends</th>"
          "<th scope=\"col\">worked until</th><th scope=\"col\">fence</th></tr>\n", out);
    for (int i = 0; i < s->hold_count; i++)
        print_hold(out, s, s->holds[i]);
    fputs("</table></details>\n", out);
}
