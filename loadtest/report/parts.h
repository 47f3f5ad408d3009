/* SPDX-License-Identifier: MIT */
/* parts.h -- for the files of report/: the parts of a report, one file each, in the order of the
 * page.  A part for which the run has no data prints nothing, unless its comment says otherwise. */
#ifndef LOADTEST_REPORT_PARTS_H
#define LOADTEST_REPORT_PARTS_H

#include <stdio.h>

#include "loadtest/page/words.h"
#include "loadtest/report/data.h"
#include "loadtest/report/view.h"

/* strip.c: the verdict in one sentence, and what could not be read. */
void part_verdict(FILE *out, const struct run_data *data, const struct view *view);
void part_problems(FILE *out, const struct run_data *data, const char *whose);

/* thresholds.c: the limits of --objective, with what was measured. */
void part_thresholds(FILE *out, const struct run_data *data);

/* table.c: locks x hazards, or the facts of one sale. */
void part_table(FILE *out, const struct run_data *data, const struct view *view);
/* The verdict of a cell in a word or two, with its sign. */
void part_mark(FILE *out, const struct view_cell *cell);
/* The outcome of a cell of a comparison after its mark, if the mark does not say it. */
void part_outcome(FILE *out, const struct view_cell *cell);

/* lists.c: steps at a fixed rate, what a bench measured, performances. */
void part_lists(FILE *out, const struct run_data *data, const struct view *view);

/* curves.c: latency on an axis of nines. */
void part_latency(FILE *out, const struct run_data *data, const struct view *view);

/* timeline.c: orders over time, with the fault and the stock. */
void part_timeline(FILE *out, const struct run_data *data, const struct view *view);

/* stopped.c: which layer stopped how many orders; examples of what came through. */
void part_stopped(FILE *out, const struct run_data *data, const struct view *view);

/* origin.c: settings, machine, versions, the command that repeats the run, and the limits of the
 * run. */
void part_origin(FILE *out, const struct run_data *data);
/* The command as a line for a shell. */
void part_command(FILE *out, const struct run_data *data);

/* differences.c: two runs beside each other. */
void part_differences(FILE *out, const struct run_data *a, const struct run_data *b,
                      const struct view *view_a, const struct view *view_b);

/* circumstances.c: which facts of the machines differ, as a list; false: none does, or they are
 * not known.  The settings that differ, as a section. */
bool part_machines_differ(const struct run_data *a, const struct run_data *b,
                          char out[DATA_TEXT_MAX]);
void part_settings_differ(FILE *out, const struct run_data *a, const struct run_data *b);

/* The value of a setting; one of several lines with commas between them. */
void part_value(FILE *out, const char *value);

enum word {
#define WORD(id, english, chinese) WORD_##id,
#include "loadtest/report/words.def"
#undef WORD
    WORD_COUNT
};

/* Print the text in both languages, each in an element that says its language.  The arguments
 * are texts, as many as the text asks for; whatever bytes they have, they are shown as text. */
#define say(out, id, ...) say_words(out, WORD_##id, (const char *const[]){"", ##__VA_ARGS__})
void say_words(FILE *out, enum word word, const char *const *arguments);

/* The same inside an element that ends its line; `tag` is the element's name, with its
 * attributes if it has some. */
#define say_in(out, tag, id, ...)                                                      \
    (page_begin(out, tag), say(out, id, ##__VA_ARGS__), page_end(out, tag))

/* Begin a section with this id and heading; a column of a table with this heading. */
void say_section(FILE *out, const char *id, enum word heading);
void say_head(FILE *out, enum word heading, bool is_number);

/* As say() does, inside an SVG drawing. */
#define draw(out, id, ...) draw_words(out, WORD_##id, (const char *const[]){"", ##__VA_ARGS__})
void draw_words(FILE *out, enum word word, const char *const *arguments);

enum { FIGURE_MAX = 40 };

/* A number as people read it: "12,345", "0.83", "1.5"; of a whole number all digits. */
const char *figure(double value, char out[FIGURE_MAX]);
const char *figure_whole(int64_t value, char out[FIGURE_MAX]);

#endif /* LOADTEST_REPORT_PARTS_H */
