/* SPDX-License-Identifier: MIT */
/* etcd_http.c -- requests to the JSON gateway of an etcd, each with a deadline. */
#include "lock/stores/etcd_http.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/os/condition.h"
#include "base/os/mutex.h"
#include "base/os/refusal.h"
#include "base/os/utf8.h"
#include "lock/metrics.h"
#include "lock/stores/etcd_text.h"

enum {
    SHARES_OF_TIMEOUT = 2,
    TEXT_SHOWN = 160, /* bytes of an answer that cannot be read */
    /* gRPC's numbers of the errors that this file handles itself. */
    ERROR_ARGUMENT = 3,
    ERROR_UNAUTHENTICATED = 16, /* the last of gRPC's numbers */
    CLUSTER_SIZE = 21, /* a number of 64 bits as text */
};

struct etcd_http {
    struct etcd_address address;
    struct etcd_wires *wires;
    int timeout_ms;
    atomic_int member;        /* the one to ask */
    struct dlock_mutex mutex; /* protects what follows */
    char cluster[CLUSTER_SIZE]; /* its number in the first answer; "": none has come yet */
    struct dlock_condition logged_in; /* a log-in has ended, with a token or without */
    bool is_logging_in;
    unsigned login;           /* counts the tokens; 0: there is none yet */
    char token[ETCD_TOKEN_SIZE];
};

