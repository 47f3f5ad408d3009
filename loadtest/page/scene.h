/* SPDX-License-Identifier: MIT */
/* scene.h -- the content of one figure of the page. */
#ifndef LOADTEST_PAGE_SCENE_H
#define LOADTEST_PAGE_SCENE_H

#include <stdio.h>

#include <jansson.h>

#include "loadtest/check/checks/checks.h"

/* Limits of one figure. */
enum {
    PAGE_LANES_MAX = 24,
    PAGE_CALLS_MAX = 150,
    PAGE_HOLDS_MAX = 200,
    PAGE_MARKS_MAX = 60,
    PAGE_STEPS_MAX = 2 * PAGE_CALLS_MAX + PAGE_MARKS_MAX,
    PAGE_TEXT_MAX = 160,
    PAGE_TIME_MAX = 40,
};

struct page_lane {
    uint32_t process;
    uint64_t owner;
    bool is_actor; /* an owner that takes part in the violation */
};

/* An instant: a call is asked, or answered, or something happens that is no call. */
struct page_step {
    int64_t at_ns;
    const struct history_call *call; /* NULL: a mark */
    const struct history_mark *mark;
    bool is_answer;
};

/* A line of a story, or a message on a wire. */
struct page_line {
    int64_t from_ns, at_ns; /* which it took; they are in the order of from_ns          */
    bool is_wire;
    const char *who;        /* the participant of a wire; else "told", "act" or "fault" */
    const char *text, *text_zh; /* text_zh: NULL if it is the same                  */
};

struct page_scene {
    const struct history *h;
    const struct check *c;
    const struct check_example *example; /* NULL: just the beginning of a lock        */
    uint32_t name;
    int64_t zero_ns;        /* the zero of the times that are shown                   */
    int64_t from_ns, to_ns; /* the time that is drawn                                 */
    int64_t both_from_ns, both_to_ns; /* the time in which both actors work, if any   */
    struct page_lane lanes[PAGE_LANES_MAX];
    int lane_count;
    const struct history_call *calls[PAGE_CALLS_MAX];
    int call_count;
    const struct hold *holds[PAGE_HOLDS_MAX];
    int hold_lanes[PAGE_HOLDS_MAX];
    int hold_count;
    struct page_step steps[PAGE_STEPS_MAX];
    int step_count;
    const struct page_line *lines; /* borrowed; they are shown instead of the steps   */
    size_t line_count;
    int64_t calls_left_out, holds_left_out, marks_left_out;
};

/* Fill in the scene.  Everything that the scene points to is the history's or the checker's. */
void page_scene_of_example(struct page_scene *s, const struct history *h,
                           const struct check *c, const struct check_example *example);
/* The first calls of the lock that was called most; there must be one. */
void page_scene_of_beginning(struct page_scene *s, const struct history *h,
                             const struct check *c);

/* All calls to one lock from one instant to another; `example` may be NULL. */
void page_scene_of_time(struct page_scene *s, const struct history *h,
                        const struct check *c, const struct check_example *example,
                        uint32_t name, int64_t from_ns, int64_t to_ns);

/* The index of an owner's lane; -1: it has none. */
int page_scene_lane(const struct page_scene *s, uint32_t process, uint64_t owner);

/* Text as it may stand between tags and in attributes. */
void page_text(FILE *out, const char *text);
/* files_json_text() in a script element, which no "<" of it ends. */
void page_json(FILE *out, const json_t *json, size_t flags);
/* The same text in two languages, of which a page shows the one that was chosen. */
void page_both(FILE *out, const char *english, const char *chinese);
/* "Ann, pid 7, 1a2b3c4d:3", cut off if it is too long; words.h has its Chinese. */
void page_owner(char out[PAGE_TEXT_MAX], const struct history *h, uint32_t process,
                uint64_t owner);
/* "+1.250 ms" from the zero of the scene; "never" */
void page_time(char out[PAGE_TIME_MAX], const struct page_scene *s, int64_t at_ns);
/* Open the list of steps, and print all of it. */
void page_steps_begin(FILE *out);
void page_steps(FILE *out, const struct page_scene *s);
/* lines.c: the same of scene->lines, each with the messages on the wires */
void page_lines(FILE *out, const struct page_scene *s);

/* The faults, by the numbers that they have in the drawing. */
void page_faults(FILE *out, const struct page_scene *s);

/* holds.c: the bars of the figure as a table */
void page_holds(FILE *out, const struct page_scene *s);

/* svg.c */
double page_x(const struct page_scene *s, int64_t at_ns);
void page_svg(FILE *out, const struct page_scene *s);

#endif /* LOADTEST_PAGE_SCENE_H */
