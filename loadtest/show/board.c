/* SPDX-License-Identifier: MIT */
/* board.c -- the state for browsers, and their wishes. */
#include "loadtest/show/board.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text/duration.h"

enum {
    ANSWER_S = 3,
    FEW = 8,        /* browsers that are told of every state                          */
    UNKNOWN_MS = 250, /* until a browser asks again, when no state is due             */
    LEAST_MS = 50,  /* the same, when the state that is due is late                   */
};

void show_board_init(struct show_board *board, const struct show_switches *switches)
{
    pthread_condattr_t clock;

    *board = (struct show_board){.phase = SHOW_STARTING, .switches = *switches};
    pthread_mutex_init(&board->mutex, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&board->answered, &clock);
    pthread_condattr_destroy(&clock);
}

void show_board_destroy(struct show_board *board)
{
    free(board->document);
    pthread_cond_destroy(&board->answered);
    pthread_mutex_destroy(&board->mutex);
}

void show_board_publish(struct show_board *board, char *document, enum show_phase phase,
                        const struct show_switches *switches, struct show_pace pace)
{
    char *old;

    pthread_mutex_lock(&board->mutex);
    old = board->document;
    board->document = document;
    board->phase = phase;
    board->switches = *switches;
    if (pace.next_ns != board->pace.next_ns) {
        board->asked_before = board->asked;
        board->asked = 0;
    }
    board->pace = pace;
    pthread_mutex_unlock(&board->mutex);
    free(old);
}

/* Do more than FEW browsers ask?  A browser that leaves out every second state asks only in one
 * of two steps, so both steps are looked at. */
static bool has_many_readers(const struct show_board *board)
{
    return board->asked > FEW || board->asked_before > FEW;
}

static int next_ms(const struct show_board *board)
{
    int64_t ms = (board->pace.next_ns - monotonic_ns()) / 1000000;

    if (board->pace.next_ns == 0)
        return UNKNOWN_MS;
    if (has_many_readers(board))
        ms += board->pace.step_ms;
    return ms < LEAST_MS ? LEAST_MS : (int)ms;
}

char *show_board_document(struct show_board *board)
{
    static const char more[] = ",\"next_ms\":";
    char *copy = NULL;

    pthread_mutex_lock(&board->mutex);
    if (board->document) {
        size_t length = strlen(board->document) - strlen("}");
        size_t size = length + sizeof more + 16;

        board->asked++;
        copy = malloc(size);
        if (copy)
            snprintf(copy, size, "%.*s%s%d}", (int)length, board->document, more, next_ms(board));
    }
    pthread_mutex_unlock(&board->mutex);
    return copy;
}

enum show_phase show_board_phase(struct show_board *board, struct show_switches *switches)
{
    enum show_phase phase;

    pthread_mutex_lock(&board->mutex);
    phase = board->phase;
    *switches = board->switches;
    pthread_mutex_unlock(&board->mutex);
    return phase;
}

enum show_wish_end show_board_wish(struct show_board *board, const struct show_wish *wish,
                                   struct show_refusal *refusal)
{
    enum show_wish_end end = SHOW_WISH_BUSY;
    struct timespec by;

    clock_gettime(CLOCK_MONOTONIC, &by);
    by.tv_sec += ANSWER_S;
    pthread_mutex_lock(&board->mutex);
    if (!board->is_waiting && !board->is_taken) {
        board->wish = *wish;
        board->is_waiting = true;
        board->is_answered = false;
        while (!board->is_answered &&
               pthread_cond_timedwait(&board->answered, &board->mutex, &by) == 0)
            ;
        if (board->is_answered) {
            end = board->refusal.text ? SHOW_WISH_REFUSED : SHOW_WISH_TAKEN;
            if (end == SHOW_WISH_REFUSED)
                *refusal = board->refusal;
        }
        board->wish.kind = SHOW_WISH_NONE; /* so that it is not taken later */
        board->is_waiting = false;
    }
    pthread_mutex_unlock(&board->mutex);
    return end;
}

struct show_wish show_board_take_wish(struct show_board *board)
{
    struct show_wish wish;

    pthread_mutex_lock(&board->mutex);
    wish = board->wish;
    board->wish.kind = SHOW_WISH_NONE;
    board->is_taken = wish.kind != SHOW_WISH_NONE;
    pthread_mutex_unlock(&board->mutex);
    return wish;
}

void show_board_answer(struct show_board *board, struct show_refusal refusal)
{
    pthread_mutex_lock(&board->mutex);
    board->is_taken = false;
    board->is_answered = true;
    board->refusal = refusal;
    pthread_cond_broadcast(&board->answered);
    pthread_mutex_unlock(&board->mutex);
}
