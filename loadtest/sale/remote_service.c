/* SPDX-License-Identifier: MIT */
/* remote_service.c -- a service that this program did not start. */
#include "loadtest/sale/remote_service.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/http/secret.h"
#include "base/http/token.h"
#include "base/os/number.h"
#include "loadtest/kit/http_client.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/why.h"
#include "loadtest/proxy/script.h"

enum {
    TEXT_MAX = 100000000,           /* more than a million tokens                         */
    EXPIRY_AT = 24, EXPIRY_LEN = 16, /* the digits of a token that say when it expires     */
    REACH_MS = 5000,
};

/* Add the buyer of a line.  NULL; else what is wrong with the line. */
static const char *remote_add_buyer(struct remote_service *remote, char *line, const char *until)
{
    struct remote_buyer *buyer = &remote->buyers[remote->buyer_count];
    size_t length = strcspn(line, " ");

    buyer->token = line + length + (line[length] == ' ');
    if (!dlock_number_read(line, length, 1, INT64_MAX, &buyer->user) ||
        strspn(buyer->token, "0123456789abcdef") != TOKEN_LEN || buyer->token[TOKEN_LEN] != '\0')
        return "is no \"USER TOKEN\"";
    if (memcmp(buyer->token + EXPIRY_AT, until, EXPIRY_LEN) < 0)
        return "has a token that expires before the end of the load";
    remote->buyer_count++;
    return NULL;
}

/* False: `why` says what is wrong with the text. */
static bool remote_read_buyers(struct remote_service *remote, int64_t until_s, char *why)
{
    char *rest = remote->text, *line, until[EXPIRY_LEN + 1];
    const char *wrong = NULL;
    int64_t number = 0;

    snprintf(until, sizeof until, "%016" PRIx64, (uint64_t)until_s);
    remote->buyers = memory_need(calloc(strlen(rest) / TOKEN_LEN + 1, sizeof *remote->buyers));
    while (!wrong && (line = strsep(&rest, "\n")) != NULL && (*line || rest)) {
        number++;
        wrong = remote_add_buyer(remote, line, until);
    }
    if (wrong)
        snprintf(why, SECRET_WHY_MAX, "line %" PRId64 " %s", number, wrong);
    else if (number == 0)
        snprintf(why, SECRET_WHY_MAX, "it has no tokens");
    return !wrong && number > 0;
}

bool remote_service_read(struct remote_service *remote, const char *url, const char *tokens_path,
                         int64_t until_s)
{
    static const char http[] = "http://", in_hosts[] = "abcdefghijklmnopqrstuvwxyz0123456789-._:[]"
                                                       "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char why[SECRET_WHY_MAX + PROXY_WHY_MAX];

    remote->url = url;
    remote->host = url + sizeof http - 1;
    remote->tokens_path = tokens_path;
    if (strncmp(url, http, sizeof http - 1) != 0 ||
        remote->host[strspn(remote->host, in_hosts)] != '\0' ||
        !proxy_target_check(remote->host, why)) { /* the URL may have a password */
        eprintf("seckill load: --url: expected http://HOST:PORT, with nothing before or behind, "
                "and no https\n");
        return false;
    }
    remote->text = memory_need(malloc(TEXT_MAX));
    if (secret_read(tokens_path, geteuid(), remote->text, TEXT_MAX, why) &&
        remote_read_buyers(remote, until_s, why))
        return true;
    eprintf("seckill load: cannot use the tokens in %s: %s\n"
            "  make a file of tokens: seckill seed --users=N --tokens=FILE\n", tokens_path, why);
    return false;
}

enum exit_code remote_service_reach(struct remote_service *remote)
{
    struct http_answer answer;
    char why[PROXY_WHY_MAX];

    if (!http_client_ask_within("GET", remote->url, NULL, REACH_MS, &answer))
        snprintf(why, sizeof why, "%.100s", answer.text);
    else if (proxy_target_find(&remote->address, answer.address, why))
        return EXIT_VALID;
    eprintf("seckill load: no service answers at %s: %s\n", remote->url, why);
    return EXIT_UNAVAILABLE;
}

void remote_service_free(struct remote_service *remote)
{
    free(remote->buyers);
    free(remote->text);
}
