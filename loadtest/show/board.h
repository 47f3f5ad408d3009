/* SPDX-License-Identifier: MIT */
/* board.h -- the memory that the thread of the sale shares with the threads that answer browsers.
 *
 * The thread of the sale writes the state of the sale to the board.  The other threads read the
 * state, and leave at most one wish at a time, for whose answer they wait.  A wish is the request
 * of a browser to change the sale.
 *
 * Threads     Any.
 */
#ifndef LOADTEST_SHOW_BOARD_H
#define LOADTEST_SHOW_BOARD_H

#include <pthread.h>

#include "loadtest/show/lesson.h"
#include "loadtest/show/switches.h"

enum show_phase {
    SHOW_STARTING, /* processes are being started, or vouchers made               */
    SHOW_READY,    /* they take orders, and no load sends any                     */
    SHOW_RUNNING,
    SHOW_ENDED,
    SHOW_FAILED,   /* it could not be started; the reason is known                */
};

enum show_wish_kind { SHOW_WISH_NONE, SHOW_WISH_RUN, SHOW_WISH_OFFER, SHOW_WISH_STOP,
                      SHOW_WISH_FAULT, SHOW_WISH_HEAL, SHOW_WISH_LESSON,
                      SHOW_WISH_PREDICT, SHOW_WISH_LESSON_RUN };

/* The request of a browser. */
struct show_wish {
    enum show_wish_kind kind;
    struct show_switches switches; /* of RUN and OFFER                             */
    struct show_switches base;     /* the settings of the sale that switches were made
                                    * from                                         */
    char fault[32];                /* of FAULT                                     */
    int target;                    /* of FAULT: a process from 0 on; -1: the holder */
    int lesson;                    /* of LESSON: its number; 0: none                */
    enum lesson_outcome answer;    /* of PREDICT                                    */
    char server[16];               /* of FAULT: its name in the lab; "": the first
                                    * that keeps the lock                          */
    int64_t by_ms;                 /* of FAULT: as fault_scene.by_ms; 0: by default */
};

/* The reason for which a wish is not carried out: a static text, and a code for which words.js
 * has a sentence.  text NULL: the wish is carried out. */
struct show_refusal {
    const char *text, *code;
};

/* When the next state is due. */
struct show_pace {
    int64_t next_ns; /* of the monotonic clock; 0: not known                        */
    int step_ms;     /* from the next state to the one after it                     */
};

/* The ends that a wish can have. */
enum show_wish_end {
    SHOW_WISH_TAKEN,   /* it is being carried out                                  */
    SHOW_WISH_REFUSED, /* it cannot be carried out now; the reason is known        */
    SHOW_WISH_BUSY,    /* another one is being carried out                         */
};

struct show_board {
    pthread_mutex_t mutex;
    char *document; /* the newest state; owned                                      */
    enum show_phase phase;
    struct show_pace pace;
    int asked, asked_before; /* requests for the document in the present step, and in the step
                              * before; a step begins when the next state gets due   */
    struct show_switches switches; /* of the sale that is there                     */
    struct show_wish wish;
    pthread_cond_t answered;
    bool is_waiting, is_taken, is_answered; /* a thread waits for the answer; the thread of
                                             * the sale has read the wish; it has answered */
    struct show_refusal refusal; /* the answer                                      */
};

void show_board_init(struct show_board *board, const struct show_switches *switches);
void show_board_destroy(struct show_board *board);

/* Replace the document, a JSON object, of which the board becomes the owner. */
void show_board_publish(struct show_board *board, char *document, enum show_phase phase,
                        const struct show_switches *switches, struct show_pace pace);

/* A copy of the document, which the caller frees; NULL: there is none yet.  The copy has one
 * more member, "next_ms": the milliseconds until a browser should ask again, when the next state
 * is due.  While more than a few browsers ask, each is told to leave out every second state: the
 * requests of forty browsers would otherwise take processor time that the sale needs. */
char *show_board_document(struct show_board *board);

/* The phase and the settings that the newest document was written in. */
enum show_phase show_board_phase(struct show_board *board, struct show_switches *switches);

/* Leave a wish, and wait for its answer, for a few seconds at most.  *refusal is written only
 * if it was REFUSED. */
enum show_wish_end show_board_wish(struct show_board *board, const struct show_wish *wish,
                                   struct show_refusal *refusal);
/* Take the wish that waits; its kind is NONE if no wish waits.  The thread that takes a wish
 * answers it before it is carried out. */
struct show_wish show_board_take_wish(struct show_board *board);
void show_board_answer(struct show_board *board, struct show_refusal refusal);

#endif /* LOADTEST_SHOW_BOARD_H */
