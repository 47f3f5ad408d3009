/* SPDX-License-Identifier: MIT */
/* postgres_renewals.c -- renews many rows by one statement. */
#include "lock/stores/postgres_renewals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"

/* A row that another transaction has locked is waited for no longer than this, because
 * the other holds wait too. */
enum { LOCKED_MS = 100 };

/* The claims as the statement reads them; NULL: no memory.  The caller frees the text. */
static char *write_claims(const dlock_claim *claims, size_t count)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        for (const char *at = claims[i].name; *at != '\0'; at++)
            fprintf(out, "%02x", (unsigned)(unsigned char)*at);
        fprintf(out, " %s %s %d%s", claims[i].owner, claims[i].token, claims[i].lease_ms,
                i + 1 < count ? "," : "");
    }
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

void postgres_renew_all(struct postgres_pool *pool, const struct postgres_question *question,
                        dlock_status renew(void *state, const dlock_claim *claim),
                        const dlock_claim *claims, size_t count, dlock_status *statuses)
{
    char *text = write_claims(claims, count);
    const char *values[] = {text};
    struct postgres_answer answer = {0};
    dlock_status st = DLOCK_NOMEM;

    _Static_assert((int)DLOCK_RENEW_ALL_MAX < (int)POSTGRES_TEXT_SIZE, "an answer is not cut");
    if (text != NULL)
        st = postgres_pool_ask(pool, question, values, claims[0].give_up_ns, &answer);
    free(text);
    if (st == DLOCK_OK && strlen(answer.text) != count)
        st = dlock_fail(DLOCK_PROTOCOL, "PostgreSQL: not an answer for each renewal");
    for (size_t i = 0; i < count; i++) {
        dlock_claim claim = claims[i];
        int64_t until_ns = dlock_clock_after(dlock_clock_ns(), LOCKED_MS);

        statuses[i] = st != DLOCK_OK ? st : answer.text[i] == '1' ? DLOCK_OK : DLOCK_LOST;
        if (st != DLOCK_OK || answer.text[i] != '2')
            continue;
        if (until_ns < claim.give_up_ns)
            claim.give_up_ns = until_ns;
        statuses[i] = renew(pool, &claim);
    }
}
