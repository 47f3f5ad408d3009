/* SPDX-License-Identifier: MIT */
/* sale_needs.h -- what a session needs so that orders can be sold in it.
 *
 * The service asks for it at the start and for /readyz. */
#ifndef DB_SALE_NEEDS_H
#define DB_SALE_NEEDS_H

/* The rights of an order: RIGHT(action, table).  A right to one column counts, because
 * the owner may have granted only the columns that the statements use. */
#define SALE_RIGHTS(RIGHT)                                                             \
    RIGHT("SELECT", "tb_voucher")                                                      \
    RIGHT("SELECT", "tb_seckill_voucher")                                              \
    RIGHT("UPDATE", "tb_seckill_voucher")                                              \
    RIGHT("SELECT", "tb_voucher_order")                                                \
    RIGHT("INSERT", "tb_voucher_order")

/* The right of an order with --record. */
#define SALE_RECORD_RIGHT(RIGHT) RIGHT("INSERT", "tb_voucher_write")

#define SALE_NEED(action, table)                                                       \
    " ('" table "', '" action "', has_any_column_privilege(to_regclass('" table "'),"  \
    " '" action "')),"
#define SALE_NEED_IF_RECORDED(action, table)                                           \
    " ('" table "', '" action "', $1 = 0"                                              \
    " OR has_any_column_privilege(to_regclass('" table "'), '" action "')),"

/* The SQL expression of a text: all that the session lacks.  NULL: nothing.  $1 is 1 with
 * --record, else 0.  PostgreSQL treats READ UNCOMMITTED as READ COMMITTED. */
#define SALE_LACKS                                                                     \
    "(SELECT string_agg(DISTINCT CASE WHEN action IS NULL THEN what"                   \
    "  WHEN to_regclass(what) IS NULL THEN 'the table ' || what || ' is missing'"      \
    "  ELSE 'the right ' || action || ' on ' || what || ' is missing' END, ', ')"      \
    " FROM (VALUES" SALE_RIGHTS(SALE_NEED) SALE_RECORD_RIGHT(SALE_NEED_IF_RECORDED)    \
    "  ('the sequence order_number, or the right USAGE on it, is missing', NULL,"      \
    "   has_sequence_privilege(to_regclass('order_number'), 'USAGE, UPDATE')),"        \
    "  ('the function refuse_second_order is missing', NULL,"                          \
    "   to_regproc('refuse_second_order') IS NOT NULL),"                               \
    "  ('transactions are ' || current_setting('transaction_isolation')"               \
    "   || ' instead of read committed (default_transaction_isolation)', NULL,"        \
    "   current_setting('transaction_isolation') LIKE 'read %'))"                      \
    " AS need (what, action, is_there) WHERE is_there IS NOT TRUE)"

#endif /* DB_SALE_NEEDS_H */
