/* SPDX-License-Identifier: MIT */
/* stream_rig.c -- a stream of one test program, and its contents. */
#include "tests/service/stream_rig.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/stream_mac.h"
#include "base/os/clock.h"
#include "lock/stores/redis_request.h"

static int streams;

const char *stream_name(void)
{
    static char name[48];

    (void)snprintf(name, sizeof(name), "test:%d:%d", (int)getpid(), streams);
    return name;
}

const char *stream_flag(void)
{
    static char flag[80];

    (void)snprintf(flag, sizeof(flag), "--stream-name=%s", stream_name());
    return flag;
}

void stream_anew(void)
{
    streams++;
}

const char *stream_key(const char *ending)
{
    static char key[128];

    (void)snprintf(key, sizeof(key), "%s:%s", stream_name(), ending);
    return key;
}

static const struct redis_answer *ask(const char *const *words)
{
    static struct redis_answer answer;
    struct redis_command command = {.shape = REDIS_SHAPE_ANY};
    struct redis_link *link = NULL;

    while (words[command.argc] != NULL) {
        assert_true(command.argc < REDIS_ARGS_MAX);
        command.argv[command.argc] = words[command.argc];
        command.argc++;
    }
    assert_int_equal(
        redis_link_open(&link, rig_environment("SECKILL_REDIS_URL"), 30000, false), DLOCK_OK);
    if (redis_call(link, &command, INT64_MAX, &answer) != DLOCK_OK)
        fail_msg("%s: %s", words[0], answer.text);
    redis_link_close(link);
    return &answer;
}

int64_t stream_number(const char *const *words)
{
    return ask(words)->integer;
}

const char *stream_text(const char *const *words)
{
    return ask(words)->text;
}

void stream_append(int64_t voucher, int64_t user, int64_t number, const char *request_id,
                   int64_t seconds, int changed)
{
    char order[256], mac[STREAM_MAC_LEN + 1], why[TOKEN_WHY_MAX];
    struct token_keys keys;
    struct token_key key;
    int len = snprintf(order, sizeof(order), "%lld %lld %lld %s %lld -", (long long)voucher,
                       (long long)rig_user(user), (long long)number, request_id,
                       ((long long)dlock_clock_wall_ms() + seconds * 1000) * 1000);

    assert_true(token_keys_load(rig_environment("SECKILL_TOKEN_KEY_FILE"), geteuid(), &keys, why));
    assert_true(stream_mac_derive(&keys.at[0], stream_name(), &key));
    assert_true(stream_mac_write(&key, order, (size_t)len, mac));
    if (changed >= 0)
        *(changed < len ? &order[changed] : &mac[changed - len]) ^= 1;
    (void)STREAM_TEXT("XADD", stream_name(), "*", "order", order, "mac", mac);
}

int64_t stream_waiting(void)
{
    return STREAM_NUMBER("XLEN", stream_name());
}

static bool are_waiting(void *count)
{
    return stream_waiting() == *(int64_t *)count;
}

void stream_await_waiting(int64_t count)
{
    if (!rig_until(are_waiting, &count, RIG_PATIENCE_MS))
        fail_msg("%lld instead of %lld orders wait", (long long)stream_waiting(),
                 (long long)count);
}

struct rows {
    int64_t voucher, count;
};

static bool are_rows(void *arg)
{
    const struct rows *rows = arg;

    return rig_orders(rows->voucher) == rows->count;
}

void stream_await_rows(int64_t voucher, int64_t count)
{
    struct rows rows = {voucher, count};

    if (!rig_until(are_rows, &rows, RIG_PATIENCE_MS))
        fail_msg("%lld instead of %lld rows", (long long)rig_orders(voucher),
                 (long long)count);
}

static bool is_taken(void *unused)
{
    (void)unused;
    return strcmp(STREAM_TEXT("EVAL",
                              "local seen = redis.pcall('XPENDING', KEYS[1], 'writers')"
                              " return seen.err and '0' or tostring(seen[1])",
                              "1", stream_name()),
                  "0") != 0;
}

