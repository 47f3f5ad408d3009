/* SPDX-License-Identifier: MIT */
/* users.h -- users with tokens: the tokens file, from which the load takes its users. */
#ifndef LOADTEST_SALE_USERS_H
#define LOADTEST_SALE_USERS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/http/token.h"
#include "base/text/exit_codes.h"

struct lab;

/* Read the key file at `path`.  False: the reason is on stderr. */
bool users_load_keys(const char *path, struct token_keys *keys);

/* Is `path` the standard output, "-"?  Tokens that go to a pipe or a terminal cannot
 * replace a file. */
bool users_is_output(const char *path);

/* Print "<user> <token>" for the users 1 to `count`, up to the first error or a signal that asks
 * the program to stop.  False: interrupted() is true, or errno says why not all was printed. */
bool users_print_tokens(FILE *out, const struct token_keys *keys, int64_t count, int64_t expires_s);

/* Write the same lines to the file at `path`.  EXIT_VALID; EXIT_CANNOT_WRITE: stderr says why;
 * EXIT_INTERRUPTED.  But for EXIT_VALID a file at `path` stays as it was. */
enum exit_code users_write_tokens(const char *path, const struct token_keys *keys, int64_t count,
                                  int64_t expires_s);

/* A load ends when it has sold so many times the stock: a broken lock may sell for ever. */
enum { USERS_STOCKS = 5 };

/* The users that wrk needs for a sale of `stock` units and at most `duration_ms`.  Each user buys
 * once, and one of the `threads` may sell all, so each thread has as many users as orders that may
 * be sold.  At least 20,000, and at most a million; a thread whose users have run out says so, see
 * CONTROL_RAN_OUT. */
int64_t users_for_sale(int64_t stock, int64_t duration_ms, int threads);

/* Ensure that the lab's tokens file has at least `count` users, whose tokens are valid for at
 * least 12 hours.  Otherwise the file is written anew, with tokens that are valid for 48 hours.
 * Answers as users_write_tokens() does, or EXIT_UNAVAILABLE: the lab's key cannot be used, said
 * on stderr. */
enum exit_code users_ensure(const struct lab *lab, int64_t count);

#endif /* LOADTEST_SALE_USERS_H */
