/* SPDX-License-Identifier: MIT */
/* timeline.c -- the holders of each lock over time, drawn with characters. */
#include "loadtest/check/timeline.h"

#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>

#include "loadtest/check/example.h"
#include "loadtest/kit/style.h"

enum { LABEL_WIDTH = 20, COLUMNS_MIN = 10, COLUMNS_MAX = 400, FAULTS_MAX = 9 };

/* The row of one owner. */
struct row {
    uint32_t process;
    uint64_t owner;
    char cells[COLUMNS_MAX + 1];
};

struct canvas {
    FILE *out;
    const struct history *h;
    uint32_t name;
    int64_t from_ns, to_ns;
    int columns;
    struct row rows[TIMELINE_OWNERS_MAX];
    int row_count, left_out;
};

int timeline_width(FILE *out)
{
    struct winsize size;

    if (report_is_live(out) && ioctl(fileno(out), TIOCGWINSZ, &size) == 0 &&
        size.ws_col > 0)
        return size.ws_col;
    return TIMELINE_WIDTH_DEFAULT;
}

static int column_of(const struct canvas *c, int64_t at_ns)
{
    double part;

    if (at_ns <= c->from_ns)
        return 0;
    if (at_ns >= c->to_ns)
        return c->columns - 1;
    part = (double)(at_ns - c->from_ns) / (double)(c->to_ns - c->from_ns);
    return (int)(part * (c->columns - 1));
}

static struct row *row_of(struct canvas *c, uint32_t process, uint64_t owner)
{
    struct row *row;

    for (int i = 0; i < c->row_count; i++)
        if (c->rows[i].process == process && c->rows[i].owner == owner)
            return &c->rows[i];
    if (c->row_count == TIMELINE_OWNERS_MAX) {
        c->left_out++;
        return NULL;
    }
    row = &c->rows[c->row_count++];
    row->process = process;
    row->owner = owner;
    memset(row->cells, ' ', (size_t)c->columns);
    row->cells[c->columns] = '\0';
    return row;
}

static void fill(const struct canvas *c, struct row *row, int64_t from_ns,
                 int64_t to_ns, char with)
{
    if (to_ns < c->from_ns || from_ns > c->to_ns)
        return;
    for (int i = column_of(c, from_ns); i <= column_of(c, to_ns); i++)
        row->cells[i] = with;
}

static bool is_same_owner(const struct history_call *a, const struct history_call *b)
{
    return a->process == b->process && a->owner == b->owner && a->name == b->name;
}

/* The time at which the owner gave back the lock that this call granted: its next release
 * that leaves no level.  All times after the window look alike, so later calls are not
 * looked at. */
static int64_t end_of_work(const struct canvas *c, size_t grant)
{
    const struct history_call *calls = c->h->calls;
    int depth = 1;

    for (size_t i = grant + 1;
         i < c->h->call_count && calls[i].invoke_ns <= c->to_ns; i++) {
        const struct history_call *call = &calls[i];

        if (!is_same_owner(call, &calls[grant]))
            continue;
        if (call->kind == DLOCK_EVENT_ACQUIRE && call->is_answered &&
            call->status == DLOCK_OK)
            depth++;
        else if (call->kind == DLOCK_EVENT_ABANDON ||
                 (call->kind == DLOCK_EVENT_RELEASE && --depth == 0))
            return call->invoke_ns;
    }
    return c->h->processes[calls[grant].process].last_ns;
}

/* The last deadline that was granted for it by the end of the window. */
static int64_t end_of_lease(const struct canvas *c, size_t grant, int64_t work_end_ns)
{
    const struct history_call *calls = c->h->calls;
    int64_t end_ns = calls[grant].deadline_ns;

    for (size_t i = grant + 1; i < c->h->call_count; i++) {
        const struct history_call *call = &calls[i];

        if (call->invoke_ns > work_end_ns || call->invoke_ns > c->to_ns)
            break;
        if (is_same_owner(call, &calls[grant]) && call->kind == DLOCK_EVENT_RENEW &&
            call->is_answered && call->status == DLOCK_OK && call->deadline_ns > end_ns)
            end_ns = call->deadline_ns;
    }
    return end_ns;
}

static void draw_acquire(struct canvas *c, size_t at)
{
    const struct history_call *call = &c->h->calls[at];
    bool is_granted = call->is_answered && call->status == DLOCK_OK;
    int64_t work_end_ns, lease_end_ns;
    struct row *row;

    if ((is_granted ? end_of_work(c, at) : call->answer_ns) < c->from_ns)
        return;
    row = row_of(c, call->process, call->owner);
    if (row == NULL)
        return;
    fill(c, row, call->invoke_ns, call->answer_ns, '.');
    if (!is_granted)
        return;
    work_end_ns = end_of_work(c, at);
    lease_end_ns = end_of_lease(c, at, work_end_ns);
    if (work_end_ns > lease_end_ns)
        fill(c, row, lease_end_ns, work_end_ns, '!');
    fill(c, row, call->answer_ns,
         work_end_ns < lease_end_ns ? work_end_ns : lease_end_ns, '=');
}

