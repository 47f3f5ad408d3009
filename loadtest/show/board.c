/* SPDX-License-Identifier: MIT */
/* board.c -- what browsers are shown, and what they wish. */
#include "loadtest/show/board.h"

#include <stdlib.h>
#include <string.h>

void show_board_init(struct show_board *board, const struct show_switches *switches)
{
    *board = (struct show_board){.phase = SHOW_STARTING, .switches = *switches};
    pthread_mutex_init(&board->mutex, NULL);
}

void show_board_destroy(struct show_board *board)
{
    free(board->document);
    pthread_mutex_destroy(&board->mutex);
}

void show_board_publish(struct show_board *board, char *document, enum show_phase phase,
                        const struct show_switches *switches)
{
    char *old;

    pthread_mutex_lock(&board->mutex);
    old = board->document;
    board->document = document;
    board->phase = phase;
    board->switches = *switches;
    pthread_mutex_unlock(&board->mutex);
    free(old);
}

char *show_board_document(struct show_board *board)
{
    char *copy;

    pthread_mutex_lock(&board->mutex);
    copy = board->document ? strdup(board->document) : NULL;
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

bool show_board_wish(struct show_board *board, const struct show_wish *wish)
{
    bool is_free;

    pthread_mutex_lock(&board->mutex);
    is_free = board->wish.kind == SHOW_WISH_NONE;
    if (is_free)
        board->wish = *wish;
    pthread_mutex_unlock(&board->mutex);
    return is_free;
}

struct show_wish show_board_take_wish(struct show_board *board)
{
    struct show_wish wish;

    pthread_mutex_lock(&board->mutex);
    wish = board->wish;
    board->wish.kind = SHOW_WISH_NONE;
    pthread_mutex_unlock(&board->mutex);
    return wish;
}
