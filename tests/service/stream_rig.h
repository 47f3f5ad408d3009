/* SPDX-License-Identifier: MIT */
/* stream_rig.h -- what the tests of --order-path=stream share: a stream of their own, and a
 * look at it.
 *
 * Each function fails the running test when it cannot do its work, so call it on the test's
 * main thread.
 */
#ifndef TESTS_SERVICE_STREAM_RIG_H
#define TESTS_SERVICE_STREAM_RIG_H

#include "tests/service/rig.h"

/* A service whose stream is that of this test program.  Statements wait as long as a slow
 * machine needs, for the tests that hold a voucher's row. */
#define STREAM_START(...)                                                              \
    RIG_START("--order-path=stream", stream_flag(), "--statement-timeout=50s",         \
              "--database-wait=50s", "--stream-claim=60s", __VA_ARGS__)

/* "--stream-name=NAME", and NAME.  stream_anew(): another one from now on. */
const char *stream_flag(void);
const char *stream_name(void);
void stream_anew(void);

/* Ask the Redis of the lab, with up to 12 words to a NULL; the answer's number, or its text,
 * valid until the next question. */
int64_t stream_number(const char *const *words);
const char *stream_text(const char *const *words);
#define STREAM_NUMBER(...) stream_number((const char *const[]){__VA_ARGS__, NULL})
#define STREAM_TEXT(...) stream_text((const char *const[]){__VA_ARGS__, NULL})

/* A key of the stream, such as "poison". */
const char *stream_key(const char *ending);

/* Orders in the stream. */
int64_t stream_waiting(void);

/* Wait until there are so many in the stream, or rows of the voucher. */
void stream_await_waiting(int64_t count);
void stream_await_rows(int64_t voucher, int64_t count);

/* Wait until a writer has an order of the stream in its hands. */
void stream_await_taken(void);

/* From now on Redis has each write on disk before it answers, and goes on with what it has
 * after a restart. */
void stream_keep_all(void);

/* A named point of a service with --allow-faults. */
void stream_arm(const struct rig_service *at, const char *point, const char *action);
void stream_release(const struct rig_service *at, const char *point);

/* An order of the user that must be answered so; answers the number that the client was told,
 * or 0. */
int64_t stream_buy(const struct rig_service *at, int64_t voucher, int64_t user,
                   const char *request_id, int status, const char *outcome);

/* Ask what became of the request of a user, which must be this. */
void stream_expect_request(const struct rig_service *at, int64_t user, const char *request_id,
                           const char *outcome, int64_t order_id);

/* The user and the request of the order's row, which must be there. */
void stream_expect_row(int64_t order_id, int64_t voucher, int64_t user);

#endif /* TESTS_SERVICE_STREAM_RIG_H */
