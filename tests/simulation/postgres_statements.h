/* SPDX-License-Identifier: MIT */
/* postgres_statements.h -- functions that the files of the statements share: values, arrays,
 * rows. */
#ifndef SIMULATION_POSTGRES_STATEMENTS_H
#define SIMULATION_POSTGRES_STATEMENTS_H

#include "tests/simulation/postgres_model.h"

struct postgres_digits {
    char text[24];
};

/* ---- values of the statement; NULL reads as 0 and "" ---- */

int64_t postgres_call_number(const struct postgres_call *call, int at);
const char *postgres_call_text(const struct postgres_call *call, int at);

/* The number in digits, in the memory of `out`. */
const char *postgres_number(struct postgres_digits *out, int64_t number);

/* Read the next element of an array in PostgreSQL's text form. *at begins at the array's brace, and
 * moves on. Returns false after the last element. */
bool postgres_array_next(const char **at, char out[POSTGRES_TEXT_SIZE]);
bool postgres_array_has(const char *array, const char *wanted);

/* ---- rows ---- */

/* NULL: there is none. */
struct postgres_voucher *postgres_voucher_of(const struct postgres_call *call, int64_t id);

/* The version of the rows that a statement sees which begins now. */
const struct postgres_voucher_values *postgres_voucher_seen(const struct postgres_call *call,
                                                            const struct postgres_voucher *v);
bool postgres_order_is_seen(const struct postgres_call *call,
                            const struct postgres_order *order);

/* ---- postgres_writers.c ---- */

/* Find a statement that writes or locks; NULL: there is none with this text. */
const struct postgres_known *postgres_writer_find(const char *sql);

#endif /* SIMULATION_POSTGRES_STATEMENTS_H */
