/* SPDX-License-Identifier: MIT */
/* postgres_model.h -- a model of PostgreSQL for the statements that sell: vouchers, orders, the
 * unique indexes, row locks, transactions.
 *
 * The model knows only the statements of postgres_statements.c, by their text. Transactions are
 * READ COMMITTED: a statement sees what was committed when it began, and a statement that waited
 * for a row reads the row again.
 *
 * A session is given messages and executes one of them with each model_session_step().  A
 * statement that needs a row or a key of an open transaction waits: the step answers WAITS, and
 * the statement goes on in a later step, once that transaction is over.
 *
 * The model does not use the simulated world: its owner gives it the functions for the time and for
 * wake-ups.
 *
 * Units       microseconds since 1970, by the server's wall clock (now_us).
 * Ownership   The model owns sessions and rows, and frees none of them, because the process of a
 *             seed ends soon.  The owner of the model frees each answer by postgres_answer_free().
 * Threads     One. */
#ifndef SIMULATION_POSTGRES_MODEL_H
#define SIMULATION_POSTGRES_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/postgres/wire.h"

enum {
    POSTGRES_TEXT_SIZE = 80,
    POSTGRES_VALUES_MAX = 12,
    POSTGRES_VOUCHERS_MAX = 8,
    POSTGRES_STATEMENTS_MAX = 64,
    POSTGRES_INDEXES = 3, /* the unique ones of tb_voucher_order */
};

/* The answer to one message: a result of base/postgres/wire.h. */
struct postgres_answer {
    enum postgres_result_kind kind;
    bool ends_session;  /* FATAL */
    enum postgres_transaction transaction; /* with SYNC: as ReadyForQuery says it */
    int rows, columns;
    char **cells;       /* rows x columns; NULL is NULL */
    char tag[24], state[6], constraint[32], text[POSTGRES_TEXT_SIZE * 2];
};

void postgres_answer_free(struct postgres_answer *answer);

enum postgres_message_kind { POSTGRES_PREPARE, POSTGRES_EXECUTE, POSTGRES_SYNC, POSTGRES_END };

/* A message to a session, and its values as text. */
struct postgres_message {
    enum postgres_message_kind kind;
    char name[POSTGRES_TEXT_SIZE];
    char *sql;                         /* of PREPARE */
    char *values[POSTGRES_VALUES_MAX]; /* of EXECUTE; NULL is NULL */
    int count;
    struct postgres_message *next;
};

/* The values of a voucher's row.  Only the open transaction that changed it sees its change. */
struct postgres_voucher_values {
    int64_t stock, version, fence;
};

struct postgres_voucher {
    int64_t id, issued;
    int64_t begin_us, end_us;
    struct postgres_voucher_values committed, changed;
    uint64_t locked_by; /* the transaction that has locked the row; 0: none */
};

struct postgres_order {
    int64_t id, user, voucher;
    int64_t fence, admitted_us; /* 0: NULL */
    int64_t created_us;
    char request[POSTGRES_TEXT_SIZE], process[POSTGRES_TEXT_SIZE];
    char lock_variant[24], stock_guard[24], duplicate_guard[24];
    uint64_t xid;     /* of the transaction that made it */
    int indexed;      /* the number of unique indexes that have the row */
    bool is_committed, is_dead;
};

enum postgres_end { POSTGRES_OPEN_STILL, POSTGRES_COMMITTED, POSTGRES_ABORTED };

struct model_session {
    int pid;
    bool is_over;
    bool is_in_block, has_failed; /* between BEGIN and its end; a statement failed in it */
    bool is_skipping;             /* until the next SYNC, after an error */
    uint64_t xid;                 /* 0: none so far */
    int64_t began_us;             /* the transaction's now() */
    struct {
        char name[POSTGRES_TEXT_SIZE];
        const struct postgres_known *known;
    } prepared[POSTGRES_STATEMENTS_MAX];
    int prepared_count;
    struct postgres_message *first, *last;
    /* Of the statement that is executed: */
    uint64_t waits_for;           /* a transaction; 0: none */
    bool has_waited;
    size_t row;                   /* the next row of an INSERT of several rows */
    size_t inserted;              /* index of the statement's first row, from 1; 0: none */
    struct model_session *next;
    void *owner;                  /* the connection, for wake() */
};

