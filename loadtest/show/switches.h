/* SPDX-License-Identifier: MIT */
/* switches.h -- the settings of a sale that the page can change, in one list. */
#ifndef LOADTEST_SHOW_SWITCHES_H
#define LOADTEST_SHOW_SWITCHES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "loadtest/kit/why.h"
#include "loadtest/sale/service.h"

/* X(field, flag, of seckilld, names) */
#define SHOW_CHOICES(X)                                                                \
    X(lock, "lock", true, words_lock_at)                                               \
    X(scope, "lock-scope", true, show_scope_at)                                        \
    X(stock_guard, "stock-guard", true, guard_name_at)                                 \
    X(duplicate_guard, "duplicate-guard", true, duplicate_guard_name_at)               \
    X(watchdog, "watchdog", true, show_on_off_at)                                      \
    X(order_path, "order-path", true, order_path_name_at)                              \
    X(users, "users", false, show_users_at)
/* X(field, flag, of seckilld, least, most) */
#define SHOW_NUMBERS(X)                                                                \
    X(lease_ms, "lock-lease", true, 100, 60000)                                        \
    X(processes, "processes", false, 1, SERVICE_MAX)                                   \
    X(connections, "connections", false, 1, 256)                                       \
    X(rate, "rate", false, 0, 20000)                                                   \
    X(stock, "stock", false, 1, 1000000)

/* Every choice is a name of its list, which lives as long as the program. */
struct show_switches {
#define X(field, flag, of_service, names) const char *field;
    SHOW_CHOICES(X)
#undef X
#define X(field, flag, of_service, least, most) int64_t field;
    SHOW_NUMBERS(X)
#undef X
};

/* The names that a choice has; NULL past the last.  Locks have words_lock_at(). */
enum { SHOW_SCOPE_USER, SHOW_SCOPE_VOUCHER };
const char *show_scope_at(size_t i);
const char *show_on_off_at(size_t i);
enum { SHOW_USERS_DIFFERENT, SHOW_USERS_SAME };
const char *show_users_at(size_t i);

/* Does one user send all orders, over all connections at once? */
bool show_switches_same_user(const struct show_switches *switches);

enum { SHOW_FLAGS_MAX = 12, SHOW_FLAG_MAX = 64, SHOW_COMMAND_MAX = 512 };

/* The flags that seckilld is started with. */
struct show_flags {
    char text[SHOW_FLAGS_MAX][SHOW_FLAG_MAX];
    const char *list[SHOW_FLAGS_MAX + 1]; /* into text, NULL at the end */
};
void show_flags_make(struct show_flags *out, const struct show_switches *switches);

/* The command line that starts the same; `lesson` 0: none is shown. */
void show_command_line(char out[SHOW_COMMAND_MAX], const struct show_switches *switches,
                       int64_t limit_ms, int lesson);

/* Change what the object names.  False: `why` (WHY_MAX bytes) says which member is wrong,
 * and nothing is changed. */
bool show_switches_read(struct show_switches *switches, const json_t *object, char *why);
/* The caller owns it. */
json_t *show_switches_json(const struct show_switches *switches);

bool show_switches_equal(const struct show_switches *a, const struct show_switches *b);

#endif /* LOADTEST_SHOW_SWITCHES_H */
