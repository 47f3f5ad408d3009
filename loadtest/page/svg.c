/* SPDX-License-Identifier: MIT */
/* svg.c -- the drawing of one figure. */
#include <inttypes.h>

#include "loadtest/page/scene.h"
#include "loadtest/page/words.h"
#include "base/os/clock.h"

/* In units of the drawing. */
enum {
    WIDTH = 1100,
    LEFT = 35,   /* half of a time at the axis */
    RIGHT = 1065,
    TOP = 22,    /* room for the numbers of faults */
    LANE = 40,
    NAME = 12,   /* its base line, in a lane */
    MIDDLE = 26, /* of the bars */
    BAR = 14,
    DIGIT = 12,  /* room for one of the number of a fault */
    AXIS = 26,
    AXIS_PARTS = 9, /* at most */
};

double page_x(const struct page_scene *s, int64_t at_ns)
{
    if (at_ns <= s->from_ns)
        return LEFT;
    if (at_ns >= s->to_ns)
        return RIGHT;
    return (double)LEFT + (double)(RIGHT - LEFT) * ((double)(at_ns - s->from_ns) /
                                    (double)(s->to_ns - s->from_ns));
}

static int bottom(const struct page_scene *s)
{
    return TOP + s->lane_count * LANE;
}

static int middle(int lane)
{
    return TOP + lane * LANE + MIDDLE;
}

/* A box between two instants, wide enough to be seen. */
static void print_box(FILE *out, const struct page_scene *s, const char *kind,
                      int64_t from_ns, int64_t to_ns, int top, int height)
{
    double left = page_x(s, from_ns);
    double width = page_x(s, to_ns) - left;

    fprintf(out, "<rect class=\"%s\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\">",
            kind, left, top, width > 1 ? width : 1, height);
}

static const char *const no_arguments[] = {""};

static void print_window(FILE *out, const struct page_scene *s)
{
    int height = s->lane_count * LANE;

    if (s->example == NULL)
        return;
    print_box(out, s, "window", s->example->from_ns, s->example->to_ns, TOP, height);
    page_title_words(out, PAGE_WORD_THE_WINDOW, no_arguments);
    fputs("</rect>\n", out);
    if (s->both_to_ns <= s->both_from_ns)
        return;
    print_box(out, s, "both", s->both_from_ns, s->both_to_ns, TOP, height);
    page_title_words(out, PAGE_WORD_BOTH_AT_WORK, no_arguments);
    fputs("</rect>\n", out);
}

/* The step of the axis: 1, 2 or 5 times a power of ten, and at least a microsecond, the unit of
 * all times. */
static int64_t axis_step(int64_t span_ns)
{
    int64_t step_ns = 1000;

    for (int i = 0; span_ns / step_ns >= AXIS_PARTS; i++)
        step_ns = i % 3 == 1 ? step_ns / 2 * 5 : step_ns * 2;
    return step_ns;
}

/* Draw the ticks at multiples of the step, so that a tick is at the zero of the scene. */
static void print_axis(FILE *out, const struct page_scene *s)
{
    int64_t step_ns = axis_step(s->to_ns - s->from_ns);
    int64_t first_ns = s->zero_ns - (s->zero_ns - s->from_ns) / step_ns * step_ns;
    int y = bottom(s), decimals = step_ns < DLOCK_NS_PER_MS ? 3 : 0;

    fputs("<g class=\"axis\">\n", out);
    for (int64_t i = 0; i <= (s->to_ns - first_ns) / step_ns; i++) {
        int64_t at_ns = first_ns + i * step_ns;
        double x = page_x(s, at_ns);

        fprintf(out, "<line x1=\"%.2f\" y1=\"%d\" x2=\"%.2f\" y2=\"%d\"/>"
                     "<text x=\"%.2f\" y=\"%d\">%+.*f ms</text>\n",
                x, TOP, x, y + 4, x, y + 18, decimals,
                (double)(at_ns - s->zero_ns) / (double)DLOCK_NS_PER_MS);
    }
    fputs("</g>\n", out);
}

static void print_vertical(FILE *out, const char *kind, double x, int y, int half)
{
    fprintf(out, "<line class=\"%s\" x1=\"%.2f\" y1=\"%d\" x2=\"%.2f\" y2=\"%d\"/>",
            kind, x, y - half, x, y + half);
}

static bool is_seen(const struct page_scene *s, int64_t at_ns)
{
    return at_ns >= s->from_ns && at_ns <= s->to_ns;
}

static void print_call(FILE *out, const struct page_scene *s,
                       const struct history_call *call)
{
    int y = middle(page_scene_lane(s, call->process, call->owner));

    fprintf(out, "<line class=\"call%s\" x1=\"%.2f\" y1=\"%d\" x2=\"%.2f\" y2=\"%d\"/>",
            call->is_answered ? "" : " open", page_x(s, call->invoke_ns), y,
            page_x(s, call->answer_ns), y);
    if (is_seen(s, call->invoke_ns))
        print_vertical(out, "ask", page_x(s, call->invoke_ns), y, 4);
    if (call->is_answered && is_seen(s, call->answer_ns))
        print_vertical(out, "answer", page_x(s, call->answer_ns), y, 8);
    fputc('\n', out);
}

