/* SPDX-License-Identifier: MIT */
/* rig_token.c -- tokens by the lab's key. */
#include "tests/service/rig.h"

#include <pthread.h>
#include <unistd.h>

#include "tests/service/rig_inside.h"

/* Several threads of a test may order at the same time; only one of them loads the keys. */
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static struct token_keys keys;
static bool has_keys;

void rig_forget_keys(void)
{
    pthread_mutex_lock(&loading);
    has_keys = false;
    pthread_mutex_unlock(&loading);
}

static void load_keys(void)
{
    char why[TOKEN_WHY_MAX];
    bool are_there;

    pthread_mutex_lock(&loading);
    if (!has_keys)
        has_keys = token_keys_load(rig_environment("SECKILL_TOKEN_KEY_FILE"), geteuid(), &keys,
                                   why);
    are_there = has_keys;
    pthread_mutex_unlock(&loading);
    if (!are_there)
        fail_msg("cannot read the token keys: %s", why);
}

void rig_token_of(const struct token_claim *claim, char out[TOKEN_LEN + 1])
{
    load_keys();
    token_make(&keys, claim, out);
}

int64_t rig_user(int64_t user_id)
{
    enum { USERS_OF_A_PROGRAM = 1000000 };

    return (int64_t)getpid() * USERS_OF_A_PROGRAM + user_id;
}

void rig_token(int64_t user_id, char out[TOKEN_LEN + 1])
{
    rig_token_of(&(struct token_claim){rig_user(user_id), token_now_s() + 3600,
                                       TOKEN_BUYER},
                 out);
}

void rig_operator_token(char out[TOKEN_LEN + 1])
{
    rig_token_of(&(struct token_claim){1, token_now_s() + 3600, TOKEN_OPERATOR}, out);
}
