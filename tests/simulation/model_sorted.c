/* SPDX-License-Identifier: MIT */
/* model_sorted.c -- sorted sets. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/simulation/model.h"

/* Read a score: a number, inf or -inf. Returns false if the text is none; the reply then says
 * so. */
static bool read_score(struct bytes text, double *out)
{
    char *end = NULL;
    struct bytes copy = bytes_copy(text);
    bool is_one;

    *out = strtod(copy.at, &end) + 0.0; /* -0 becomes 0, as in a small sorted set of Redis */
    is_one = text.len > 0 && end == copy.at + text.len && !isnan(*out) &&
             copy.at[0] != ' ';
    free(copy.at);
    return is_one;
}

/* A limit of a range; with "(" before it, the limit itself is not in the range. */
struct limit {
    double score;
    bool is_out;
};

static bool read_limit(struct bytes text, struct limit *out)
{
    out->is_out = text.len > 0 && text.at[0] == '(';
    if (out->is_out)
        text = (struct bytes){text.at + 1, text.len - 1};
    return read_score(text, &out->score);
}

static bool read_limits(struct call *call, struct limit *least, struct limit *most)
{
    if (read_limit(call->argv[2], least) && read_limit(call->argv[3], most))
        return true;
    reply_error(call->out, "ERR min or max is not a float");
    return false;
}

static bool is_between(double score, const struct limit *least, const struct limit *most)
{
    return (least->is_out ? score > least->score : score >= least->score) &&
           (most->is_out ? score < most->score : score <= most->score);
}

static void zadd(struct call *call)
{
    struct key *key;
    bool if_present = bytes_is(call->argv[2], "XX");
    size_t first = if_present ? 3 : 2;
    int64_t added = 0;
    double score;

    if (call->argc <= first || (call->argc - first) % 2 != 0) {
        reply_error(call->out, "ERR syntax error");
        return;
    }
    for (size_t i = first; i < call->argc; i += 2)
        if (!read_score(call->argv[i], &score)) {
            reply_error(call->out, "ERR value is not a valid float");
            return;
        }
    if (!model_find(call, call->argv[1], SORTED, &key))
        return;
    if (key == NULL && !if_present)
        key = keys_add(&call->model->keys, call->argv[1], SORTED);
    for (size_t i = first; key != NULL && i < call->argc; i += 2) {
        size_t at = key_find(key, call->argv[i + 1]);
        bool is_there = at < key->count;

        if (!is_there && if_present)
            continue;
        (void)read_score(call->argv[i], &score);
        if (is_there)
            key_remove(key, at);
        added += !is_there;
        key_insert(key, key_rank(key, call->argv[i + 1], score), call->argv[i + 1],
                   (struct bytes){0}, score);
        model_touch(call->model, call->argv[1]);
    }
    reply_integer(call->out, added);
}

static void zrem(struct call *call)
{
    model_remove_parts(call, SORTED);
}

static void zscore(struct call *call)
{
    struct key *key;
    size_t at;

    if (!model_find(call, call->argv[1], SORTED, &key))
        return;
    at = key != NULL ? key_find(key, call->argv[2]) : 0;
    if (key == NULL || at == key->count)
        reply_nil(call->out);
    else
        reply_double(call->out, key->parts[at].score);
}

static void zcard(struct call *call)
{
    struct key *key;

    if (model_find(call, call->argv[1], SORTED, &key))
        reply_integer(call->out, key != NULL ? (int64_t)key->count : 0);
}

static void zcount(struct call *call)
{
    struct limit least, most;
    struct key *key;
    int64_t count = 0;

    if (!read_limits(call, &least, &most) || !model_find(call, call->argv[1], SORTED, &key))
        return;
    for (size_t i = 0; key != NULL && i < key->count; i++)
        count += is_between(key->parts[i].score, &least, &most);
    reply_integer(call->out, count);
}

static void reply_member(struct call *call, const struct part *part, bool with_score)
{
    reply_bulk(call->out, part->name);
    if (with_score)
        reply_double(call->out, part->score);
}

static void zrangebyscore(struct call *call)
{
    struct limit least, most;
    struct key *key;
    bool with_scores = call->argc > 4 && bytes_is(call->argv[4], "WITHSCORES");
    size_t limit_at = with_scores ? 5 : 4;
    int64_t skip = 0, left = INT64_MAX, count = 0;

    if (!read_limits(call, &least, &most))
        return;
    if (call->argc == limit_at + 3 && bytes_is(call->argv[limit_at], "LIMIT")) {
        if (!model_number(call, limit_at + 1, &skip) ||
            !model_number(call, limit_at + 2, &left))
            return;
        left = left < 0 ? INT64_MAX : left;
    } else if (call->argc != limit_at) {
        reply_error(call->out, "ERR syntax error");
        return;
    }
    if (!model_find(call, call->argv[1], SORTED, &key))
        return;
    for (size_t i = 0; key != NULL && i < key->count; i++)
        count += is_between(key->parts[i].score, &least, &most);
    count = skip < 0 || count <= skip ? 0 : count - skip;
    count = count < left ? count : left;
    reply_array(call->out, with_scores ? count * 2 : count);
    for (size_t i = 0; key != NULL && i < key->count && count > 0; i++)
        if (is_between(key->parts[i].score, &least, &most) && skip-- <= 0) {
            reply_member(call, &key->parts[i], with_scores);
            count--;
        }
}

static void zrange(struct call *call)
{
    bool with_scores = call->argc == 5 && bytes_is(call->argv[4], "WITHSCORES");
    struct span span;

    if (call->argc > 4 && !with_scores) {
        reply_error(call->out, "ERR syntax error");
        return;
    }
    if (!model_find_span(call, SORTED, &span))
        return;
    reply_array(call->out, with_scores ? span.count * 2 : span.count);
    for (int64_t i = 0; i < span.count; i++)
        reply_member(call, &span.key->parts[span.from + i], with_scores);
}

const struct command model_sorted_commands[] = {
    {"ZADD", zadd, -4, true, true},     {"ZREM", zrem, -3, false, true},
    {"ZSCORE", zscore, 3, false, true}, {"ZCARD", zcard, 2, false, true},
    {"ZCOUNT", zcount, 4, false, true}, {"ZRANGE", zrange, -4, false, true},
    {"ZRANGEBYSCORE", zrangebyscore, -4, false, true},
    {NULL, NULL, 0, false, false},
};