static void print_hold(FILE *out, const struct page_scene *s, int at)
{
    const struct hold *hold = s->holds[at];
    int y = middle(s->hold_lanes[at]);
    int64_t kept_ns =
        hold->kept_ns > hold->granted_ns ? hold->kept_ns : hold->granted_ns;
    char owner[PAGE_TEXT_MAX], from[PAGE_TIME_MAX], to[PAGE_TIME_MAX], fence[PAGE_TIME_MAX];

    print_box(out, s, "hold", hold->granted_ns, kept_ns, y - BAR / 2, BAR);
    page_owner(owner, s->h, hold->process, hold->owner);
    page_time(from, s, hold->granted_ns);
    page_time(to, s, kept_ns);
    snprintf(fence, sizeof fence, "%" PRIu64, hold->fence);
    page_title_words(out, hold->fence != 0 ? PAGE_WORD_HOLDS_FENCE : PAGE_WORD_HOLDS,
                (const char *const[]){"", owner, from, to, fence});
    fputs("</rect>", out);
    if (hold->worked_ns > kept_ns && hold->worked_ns >= s->from_ns) {
        print_box(out, s, "late", kept_ns, hold->worked_ns, y - BAR / 2, BAR);
        page_time(to, s, hold->worked_ns);
        page_title_words(out, PAGE_WORD_WORKS_ON, (const char *const[]){"", to});
        fputs("</rect>", out);
    }
    if (is_seen(s, hold->promised_ns))
        print_vertical(out, "promise", page_x(s, hold->promised_ns), y, BAR);
    fputc('\n', out);
}

static void print_lane(FILE *out, const struct page_scene *s, int lane)
{
    int y = middle(lane);

    fprintf(out, "<line class=\"base\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n",
            LEFT, y, RIGHT, y);
    for (int i = 0; i < s->hold_count; i++)
        if (s->hold_lanes[i] == lane)
            print_hold(out, s, i);
    for (int i = 0; i < s->call_count; i++)
        if (page_scene_lane(s, s->calls[i]->process, s->calls[i]->owner) == lane)
            print_call(out, s, s->calls[i]);
}

/* Drawn last, so that bars of later holds do not cover it. */
static void print_name(FILE *out, const struct page_scene *s, int lane)
{
    const struct page_lane *l = &s->lanes[lane];
    char owner[PAGE_TEXT_MAX];

    page_owner(owner, s->h, l->process, l->owner);
    fprintf(out, "<g class=\"lane%s\">\n<text class=\"name\" x=\"4\" y=\"%d\">",
            l->is_actor ? " actor" : "", middle(lane) - MIDDLE + NAME);
    page_phrase(out, "tspan", owner);
    fputs("</text></g>\n", out);
}

/* A number that would cover the number before it is moved beside it. */
static void print_faults(FILE *out, const struct page_scene *s)
{
    int number = 0;
    double room_from = 0;

    for (int i = 0; i < s->step_count; i++) {
        const struct history_mark *mark = s->steps[i].mark;
        double x, number_x;

        if (mark == NULL || mark->kind != DLOCK_EVENT_FAULT)
            continue;
        x = page_x(s, mark->at_ns);
        number_x = x > room_from ? x : room_from;
        if (number_x > WIDTH - DIGIT)
            number_x = WIDTH - DIGIT;
        room_from = number_x + (++number < 10 ? DIGIT : 2 * DIGIT);
        fprintf(out, "<g class=\"fault\"><line x1=\"%.2f\" y1=\"%d\" x2=\"%.2f\" "
                     "y2=\"%d\"/><text x=\"%.2f\" y=\"%d\">%d",
                x, TOP, x, bottom(s), number_x, TOP - 6, number);
        page_title_words(out, PAGE_WORD_FAULT_NAME,
                         (const char *const[]){"", s->h->names[mark->name]});
        fputs("</text></g>\n", out);
    }
}

void page_svg(FILE *out, const struct page_scene *s)
{
    int y = bottom(s);

    fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\"", WIDTH, y + AXIS);
    page_name(out, DRAWING);
    fputs(">\n", out);
    print_window(out, s);
    print_axis(out, s);
    for (int i = 0; i < s->lane_count; i++)
        print_lane(out, s, i);
    print_faults(out, s);
    fprintf(out, "<rect class=\"veil\" data-right=\"%d\" x=\"%d\" y=\"%d\" width=\"0\" "
                 "height=\"%d\"/>\n<line class=\"cursor\" x1=\"%d\" y1=\"%d\" "
                 "x2=\"%d\" y2=\"%d\"/>\n",
            RIGHT, LEFT, TOP, y - TOP, LEFT, TOP - 4, LEFT, y + 4);
    for (int i = 0; i < s->lane_count; i++)
        print_name(out, s, i);
    fputs("</svg>\n", out);
}
