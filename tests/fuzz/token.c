/* SPDX-License-Identifier: MIT */
/* token.c -- fuzz: tokens. A token that was made is accepted; any other text is not. */
#include "base/http/token.h"
#include "tests/fuzz/fuzz.h"

enum { NOW_S = 1700000000 };

static const struct token_keys KEYS = {
    .at = {{.id = 7, .bytes = "a key that only this test knows"},
           {.id = 65535, .bytes = "and another one, of older tokens"}},
    .count = 2,
};

/* The first bytes are a claim: the token that is made of it has to give the same claim. */
static void check_made(const uint8_t *data, char *token)
{
    struct token_claim claim = {.role = TOKEN_BUYER}, back;
    enum token_verdict verdict;

    memcpy(&claim.user_id, data, 8);
    memcpy(&claim.expires_s, data + 8, 8);
    claim.role = data[16] % 2 == 0 ? TOKEN_BUYER : TOKEN_OPERATOR;
    token_make(&KEYS, &claim, token);
    fuzz_check(strlen(token) == TOKEN_LEN);
    verdict = token_verify(&KEYS, token, NOW_S, &back);
    if (claim.user_id <= 0 || claim.expires_s < 0)
        return;
    fuzz_check(verdict == (claim.expires_s > NOW_S ? TOKEN_GOOD : TOKEN_EXPIRED));
    fuzz_check(back.user_id == claim.user_id && back.expires_s == claim.expires_s &&
               back.role == claim.role);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char made[TOKEN_LEN + 1];
    struct token_claim claim;
    enum token_verdict verdict;
    char *text = fuzz_text(data, size);

    verdict = token_verify(&KEYS, text, NOW_S, &claim);
    fuzz_check(verdict != TOKEN_GOOD && verdict != TOKEN_EXPIRED);
    fuzz_check(token_verdict_text(verdict) != NULL);
    free(text);
    if (size >= 19) {
        check_made(data, made);
        /* A token with one other digit is refused. */
        made[data[17] % TOKEN_LEN] = (char)data[18];
        text = fuzz_text((const uint8_t *)made, TOKEN_LEN);
        verdict = token_verify(&KEYS, text, NOW_S, &claim);
        fuzz_check(token_verdict_text(verdict) != NULL || data[18] >= '0');
        free(text);
    }
    return 0;
}