/* The slices in which two owners at once are promised the lock. */
static void mark_overlaps(struct canvas *c)
{
    for (int column = 0; column < c->columns; column++) {
        int promised = 0;

        for (int i = 0; i < c->row_count; i++)
            promised += c->rows[i].cells[column] == '=';
        for (int i = 0; i < c->row_count && promised > 1; i++)
            if (c->rows[i].cells[column] == '=')
                c->rows[i].cells[column] = 'X';
    }
}

static const char *style_of(FILE *out, char cell)
{
    return report_style(out, cell == '='   ? STYLE_GOOD
                             : cell == '!' ? STYLE_WARN
                             : cell == 'X' ? STYLE_BAD
                                           : STYLE_PLAIN);
}

static void print_cells(FILE *out, const char *cells)
{
    char before = ' ';

    for (; *cells != '\0'; cells++) {
        if (*cells != before)
            fputs(style_of(out, *cells), out);
        fputc(*cells, out);
        before = *cells;
    }
    fprintf(out, "%s\n", report_style(out, STYLE_PLAIN));
}

static void print_row(const struct canvas *c, const struct row *row)
{
    const struct history_process *process = &c->h->processes[row->process];
    char label[LABEL_WIDTH + 24];

    if (process->label[0] != '\0')
        snprintf(label, sizeof(label), "%s, owner %" PRIu64, process->label, row->owner);
    else
        snprintf(label, sizeof(label), "pid %" PRIu32 " owner %" PRIu64, process->pid,
                 row->owner);
    fprintf(c->out, "%-*.*s ", LABEL_WIDTH, LABEL_WIDTH, label);
    print_cells(c->out, row->cells);
}

/* The row of the faults: a digit for each, and the legend beneath. */
static void print_faults(const struct canvas *c)
{
    const struct history_mark *faults[FAULTS_MAX];
    char cells[COLUMNS_MAX + 1], name[EXAMPLE_NAME_MAX];
    int count = 0;

    memset(cells, ' ', (size_t)c->columns);
    cells[c->columns] = '\0';
    for (size_t i = 0; i < c->h->mark_count && c->h->marks[i].at_ns <= c->to_ns; i++) {
        const struct history_mark *mark = &c->h->marks[i];

        if (mark->kind != DLOCK_EVENT_FAULT || mark->at_ns < c->from_ns ||
            count == FAULTS_MAX)
            continue;
        cells[column_of(c, mark->at_ns)] = (char)('1' + count);
        faults[count++] = mark;
    }
    if (count == 0)
        return;
    fprintf(c->out, "%-*s %s\n", LABEL_WIDTH, "faults", cells);
    for (int i = 0; i < count; i++) {
        example_name(name, c->h, faults[i]->name);
        fprintf(c->out, "%-*s %d  %s %s, %+.3f ms\n", LABEL_WIDTH, "", i + 1, name,
                history_phase_name(faults[i]->detail),
                example_ms(faults[i]->at_ns - c->from_ns));
    }
}

static void print_scale(const struct canvas *c)
{
    char end[32];
    int length =
        snprintf(end, sizeof(end), "%.3f ms", example_ms(c->to_ns - c->from_ns));

    fprintf(c->out, "%-*s 0%*s\n", LABEL_WIDTH, "",
            c->columns > length + 1 ? c->columns - 1 : length + 1, end);
}

void timeline_draw(FILE *out, int width, const struct history *h,
                   const struct check_example *example)
{
    struct canvas c = {.out = out,
                       .h = h,
                       .name = example->name,
                       .from_ns = example->from_ns,
                       .to_ns = example->to_ns,
                       .columns = width - LABEL_WIDTH - 1};

    if (c.columns < COLUMNS_MIN)
        c.columns = COLUMNS_MIN;
    if (c.columns > COLUMNS_MAX)
        c.columns = COLUMNS_MAX;
    if (c.to_ns <= c.from_ns)
        c.to_ns = c.from_ns + 1;
    for (size_t i = 0; i < h->call_count && h->calls[i].invoke_ns <= c.to_ns; i++)
        if (h->calls[i].name == c.name && h->calls[i].kind == DLOCK_EVENT_ACQUIRE)
            draw_acquire(&c, i);
    mark_overlaps(&c);
    for (int i = 0; i < c.row_count; i++)
        print_row(&c, &c.rows[i]);
    if (c.left_out > 0)
        fprintf(out, "%-*s and %d more calls\n", LABEL_WIDTH, "", c.left_out);
    print_faults(&c);
    print_scale(&c);
    fprintf(out, "%-*s . asks  = holds  X promised to two  ! after its lease\n",
            LABEL_WIDTH, "");
}
