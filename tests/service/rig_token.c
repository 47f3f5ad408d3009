/* SPDX-License-Identifier: MIT */
/* rig_token.c -- tokens by the lab's key. */
#include "tests/service/rig.h"

#include <unistd.h>

#include "tests/service/rig_inside.h"

static struct token_keys keys;
static bool has_keys;

void rig_forget_keys(void)
{
    has_keys = false;
}

void rig_token_of(const struct token_claim *claim, char out[TOKEN_LEN + 1])
{
    char why[TOKEN_WHY_MAX];

    if (!has_keys) {
        if (!token_keys_load(rig_environment("SECKILL_TOKEN_KEY_FILE"), geteuid(), &keys,
                             why))
            fail_msg("cannot read the token keys: %s", why);
        has_keys = true;
    }
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
