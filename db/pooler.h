/* SPDX-License-Identifier: MIT */
/* pooler.h -- checks that the pooler before PostgreSQL is the one that the settings
 * name. */
#ifndef DB_POOLER_H
#define DB_POOLER_H

#include "db/conn.h"

/* Is the pooler one of transactions, although `opts` name one of sessions?  Opens two
 * connections, which change nothing in their sessions.  True: yes, and `why` says what
 * to set.  False: no, or not known: a busy pooler may give each connection another
 * session, and then later failures of statements name the mistake. */
bool db_pooler_mixes_sessions(const struct db_options *opts, char *why, size_t size);

/* Is there a pooler, although the connection was opened with the pooler `none`?
 *   OK     no, or `opts` name a pooler
 *   ERROR  yes; `why` says what to set
 *   LOST   the question was not answered; `why` has the error */
enum db_status db_pooler_is_absent(struct db_conn *db, const struct db_options *opts,
                                   char *why, size_t size);

#endif /* DB_POOLER_H */