void stream_await_taken(void)
{
    if (!rig_until(is_taken, NULL, RIG_PATIENCE_MS))
        fail_msg("no order of the stream is in a writer's hands");
}

static bool is_log_written(void *unused)
{
    (void)unused;
    return strstr(STREAM_TEXT("EVAL",
                              "local i = redis.call('INFO', 'persistence')"
                              " return (i:match('aof_enabled:1') or '')"
                              " .. (i:match('aof_rewrite_in_progress:0') or '')"
                              " .. (i:match('aof_rewrite_scheduled:0') or '')",
                              "0"),
                  "aof_enabled:1aof_rewrite_in_progress:0aof_rewrite_scheduled:0") != NULL;
}

void stream_keep_all(void)
{
    (void)STREAM_TEXT("CONFIG", "SET", "appendfsync", "always");
    (void)STREAM_TEXT("CONFIG", "SET", "appendonly", "yes");
    assert_true(rig_until(is_log_written, NULL, RIG_PATIENCE_MS));
}

static void ask_for_fault(const struct rig_service *at, const char *path)
{
    static struct rig_answer answer;

    assert_true(rig_request(at->admin_port, "POST", path, NULL, NULL, &answer));
    if (answer.status != 200)
        fail_msg("%s: %d: %s", path, answer.status, answer.body);
}

void stream_arm(const struct rig_service *at, const char *point, const char *action)
{
    char path[160];

    (void)snprintf(path, sizeof(path), "/faults/arm?point=%s&action=%s", point, action);
    ask_for_fault(at, path);
}

void stream_release(const struct rig_service *at, const char *point)
{
    char path[160];

    (void)snprintf(path, sizeof(path), "/faults/release?point=%s", point);
    ask_for_fault(at, path);
}

static int64_t told(const struct rig_answer *answer)
{
    const char *id = strstr(answer->body, "\"id\":\"");

    return id != NULL ? strtoll(id + strlen("\"id\":\""), NULL, 10) : 0;
}

int64_t stream_buy(const struct rig_service *at, int64_t voucher, int64_t user,
                   const char *request_id, int status, const char *outcome)
{
    static struct rig_answer answer;

    if (request_id[0] != '\0')
        (void)rig_order_named(at->orders_port, voucher, user, request_id, &answer);
    else
        (void)rig_order(at->orders_port, voucher, user, &answer);
    if (answer.status != status || strcmp(answer.outcome, outcome) != 0)
        fail_msg("user %lld: %d %s instead of %d %s: %s", (long long)user, answer.status,
                 answer.outcome, status, outcome, answer.body);
    return told(&answer);
}

void stream_expect_request(const struct rig_service *at, int64_t user, const char *request_id,
                           const char *outcome, int64_t order_id)
{
    static struct rig_answer answer;
    char token[TOKEN_LEN + 1], extra[128], path[128], want[64];

    rig_token(user, token);
    (void)snprintf(extra, sizeof(extra), "authorization: %s\r\n", token);
    (void)snprintf(path, sizeof(path), "/api/v1/requests/%s", request_id);
    (void)snprintf(want, sizeof(want), "\"outcome\":\"%s\"", outcome);
    assert_true(rig_request(at->orders_port, "GET", path, extra, NULL, &answer));
    if (answer.status != 200 || strstr(answer.body, want) == NULL ||
        told(&answer) != order_id)
        fail_msg("request %s: %d %s instead of %s of order %lld", request_id, answer.status,
                 answer.body, outcome, (long long)order_id);
}

void stream_expect_row(int64_t order_id, int64_t voucher, int64_t user)
{
    static const struct postgres_statement OWNER = {
        "stream_owner", "SELECT user_id FROM tb_voucher_order WHERE id = $1"
                        " AND voucher_id = $2", "ii"};

    assert_int_equal(
        db_run_one(rig_db(), &OWNER, DB_VALUES(DB_INT(order_id), DB_INT(voucher))), DB_OK);
    assert_int_equal(db_rows(rig_db(), 0), 1);
    assert_int_equal(db_int(rig_db(), 0, 0, 0), rig_user(user));
}
