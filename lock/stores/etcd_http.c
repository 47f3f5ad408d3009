/* SPDX-License-Identifier: MIT */
/* etcd_http.c -- requests to an etcd by its JSON gateway, each with a deadline. */
#include "lock/stores/etcd_http.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/os/mutex.h"
#include "lock/metrics.h"
#include "lock/stores/etcd_address.h"

enum {
    TOKEN_SIZE = 512,
    SHARES_OF_TIMEOUT = 2,
    /* gRPC's numbers of the refusals that are handled here. */
    ERROR_EXHAUSTED = 8,
    ERROR_UNAUTHENTICATED = 16,
};

struct etcd_http {
    struct etcd_address address;
    struct etcd_wires *wires;
    int timeout_ms;
    atomic_int member;        /* the one to ask */
    struct dlock_mutex mutex; /* of what follows */
    unsigned login;           /* counts the tokens; 0: there is none yet */
    char token[TOKEN_SIZE];
};

/* A token, and which it is. */
struct login {
    unsigned number;
    char token[TOKEN_SIZE];
};

dlock_status etcd_http_open(struct etcd_http **out, const dlock_options *opts)
{
    struct etcd_http *http;
    char why[ETCD_WHY_SIZE];

    *out = NULL;
    if (opts->etcd_url == NULL || opts->etcd_url[0] == '\0')
        return dlock_fail(DLOCK_INVALID, "this lock needs the URL of an etcd");
    http = calloc(1, sizeof(*http));
    if (http == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for the requests to etcd");
    if (!etcd_address_read(opts->etcd_url, &http->address, why)) {
        free(http);
        return dlock_fail(DLOCK_INVALID, "the URL of the etcd: %s", why);
    }
    http->wires = etcd_wires_open();
    if (http->wires == NULL) {
        free(http);
        return dlock_fail(DLOCK_NOMEM, "no memory for the connections to etcd");
    }
    dlock_mutex_init(&http->mutex);
    http->timeout_ms = opts->etcd_timeout_ms < INT_MAX ? (int)opts->etcd_timeout_ms : INT_MAX;
    *out = http;
    return DLOCK_OK;
}

void etcd_http_close(struct etcd_http *http)
{
    if (http == NULL)
        return;
    etcd_wires_close(http->wires);
    dlock_mutex_destroy(&http->mutex);
    free(http);
}

void etcd_http_leave(struct etcd_http *http, int member)
{
    int next = (member + 1) % http->address.member_count;

    (void)atomic_compare_exchange_strong(&http->member, &member, next);
}

static const char *name_of(const struct etcd_http *http, int member)
{
    return http->address.members[member];
}

/* --- one request to one member --- */

/* The number and the words of an error, which a stream wraps once more. */
static int64_t read_error(const json_t *json, const char **words)
{
    const json_t *error = json_object_get(json, "error");
    const json_t *of = json_is_object(error) ? error : json;
    const json_t *code = json_object_get(of, json_is_object(error) ? "grpc_code" : "code");
    const json_t *message = json_object_get(of, "message");

    *words = json_is_string(message) ? json_string_value(message) : "no words";
    if (error == NULL)
        return ETCD_DONE;
    return json_integer_value(code) > 0 ? json_integer_value(code) : -1;
}

/* What etcd's error means for the request. */
static dlock_status judge(const struct etcd_http *http, int member, int64_t error,
                          const char *words, struct etcd_reply *out)
{
    /* gRPC's cancelled, unknown, deadline exceeded, aborted, internal, unavailable. */
    static const int64_t UNDECIDED[] = {1, 2, 4, 10, 13, 14};
    dlock_status st = error == ERROR_EXHAUSTED ? DLOCK_IO : DLOCK_PROTOCOL;

    if (error == ETCD_DONE || error == ETCD_NOT_FOUND || error == ETCD_PRECONDITION) {
        out->error = (enum etcd_error)error;
        return DLOCK_OK;
    }
    for (size_t i = 0; i < sizeof(UNDECIDED) / sizeof(UNDECIDED[0]); i++)
        if (error == UNDECIDED[i])
            st = DLOCK_UNKNOWN;
    return dlock_fail(st, "etcd %s: %s", name_of(http, member), words);
}

static dlock_status read_answer(const struct etcd_http *http, int member,
                                const struct etcd_answer *answer, struct etcd_reply *out,
                                int64_t *error)
{
    const char *words;
    dlock_status st;

    out->was_repeated = out->was_repeated || answer->was_repeated;
    if (answer->code != CURLE_OK)
        return dlock_fail(answer->was_sent ? DLOCK_UNKNOWN : DLOCK_IO, "etcd %s: %s",
                          name_of(http, member), curl_easy_strerror(answer->code));
    out->json = json_loadb(answer->bytes != NULL ? answer->bytes : "", answer->len,
                           JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(out->json)) {
        json_decref(out->json);
        out->json = NULL;
        return dlock_fail(DLOCK_PROTOCOL, "etcd %s: answered no JSON of an etcd: %.60s",
                          name_of(http, member), answer->len > 0 ? answer->bytes : "nothing");
    }
    *error = read_error(out->json, &words);
    st = judge(http, member, *error, words, out);
    if (st != DLOCK_OK) {
        json_decref(out->json);
        out->json = NULL;
    }
    return st;
}

static dlock_status ask_member(struct etcd_http *http, const struct etcd_request *request,
                               const char *token, int member, int64_t until_ns,
                               struct etcd_reply *out, int64_t *error)
{
    struct etcd_post post = {name_of(http, member), request->path, request->body, token};
    struct etcd_answer answer;
    dlock_status st;

    *error = ETCD_DONE;
    dlock_commands_sent++;
    if (!etcd_wire_post(http->wires, &post, dlock_clock_poll_ms(until_ns), &answer))
        return dlock_fail(DLOCK_NOMEM, "no memory for a request to etcd");
    st = read_answer(http, member, &answer, out, error);
    free(answer.bytes);
    return st;
}

/* --- the user, if the URL names one --- */

static void read_login(struct etcd_http *http, struct login *out)
{
    dlock_mutex_lock(&http->mutex);
    out->number = http->login;
    memcpy(out->token, http->token, sizeof(out->token));
    dlock_mutex_unlock(&http->mutex);
}

static void keep_token(struct etcd_http *http, const struct login *before, const char *token)
{
    dlock_mutex_lock(&http->mutex);
    if (http->login == before->number) { /* else another thread has got one meanwhile */
        snprintf(http->token, sizeof(http->token), "%s", token);
        http->login++;
    }
    dlock_mutex_unlock(&http->mutex);
}

/* Get a token in the place of *login, which is then the new one. */
static dlock_status log_in(struct etcd_http *http, int member, int64_t until_ns,
                           struct login *login)
{
    json_t *json = json_pack("{ss,ss}", "name", http->address.user, "password",
                             http->address.password);
    char *body = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;
    struct etcd_request request = {.path = "/v3/auth/authenticate", .body = body};
    struct etcd_reply reply = {.json = NULL};
    const char *token = NULL;
    dlock_status st = dlock_fail(DLOCK_NOMEM, "no memory to log in");
    int64_t error;

    if (body != NULL)
        st = ask_member(http, &request, "", member, until_ns, &reply, &error);
    if (st == DLOCK_OK && reply.error == ETCD_PRECONDITION)
        token = ""; /* this etcd asks nobody for a name */
    else if (st == DLOCK_OK)
        token = json_string_value(json_object_get(reply.json, "token"));
    if (st == DLOCK_OK && (token == NULL || strlen(token) >= TOKEN_SIZE))
        st = dlock_fail(DLOCK_PROTOCOL, "etcd %s: gave no token", name_of(http, member));
    if (st == DLOCK_OK) {
        keep_token(http, login, token);
        read_login(http, login);
    }
    json_decref(reply.json);
    json_decref(json);
    free(body);
    return st == DLOCK_UNKNOWN ? DLOCK_IO : st; /* the request itself was not sent */
}

/* Ask a member; with a new token, if there was none yet or it has ended. */
static dlock_status ask_as_user(struct etcd_http *http, const struct etcd_request *request,
                                int member, int64_t until_ns, struct etcd_reply *out)
{
    bool has_user = http->address.user[0] != '\0';
    dlock_status st = DLOCK_OK;
    struct login login = {.number = 0};
    int64_t error;

    if (has_user)
        read_login(http, &login);
    if (has_user && login.number == 0)
        st = log_in(http, member, until_ns, &login);
    if (st != DLOCK_OK)
        return st;
    st = ask_member(http, request, login.token, member, until_ns, out, &error);
    if (error != ERROR_UNAUTHENTICATED || !has_user)
        return st;
    st = log_in(http, member, until_ns, &login);
    return st != DLOCK_OK ? st
                          : ask_member(http, request, login.token, member, until_ns, out,
                                       &error);
}

/* --- one request to the member that answers --- */

int64_t etcd_http_until_ns(const struct etcd_http *http)
{
    return dlock_clock_after(dlock_clock_ns(), http->timeout_ms);
}

dlock_status etcd_http_ask(struct etcd_http *http, const struct etcd_request *request,
                           struct etcd_reply *out)
{
    int member_count = http->address.member_count;
    int share_ms = member_count == 1 ? http->timeout_ms
                                     : (http->timeout_ms + 1) / SHARES_OF_TIMEOUT;
    int64_t until_ns = etcd_http_until_ns(http);
    bool may_be_done = false;
    dlock_status st = DLOCK_OK; /* of the last member that was asked */

    *out = (struct etcd_reply){.json = NULL};
    if (request->give_up_ns < until_ns)
        until_ns = request->give_up_ns;
    for (int i = 0; i < member_count && dlock_clock_ns() < until_ns; i++) {
        int member = atomic_load(&http->member);
        int64_t share_ns = dlock_clock_after(dlock_clock_ns(), share_ms);

        st = ask_as_user(http, request, member, share_ns < until_ns ? share_ns : until_ns,
                         out);
        if (st != DLOCK_IO && st != DLOCK_UNKNOWN)
            return st;
        etcd_http_leave(http, member);
        may_be_done = may_be_done || st == DLOCK_UNKNOWN;
        out->was_repeated = may_be_done;
    }
    if (st == DLOCK_OK)
        return dlock_fail(DLOCK_IO, "etcd: there was no time to ask");
    return may_be_done ? DLOCK_UNKNOWN : st;
}

int etcd_http_prepare(struct etcd_http *http, CURL *easy, const char *path,
                      const char *body, struct curl_slist **headers)
{
    int member = atomic_load(&http->member);
    struct login login;
    struct etcd_post post = {name_of(http, member), path, body, login.token};

    read_login(http, &login);
    if (!etcd_wire_prepare(easy, &post, headers) ||
        curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)http->timeout_ms) != CURLE_OK)
        return -1;
    return member;
}