struct postgres_model {
    struct postgres_voucher vouchers[POSTGRES_VOUCHERS_MAX];
    size_t voucher_count;
    struct postgres_order *orders;
    size_t order_count, order_room;
    uint64_t next_xid;            /* transactions below it have begun */
    enum postgres_end *ends;      /* of each transaction */
    size_t end_room;
    int64_t order_number;         /* the sequence */
    int next_pid;
    struct model_session *sessions;
    bool is_full;                 /* its disk has no room */
    int64_t (*now_us)(void *owner);
    /* Called when the transaction for which the session waited has ended, or the session has. */
    void (*wake)(struct model_session *session);
    /* Called for a statement that the model does not know. */
    void (*not_known)(const char *text);
    void *owner;
};

void postgres_model_begin(struct postgres_model *model);

/* Add a voucher with its stock and its sale window. */
void postgres_model_issue(struct postgres_model *model, int64_t id, int64_t stock,
                          int64_t begin_us, int64_t end_us);

/* ---- sessions ---- */

struct model_session *model_session_begin(struct postgres_model *model, void *owner);

/* Give the session a message, which belongs to the model from now on. */
void model_session_give(struct model_session *session, struct postgres_message *message);
void postgres_message_free(struct postgres_message *message);

enum postgres_step {
    POSTGRES_IDLE,  /* there is no message */
    POSTGRES_WAITS, /* for another transaction; wake() is called when it is over */
    POSTGRES_DONE,  /* one message was executed */
};

/* Execute the next message, or go on with the message that waited.  After DONE, *answer is the
 * answer to the message. */
enum postgres_step model_session_step(struct postgres_model *model,
                                         struct model_session *session,
                                         struct postgres_answer *answer);

/* Refuse the statement that waits: a time-out or a deadlock. */
void model_session_refuse(struct postgres_model *model, struct model_session *session,
                             const char *state, struct postgres_answer *answer);

/* Would the wait of this session never end? */
bool model_session_is_deadlocked(const struct postgres_model *model,
                                    const struct model_session *session);

/* End the session, and roll back its open transaction. */
void model_session_end(struct postgres_model *model, struct model_session *session);

/* Crash the server: roll back all open transactions.  `loses_numbers`: the server gives the numbers
 * behind that of the last committed transaction again, since no log has them. */
void postgres_model_crash(struct postgres_model *model, bool loses_numbers);

/* ---- for the statements ---- */

/* A statement under way. */
struct postgres_call {
    struct postgres_model *model;
    struct model_session *session;
    const struct postgres_message *message;
    struct postgres_answer *answer;
};

enum postgres_run { POSTGRES_RAN, POSTGRES_MUST_WAIT, POSTGRES_REFUSED };

struct postgres_known {
    const char *sql;
    int columns;
    bool writes;
    enum postgres_run (*run)(struct postgres_call *call);
    const char *tag; /* "SELECT", "UPDATE", "INSERT": with rows, the number follows */
};

/* NULL: the model does not know the statement. */
const struct postgres_known *postgres_statement_find(const char *sql);

/* The number of the session's transaction, which gets a number if it has none. */
uint64_t postgres_call_xid(struct postgres_call *call);

enum postgres_end postgres_model_end_of(const struct postgres_model *model, uint64_t xid);

/* Add a row, of as many cells as the answer has columns; NULL is NULL. */
void postgres_answer_add_row(struct postgres_answer *answer, const char *const *cells);

/* The same for an answer of at most three columns. */
void postgres_answer_add(struct postgres_answer *answer, const char *a, const char *b,
                         const char *c);

/* Write the tag of the answer, with the number of rows. */
void postgres_answer_tag(struct postgres_answer *answer, const char *tag);

/* Make the answer an error with that SQLSTATE.  Returns POSTGRES_REFUSED. */
enum postgres_run postgres_answer_refuse(struct postgres_answer *answer, const char *state,
                                         const char *constraint, const char *text);

#endif /* SIMULATION_POSTGRES_MODEL_H */
