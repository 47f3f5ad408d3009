/* SPDX-License-Identifier: MIT */
/* postgres_renewals.h -- renews many rows by one statement, which costs one round trip and
 * one write to the disk.
 *
 * Threads     Any. */
#ifndef DLOCK_POSTGRES_RENEWALS_H
#define DLOCK_POSTGRES_RENEWALS_H

#include "lock/stores/postgres_pool.h"

/* The statement: `is_held` is true of the row `l` that the claim `a` holds, and `end` is
 * the new end of its lease.  It skips a row that another transaction has locked.  Its
 * answer has a letter for each claim: 1, the row was renewed; 2, it was skipped; 0, there
 * is no such row. */
#define POSTGRES_RENEW_ALL(table, id, is_held, end)                                    \
    {{"renew_all",                                                                     \
      "WITH asked AS (SELECT decode(split_part(item, ' ', 1), 'hex') AS name,"         \
      " split_part(item, ' ', 2) AS owner, split_part(item, ' ', 3) AS token,"         \
      " split_part(item, ' ', 4)::int * interval '1 ms' AS lease, n"                   \
      " FROM unnest(string_to_array($1, ',')) WITH ORDINALITY AS items (item, n)),"    \
      " found AS (SELECT l." id " AS id, a.lease, a.n FROM " table " AS l, asked AS a" \
      " WHERE l.name = a.name AND " is_held " FOR UPDATE OF l SKIP LOCKED),"           \
      " renewed AS (UPDATE " table " AS l SET expires_at = " end                       \
      " FROM found AS a WHERE l." id " = a.id RETURNING a.n)"                          \
      " SELECT string_agg(CASE WHEN a.n IN (SELECT n FROM renewed) THEN '1' WHEN"      \
      " EXISTS (SELECT FROM " table " AS l WHERE l.name = a.name AND " is_held ")"     \
      " THEN '2' ELSE '0' END, '' ORDER BY a.n) FROM asked AS a",                      \
      "t"},                                                                            \
     .shape = {.kind = POSTGRES_TEXT}}

/* The slot renew_all, by such a statement.  `renew` is the slot, which is asked for each
 * row that was skipped. */
void postgres_renew_all(struct postgres_pool *pool, const struct postgres_question *question,
                        dlock_status renew(void *state, const dlock_claim *claim),
                        const dlock_claim *claims, size_t count, dlock_status *statuses);

#endif /* DLOCK_POSTGRES_RENEWALS_H */
