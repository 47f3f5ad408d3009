/* SPDX-License-Identifier: MIT */
/* buyers.c -- the clients of an open loop: their orders, and their ledger. */
#include "loadtest/open_loop/buyers.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/duration.h"
#include "loadtest/kit/files.h"
#include "loadtest/kit/memory.h"

enum {
    TOKEN_LIFETIME_S = 48 * 3600,
    SAME_USER_REQUESTS = 64,
    FLUSH_NS = 2000000, /* a killed program loses the ledger's lines of at most this time */
};

/* The two faces of the service: where an order goes, and behind which word an answer names the
 * order's number. */
static const struct face {
    const char *name, *before, *behind, *order; /* before and behind the voucher's number */
} faces[] = {
    {"hmdp", "/voucher-order/seckill/", "", "\"data\""},
    {"v1", "/api/v1/vouchers/", "/orders", "\"id\""},
};

struct buyers {
    const struct buyers_plan *plan;
    const struct face *face;
    FILE *ledger;
    char prefix[32];          /* of request ids                                          */
    int64_t expires_s;
    int64_t flushed_ns;
    int64_t sent, answered, accepted, unanswered;
    bool *told_sold_out;      /* of each voucher                                         */
};

struct buyers *buyers_open(const struct buyers_plan *plan)
{
    struct buyers *b = memory_need(calloc(1, sizeof *b));
    char path[FILES_PATH_MAX];

    files_join(path, plan->dir, "ledger-1.tsv");
    b->plan = plan;
    b->face = &faces[strcmp(plan->face, faces[1].name) == 0];
    b->flushed_ns = monotonic_ns();
    b->expires_s = token_now_s() + TOKEN_LIFETIME_S;
    snprintf(b->prefix, sizeof b->prefix, "%" PRIx64 "-1-",
             (uint64_t)b->flushed_ns / 1000 & 0xffffffffff);
    b->ledger = fopen(path, "we");
    if (!b->ledger) {
        free(b);
        return NULL;
    }
    b->told_sold_out = memory_need(calloc((size_t)plan->voucher_count, sizeof(bool)));
    return b;
}

static int64_t voucher_of(const struct buyers *b, int64_t n)
{
    return b->plan->vouchers[n % b->plan->voucher_count];
}

/* Every request has a user of its own, or many in a row have the same.  The user counts from 0. */
static int64_t buyers_turn(const struct buyers *b, int64_t n)
{
    return b->plan->same_users ? n / SAME_USER_REQUESTS % b->plan->same_users : n;
}

/* The remote buyer whose turn it is; NULL: users have the numbers of their turns. */
static const struct remote_buyer *buyers_remote(const struct buyers *b, int64_t n)
{
    const struct remote_service *remote = b->plan->remote;

    return remote ? &remote->buyers[buyers_turn(b, n) % remote->buyer_count] : NULL;
}

static int64_t user_of(const struct buyers *b, int64_t n)
{
    const struct remote_buyer *buyer = buyers_remote(b, n);

    return buyer ? buyer->user : buyers_turn(b, n) + 1;
}

static size_t write_request(void *arg, int64_t n, int target, char *out, size_t size)
{
    struct buyers *b = arg;
    const struct remote_buyer *buyer = buyers_remote(b, n);
    char token[TOKEN_LEN + 1], host[sizeof "127.0.0.1:65535"] = "";
    struct token_claim claim = {user_of(b, n), b->expires_s, TOKEN_BUYER};

    b->sent++;
    if (!buyer) {
        token_make(b->plan->keys, &claim, token);
        snprintf(host, sizeof host, "127.0.0.1:%hu", (unsigned short)b->plan->ports[target]);
    }
    return (size_t)snprintf(out, size,
                            "POST %s%" PRId64 "%s HTTP/1.1\r\nHost: %s\r\n"
                            "Content-Length: 0\r\nauthorization: %s\r\n"
                            "Idempotency-Key: %s%" PRId64 "\r\n\r\n",
                            b->face->before, voucher_of(b, n), b->face->behind,
                            buyer ? b->plan->remote->host : host, buyer ? buyer->token : token,
                            b->prefix, n);
}

static void note(struct buyers *b, const char *what, int64_t n, int64_t order)
{
    char number[24] = "-";

    if (order > 0)
        snprintf(number, sizeof number, "%" PRId64, order);
    fprintf(b->ledger, "%s\t%s%" PRId64 "\t%s\t%" PRId64 "\t%" PRId64 "\n", what, b->prefix, n,
            number, user_of(b, n), voucher_of(b, n));
}

/* The order's number in the answer's body; 0: there is none. */
static int64_t order_of(const struct buyers *b, const struct received_answer *answer)
{
    char body[512];
    const char *at;
    size_t size = answer->body_size < sizeof body ? answer->body_size : sizeof body - 1;

    memcpy(body, answer->body, size);
    body[size] = '\0';
    at = strstr(body, b->face->order);
    if (!at)
        return 0;
    at += strlen(b->face->order);
    while (isspace((unsigned char)*at) || *at == ':' || *at == '"')
        at++;
    return isdigit((unsigned char)*at) ? strtoll(at, NULL, 10) : 0;
}

static enum answer_kind take_answer(void *arg, int64_t n, int target,
                                    const struct received_answer *answer)
{
    struct buyers *b = arg;
    enum answer_kind kind = answer_kind_of(answer->outcome);
    bool *told = &b->told_sold_out[n % b->plan->voucher_count];

    (void)target;
    b->answered++;
    if (kind == ANSWER_ACCEPTED) {
        b->accepted++;
        note(b, "accepted", n, order_of(b, answer));
    } else if (kind == ANSWER_QUEUED) {
        note(b, "queued", n, order_of(b, answer));
    } else if (answer_is_unsure(kind)) {
        note(b, "unsure", n, 0);
    } else if (kind == ANSWER_SOLD_OUT && !*told) {
        *told = true;
        note(b, "sold-out", n, 0);
    }
    return kind;
}

static void take_silence(void *arg, int64_t n, int target)
{
    struct buyers *b = arg;

    (void)target;
    b->unanswered++;
    note(b, "unanswered", n, 0);
}

/* The answers that clients were told must survive the end of this program. */
static bool tick(void *arg, int64_t since_begin_ns)
{
    struct buyers *b = arg;
    int64_t now_ns = monotonic_ns();

    if (b->plan->tick)
        b->plan->tick(b->plan->tick_arg, since_begin_ns);
    if (now_ns - b->flushed_ns >= FLUSH_NS) {
        b->flushed_ns = now_ns;
        fflush(b->ledger);
    }
    return true;
}

struct generator_client buyers_client(struct buyers *buyers)
{
    return (struct generator_client){buyers, write_request, take_answer, take_silence, tick};
}

bool buyers_close(struct buyers *b)
{
    bool ok;

    if (!b)
        return true;
    fprintf(b->ledger, "end\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\n", b->sent,
            b->answered, b->accepted, b->unanswered);
    ok = !ferror(b->ledger);
    ok = fclose(b->ledger) == 0 && ok;
    free(b->told_sold_out);
    free(b);
    return ok;
}
