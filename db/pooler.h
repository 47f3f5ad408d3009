/* SPDX-License-Identifier: MIT */
/* pooler.h -- does what stands before PostgreSQL fit what the settings say of it? */
#ifndef DB_POOLER_H
#define DB_POOLER_H

#include "db/conn.h"

/* Is there a pooler of transactions, where `opts` say that there is one of sessions?  Opens
 * two connections, which leave nothing in the sessions that they are given.
 * True: yes; `why` says what to set.  False: no, or nobody knows: a pooler that is busy may
 * give each of the two another session, and then the statements that fail name it later. */
bool db_pooler_mixes_sessions(const struct db_options *opts, char *why, size_t size);

/* Is there a pooler at the other end of a connection that was opened as if there were none?
 *   OK     no, or the connection was opened for one
 *   ERROR  yes; `why` says what to set
 *   LOST   the question was not answered; `why` has the error */
enum db_status db_pooler_is_absent(struct db_conn *db, const struct db_options *opts,
                                   char *why, size_t size);

#endif /* DB_POOLER_H */