/* A token, and its number. */
struct login {
    unsigned number;
    char token[ETCD_TOKEN_SIZE];
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
    if (http->wires == NULL || !utf8_hide(http->address.password) ||
        !dlock_condition_init(&http->logged_in)) {
        etcd_wires_close(http->wires);
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
    dlock_condition_destroy(&http->logged_in);
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

/* The number and the words of an error.  Up to etcd 3.5 an error is {"error":"...","code":9},
 * and in a stream {"error":{"grpc_code":9}}.  Since etcd 3.6 it is {"code":9}, and in a
 * stream {"error":{"code":9}}. */
static int64_t read_error(const json_t *json, const char **words)
{
    const json_t *error = json_object_get(json, "error");
    const json_t *of = json_is_object(error) ? error : json;
    const json_t *code = json_object_get(of, "grpc_code");
    const json_t *message = json_object_get(of, "message");

    if (code == NULL)
        code = json_object_get(of, "code");
    *words = json_is_string(message) ? json_string_value(message) : "no words";
    if (error == NULL && code == NULL)
        return ETCD_DONE;
    return json_integer_value(code) > 0 ? json_integer_value(code) : -1;
}

/* Is the token missing, expired, or older than the last change of a user or a role?
 * Two of these refusals have the number of any bad request, so their text decides. */
static bool is_of_login(int64_t error, const char *words)
{
    return error == ERROR_UNAUTHENTICATED ||
           (error == ERROR_ARGUMENT && (strstr(words, "revision of auth store is old") != NULL ||
                                        strstr(words, "user name is empty") != NULL));
}

static dlock_status status_of_refusal(enum refusal refusal)
{
    return refusal == REFUSAL_PASSES      ? DLOCK_IO
           : refusal == REFUSAL_UNDECIDED ? DLOCK_UNKNOWN
                                          : DLOCK_PROTOCOL;
}

/* The status of a request that etcd answered with an error. */
static dlock_status judge(const struct etcd_http *http, const struct etcd_request *request,
                          int member, int64_t error, const char *words,
                          struct etcd_reply *out)
{
    if (error == ETCD_DONE || error == ETCD_NOT_FOUND || error == ETCD_PRECONDITION ||
        (error == ETCD_DENIED && request->may_be_denied)) {
        out->error = (enum etcd_error)error;
        return DLOCK_OK;
    }
    return dlock_fail(status_of_refusal(refusal_of_number(REFUSAL_ETCD, error)),
                      "etcd %s: %s", name_of(http, member), words);
}

#define TRUST ": ca=FILE names the authority to trust"
#define SHOW ": cert=FILE&key=FILE shows one of this client"
#define SCHEME ": is its port one of https?"

/* The setting of an address that an error of the connection points to, as the end of the error's
 * message; "" if the words of libcurl and OpenSSL point to none. */
static const char *etcd_advice(const struct etcd_answer *answer)
{
    static const struct {
        const char *words, *advice;
        bool is_unsent; /* the words say so only if no part of the request was sent */
    } ADVICE[] = {
        {"issuer certificate", TRUST, false},
        {"self-signed certificate", TRUST, false},
        {"subject name", ": server-name=NAME says which name to expect", false},
        {"certificate required", SHOW, false},
        {"bad certificate", SHOW, false},
        {"wrong version number", SCHEME, false},
        {"OpenSSL SSL_connect: ", SCHEME, false},
        {"TLS connect error: ", SCHEME, false},
        {"Empty reply", SCHEME, false},
        /* A port without TLS may reset a handshake.  A server that dies resets requests, too. */
        {"Recv failure: ", SCHEME, true},
    };

    for (size_t i = 0; i < sizeof(ADVICE) / sizeof(ADVICE[0]); i++)
        if (strstr(answer->words, ADVICE[i].words) != NULL &&
            !(ADVICE[i].is_unsent && answer->was_sent))
            return ADVICE[i].advice;
    return "";
}

static dlock_status refuse_connection(const struct etcd_http *http, int member,
                                      const struct etcd_answer *answer)
{
    return dlock_fail(answer->was_sent ? DLOCK_UNKNOWN : DLOCK_IO, "etcd %s: %s%s",
                      name_of(http, member),
                      answer->words[0] != '\0' ? answer->words
                                               : curl_easy_strerror(answer->code),
                      etcd_advice(answer));
}

/* Show the first line of an answer that is none of an etcd: it tells which server answered.  A
 * proxy answers so if it has no member, or too many requests. */
static dlock_status refuse_text(const struct etcd_http *http, int member,
                                const struct etcd_answer *answer)
{
    const char *text = answer->len > 0 ? answer->bytes : "nothing";
    size_t len = strcspn(text, "\r\n");

    return dlock_fail(status_of_refusal(refusal_of_number(REFUSAL_HTTP, answer->status)),
                      "etcd %s: answered no JSON of an etcd, with status %ld: %.*s",
                      name_of(http, member), answer->status,
                      len < TEXT_SHOWN ? (int)len : TEXT_SHOWN, text);
}

static const json_t *header_of(const json_t *answer)
{
    const json_t *result = json_object_get(answer, "result"); /* the object around a
                                                               * message of a stream */
    return json_object_get(result != NULL ? result : answer, "header");
}

/* Is this an answer of etcd?  It has a header, or is an error with a number of gRPC.  A proxy may
 * answer with JSON of its own. */
static bool is_of_etcd(const struct etcd_answer *answer, const json_t *json, int64_t error)
{
    return error == ETCD_DONE ? answer->status == 200 && json_is_object(header_of(json))
                              : error > 0 && error <= ERROR_UNAUTHENTICATED;
}

/* A member that was removed from its cluster and then started as the first member of a new
 * cluster still answers at its old address, and knows none of the locks that are held.  So a
 * system remembers the number of the cluster in its first answer.  An answer without a header,
 * such as a refusal, is of no other cluster.  Otherwise `other` is the number in this answer,
 * `own` the remembered one. */
static bool is_same_cluster(struct etcd_http *http, const json_t *answer, char other[CLUSTER_SIZE],
                            char own[CLUSTER_SIZE])
{
    const char *id = json_string_value(json_object_get(header_of(answer), "cluster_id"));

    if (id == NULL || id[0] == '\0')
        return true;
    snprintf(other, CLUSTER_SIZE, "%s", id);
    dlock_mutex_lock(&http->mutex);
    if (http->cluster[0] == '\0')
        memcpy(http->cluster, other, CLUSTER_SIZE);
    memcpy(own, http->cluster, CLUSTER_SIZE);
    dlock_mutex_unlock(&http->mutex);
    return strcmp(own, other) == 0;
}

bool etcd_http_is_ours(struct etcd_http *http, const json_t *answer)
{
    char other[CLUSTER_SIZE], own[CLUSTER_SIZE];

    return is_same_cluster(http, answer, other, own);
}

/* An answer of another cluster says nothing about the locks of this one, even if the
 * request was executed. */
static dlock_status check_cluster(struct etcd_http *http, int member, const json_t *answer)
{
    char other[CLUSTER_SIZE], own[CLUSTER_SIZE];

    if (is_same_cluster(http, answer, other, own))
        return DLOCK_OK;
    return dlock_fail(DLOCK_IO, "etcd %s: is a member of the cluster %s, and the locks are in %s",
                      name_of(http, member), other, own);
}

/* NULL: the answer is not JSON. */
static json_t *etcd_http_parse(const struct etcd_answer *answer, bool is_stream)
{
    const char *bytes = answer->bytes != NULL ? answer->bytes : "";
    json_error_t end = {.position = 0};
    json_t *first = etcd_json_read(bytes, answer->len, is_stream ? &end : NULL), *next, *one;

    if (!is_stream || first == NULL)
        return first;
    next = json_array();
    for (size_t at = (size_t)end.position;
         (one = json_loadb(bytes + at, answer->len - at,
                           JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &end)) != NULL;
         at += (size_t)end.position)
        (void)json_array_append_new(next, one);
    (void)json_object_set_new(first, "next", next);
    return first;
}

static dlock_status read_answer(struct etcd_http *http, const struct etcd_request *request,
                                int member, const struct etcd_answer *answer,
                                struct etcd_reply *out, bool *has_to_log_in)
{
    const char *words;
    int64_t error;
    dlock_status st;

    out->was_repeated = out->was_repeated || answer->was_repeated;
    if (answer->code != CURLE_OK)
        return refuse_connection(http, member, answer);
    out->json = etcd_http_parse(answer, request->is_stream);
    error = read_error(out->json, &words);
    if (!is_of_etcd(answer, out->json, error)) {
        json_decref(out->json);
        out->json = NULL;
        out->was_repeated = true; /* a proxy may have passed the request on */
        return refuse_text(http, member, answer);
    }
    *has_to_log_in = is_of_login(error, words);
    st = check_cluster(http, member, out->json);
    if (st == DLOCK_OK)
        st = judge(http, request, member, error, words, out);
    if (st != DLOCK_OK) {
        json_decref(out->json);
        out->json = NULL;
    }
    return st;
}

static dlock_status ask_member(struct etcd_http *http, const struct etcd_request *request,
                               const char *token, int member, int64_t until_ns,
                               struct etcd_reply *out, bool *has_to_log_in)
{
    struct etcd_post post = {name_of(http, member), &http->address.tls, request->path,
                             request->body, token};
    struct etcd_answer answer;
    dlock_status st;

    *has_to_log_in = false;
    dlock_commands_sent++;
    if (!etcd_wire_post(http->wires, &post, dlock_clock_poll_ms(until_ns), &answer))
        return dlock_fail(DLOCK_NOMEM, "no memory for a request to etcd");
    st = read_answer(http, request, member, &answer, out, has_to_log_in);
    free(answer.bytes);
    return st;
}

/* --- the user, if the URL names one --- */

/* With the mutex held. */
static void copy_login(const struct etcd_http *http, struct login *out)
{
    out->number = http->login;
    snprintf(out->token, sizeof(out->token), "%s", http->token);
}

static void read_login(struct etcd_http *http, struct login *out)
{
    dlock_mutex_lock(&http->mutex);
    copy_login(http, out);
    dlock_mutex_unlock(&http->mutex);
}

/* May the token be the value of a header?  A line break in it would end the header, so that the
 * bytes behind it were a request of their own. */
static bool etcd_token_is_valid(const char *token)
{
    size_t len = 0;

    while (token[len] > ' ' && token[len] < 127)
        len++;
    return len > 0 && len < ETCD_TOKEN_SIZE && token[len] == '\0';
}

/* Get a token. */
static dlock_status ask_for_token(struct etcd_http *http, int member, int64_t until_ns,
                                  char out[ETCD_TOKEN_SIZE])
{
    json_t *json = json_pack("{ss,ss}", "name", http->address.user, "password",
                             http->address.password);
    char *body = json != NULL ? json_dumps(json, JSON_COMPACT) : NULL;
    struct etcd_request request = {.path = "/v3/auth/authenticate", .body = body};
    struct etcd_reply reply = {.json = NULL};
    const char *token = NULL;
    dlock_status st = dlock_fail(DLOCK_NOMEM, "no memory to log in to etcd, or the user or "
                                              "the password is no UTF-8");
    bool has_to_log_in;

    if (body != NULL)
        st = ask_member(http, &request, "", member, until_ns, &reply, &has_to_log_in);
    if (st == DLOCK_OK && reply.error == ETCD_PRECONDITION)
        token = ""; /* authentication is off in this etcd */
    else if (st == DLOCK_OK)
        token = json_string_value(json_object_get(reply.json, "token"));
    if (st == DLOCK_OK && reply.error != ETCD_PRECONDITION &&
        (token == NULL || !etcd_token_is_valid(token)))
        st = dlock_fail(DLOCK_PROTOCOL, "etcd %s: gave no token that a header can have",
                        name_of(http, member));
    if (st == DLOCK_OK)
        snprintf(out, ETCD_TOKEN_SIZE, "%s", token);
    json_decref(reply.json);
    json_decref(json);
    free(body);
    return st == DLOCK_UNKNOWN ? DLOCK_IO : st; /* the request itself was not sent */
}

/* Replace *login by a new token. etcd needs long to check a password, so one thread
 * logs in for all threads that have the old token. */
static dlock_status log_in(struct etcd_http *http, int member, int64_t until_ns,
                           struct login *login)
{
    char token[ETCD_TOKEN_SIZE];
    dlock_status st = DLOCK_OK;
    bool is_mine;

    dlock_mutex_lock(&http->mutex);
    while (http->login == login->number && http->is_logging_in && dlock_clock_ns() < until_ns)
        (void)dlock_condition_wait_until(&http->logged_in, &http->mutex, until_ns);
    is_mine = http->login == login->number && !http->is_logging_in;
    http->is_logging_in = http->is_logging_in || is_mine;
    copy_login(http, login);
    dlock_mutex_unlock(&http->mutex);
    if (!is_mine)
        return dlock_clock_ns() < until_ns
                   ? DLOCK_OK
                   : dlock_fail(DLOCK_IO, "etcd %s: the log-in took too long",
                                name_of(http, member));
    st = ask_for_token(http, member, until_ns, token);
    dlock_mutex_lock(&http->mutex);
    if (st == DLOCK_OK) {
        snprintf(http->token, sizeof(http->token), "%s", token);
        http->login++;
        copy_login(http, login);
    }
    http->is_logging_in = false;
    dlock_condition_broadcast(&http->logged_in);
    dlock_mutex_unlock(&http->mutex);
    return st;
}

/* Ask a member; if there is no token yet or it has expired, with a new token. */
static dlock_status ask_as_user(struct etcd_http *http, const struct etcd_request *request,
                                int member, int64_t until_ns, struct etcd_reply *out)
{
    bool has_to_log_in;
    struct login login;
    dlock_status st = DLOCK_OK;

    if (http->address.user[0] == '\0')
        return ask_member(http, request, "", member, until_ns, out, &has_to_log_in);
    read_login(http, &login);
    if (login.number == 0)
        st = log_in(http, member, until_ns, &login);
    if (st != DLOCK_OK)
        return st;
    st = ask_member(http, request, login.token, member, until_ns, out, &has_to_log_in);
    if (!has_to_log_in)
        return st;
    st = log_in(http, member, until_ns, &login);
    if (st != DLOCK_OK)
        return st;
    return ask_member(http, request, login.token, member, until_ns, out, &has_to_log_in);
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
                      const char *body, struct etcd_lists *lists)
{
    int member = atomic_load(&http->member);
    struct login login;
    struct etcd_post post = {name_of(http, member), &http->address.tls, path, body, login.token};

    read_login(http, &login);
    if (!etcd_wire_prepare(easy, &post, lists) ||
        curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)http->timeout_ms) != CURLE_OK)
        return -1;
    return member;
}
