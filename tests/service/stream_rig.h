/* SPDX-License-Identifier: MIT */
/* stream_rig.h -- functions that the tests of --order-path=stream share: a stream of their own, and
 * its contents.
 *
 * Each function fails the running test when it cannot do its work, so call it on the main thread of
 * the test.
 */
#ifndef TESTS_SERVICE_STREAM_RIG_H
#define TESTS_SERVICE_STREAM_RIG_H

#include "tests/service/rig.h"

/* Start a service with the stream of this test program. Its timeouts let tests lock a voucher's row
 * for as long as a slow machine needs. */
#define STREAM_START(...)                                                              \
    RIG_START("--order-path=stream", stream_flag(), "--statement-timeout=50s",         \
              "--database-wait=50s", "--stream-claim=60s", __VA_ARGS__)

/* "--stream-name=NAME", and NAME. stream_anew() changes NAME. */
const char *stream_flag(void);
const char *stream_name(void);
void stream_anew(void);

/* Send a command to the Redis of the lab, of up to 12 words and a NULL. Returns the number or the
 * text of the reply; the text is valid until the next command. */
int64_t stream_number(const char *const *words);
const char *stream_text(const char *const *words);
#define STREAM_NUMBER(...) stream_number((const char *const[]){__VA_ARGS__, NULL})
#define STREAM_TEXT(...) stream_text((const char *const[]){__VA_ARGS__, NULL})

/* A key of the stream, such as "poison". */
const char *stream_key(const char *ending);

/* Append an order of the user, let in `seconds` from now, with the MAC by the lab's first key. Its
 * byte number `changed`, or that of the MAC behind it, is changed afterwards; -1: none. */
void stream_append(int64_t voucher, int64_t user, int64_t number, const char *request_id,
                   int64_t seconds, int changed);

/* The number of orders in the stream. */
int64_t stream_waiting(void);

/* Wait until the stream has `count` orders, or the voucher has `count` rows. */
void stream_await_waiting(int64_t count);
void stream_await_rows(int64_t voucher, int64_t count);

/* Wait until a writer has taken an order of the stream. */
void stream_await_taken(void);

/* From now on Redis writes to its disk before it answers, and keeps its data over a restart. */
void stream_keep_all(void);

/* Arm or release a fault point of a service with --allow-faults. */
void stream_arm(const struct rig_service *at, const char *point, const char *action);
void stream_release(const struct rig_service *at, const char *point);

/* Order for the user, and check the status and the outcome. Returns the number in the answer, or
 * 0. */
int64_t stream_buy(const struct rig_service *at, int64_t voucher, int64_t user,
                   const char *request_id, int status, const char *outcome);

/* Ask for the fate of a user's request, and check the outcome and the order. */
void stream_expect_request(const struct rig_service *at, int64_t user, const char *request_id,
                           const char *outcome, int64_t order_id);

/* Check that the order has a row, with this user and voucher. */
void stream_expect_row(int64_t order_id, int64_t voucher, int64_t user);

#endif /* TESTS_SERVICE_STREAM_RIG_H */
