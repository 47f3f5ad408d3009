/* SPDX-License-Identifier: MIT */
/* model_parts.c -- commands that treat the parts of a hash, a list and a sorted set in the same
 * way. */
#include "tests/simulation/model.h"

void model_shrink(struct call *call, const struct key *key)
{
    if (key->count == 0)
        (void)keys_remove(&call->model->keys, key->name);
}

void model_remove_parts(struct call *call, enum kind kind)
{
    struct key *key;
    int64_t count = 0;

    if (!model_find(call, call->argv[1], kind, &key))
        return;
    for (size_t i = 2; key != NULL && i < call->argc; i++) {
        size_t at = key_find(key, call->argv[i]);

        if (at == key->count)
            continue;
        key_remove(key, at);
        count++;
    }
    if (count > 0) {
        model_touch(call->model, call->argv[1]);
        model_shrink(call, key);
    }
    reply_integer(call->out, count);
}

bool model_find_span(struct call *call, enum kind kind, struct span *out)
{
    int64_t from, to, count;

    if (!model_number(call, 2, &from) || !model_number(call, 3, &to) ||
        !model_find(call, call->argv[1], kind, &out->key))
        return false;
    count = out->key != NULL ? (int64_t)out->key->count : 0;
    from = from < 0 ? from + count : from;
    to = to < 0 ? to + count : to;
    if (from < 0)
        from = 0;
    if (to >= count)
        to = count - 1;
    out->from = from;
    out->count = to < from ? 0 : to - from + 1;
    return true;
}
