/* SPDX-License-Identifier: MIT */
/* server.c -- answers browsers, from the board. */
#include "loadtest/show/server.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/http/address.h"
#include "base/http/secret.h"
#include "base/http/status.h"
#include "db/guard.h"
#include "db/order_paths.h"
#include "gen/show_page.h"
#include "loadtest/fault/catalogue.h"
#include "loadtest/kit/files.h"
#include "loadtest/kit/name_list.h"
#include "loadtest/kit/why.h"
#include "loadtest/lab/lab.h"
#include "loadtest/show/board.h"
#include "loadtest/show/lesson.h"
#include "loadtest/show/lesson_wish.h"
#include "loadtest/show/switches.h"
#include "loadtest/show/trouble.h"
#include "lock/dlock.h"

/* ---- the catalogue of the locks ---- */

static json_t *locks_json(lab_topologies has)
{
    json_t *list = json_array();

    for (size_t i = 0; i < dlock_variant_count(); i++) {
        const dlock_variant_info *v = dlock_variant_at(i);
        bool is_there = (lab_lock_needs(v->name) & ~has) == 0;

        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:b}", "name", v->name,
                                              "store", v->store, "promises", v->promises,
                                              "breaks", v->breaks, "available", is_there));
    }
    return list;
}

static json_t *names_json(const char *(*name_at)(size_t))
{
    json_t *list = json_array();
    const char *name;

    for (size_t i = 0; (name = name_at(i)) != NULL; i++)
        json_array_append_new(list, json_string(name));
    return list;
}

/* Every fault that can be given: those of processes, then those of servers. */
static json_t *faults_json(void)
{
    json_t *list = json_array();
    const char *name;

    for (int i = 0; (name = trouble_name(i)) != NULL; i++) {
        const struct server_fault *fault =
            i < SHOW_FAULT_COUNT ? NULL : server_fault_at((size_t)(i - SHOW_FAULT_COUNT));

        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s?, s:b, s:b}", "name", name, "of",
                            fault ? "server" : "process", "does", fault ? fault->does : NULL,
                            "lasts", !fault || server_fault_lasts(fault), "by_time",
                            fault && fault->by_max_ms != 0));
    }
    return list;
}

/* The text, which the caller frees. */
static char *catalog_make(lab_topologies has)
{
    json_t *choices = json_object(), *numbers = json_object(), *json;
    char *text;

#define X(field, flag, of_service, names)                                              \
    json_object_set_new(choices, #field, names_json(names));
    SHOW_CHOICES(X)
#undef X
#define X(field, flag, of_service, least, most)                                        \
    json_object_set_new(numbers, #field,                                               \
                        json_pack("{s:i, s:i}", "least", (int)(least), "most", (int)(most)));
    SHOW_NUMBERS(X)
#undef X
    json = json_pack("{s:i, s:o, s:o, s:o, s:o}", "format", 1, "locks",
                     locks_json(has), "choices", choices, "numbers", numbers, "faults",
                     faults_json());
    text = files_json_text(json, JSON_COMPACT);
    json_decref(json);
    return text;
}

/* ---- the wishes of the browser ---- */

/* Threads     Any. */

enum { BRACKETS_MAX = 8, FIELDS_MAX = 4 };

/* The paths, with the fields that a body may have.  Settings are checked where they are read, and
 * the kinds of the lessons by lesson_wish.c. */
static const struct post {
    const char *path;
    enum show_wish_kind kind;
    const char *fields[FIELDS_MAX];
} POSTS[] = {
    {"/api/run", SHOW_WISH_RUN, {NULL}},
    {"/api/offer", SHOW_WISH_OFFER, {NULL}},
    {"/api/run/stop", SHOW_WISH_STOP, {NULL}},
    {"/api/fault", SHOW_WISH_FAULT, {"name", "target", "server", "by_ms"}},
    {"/api/heal", SHOW_WISH_HEAL, {NULL}},
    {"/api/lesson", SHOW_WISH_LESSON, {"number"}},
    {"/api/lesson/predict", SHOW_WISH_PREDICT, {"answer"}},
    {"/api/lesson/run", SHOW_WISH_LESSON_RUN, {NULL}},
};

static const struct post *find(const char *path)
{
    for (size_t i = 0; i < sizeof POSTS / sizeof POSTS[0]; i++)
        if (strcmp(path, POSTS[i].path) == 0)
            return &POSTS[i];
    return NULL;
}

/* Is this the path of a POST? */
static bool wish_is_path(const char *path)
{
    return find(path) != NULL;
}

/* jansson calls itself once a level, so that brackets alone would use up the stack of a thread; no
 * body needs more than one. */
/* Read the object of a body of `size` bytes, which the caller releases.  NULL: *wrong says why,
 * a static text. */
static json_t *wish_body(const char *text, size_t size, const char **wrong)
{
    json_t *body;
    int brackets = 0;

    for (size_t i = 0; i < size; i++)
        brackets += text[i] == '[' || text[i] == '{';
    if (brackets > BRACKETS_MAX) {
        *wrong = "the body has more brackets than any request needs";
        return NULL;
    }
    body = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    if (json_is_object(body))
        return body;
    *wrong = "the body is no JSON object, or names a field twice";
    json_decref(body);
    return NULL;
}

/* Has the body only fields that are read?  A request with another field would be carried out only
 * in part. */
static bool has_only(const json_t *body, const struct post *post, char *why)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)body, name, value) {
        bool is_known = false;

        for (size_t i = 0; i < FIELDS_MAX && post->fields[i]; i++)
            is_known = is_known || strcmp(name, post->fields[i]) == 0;
        if (!is_known) {
            why_say(why, "%s takes no field %.40s", post->path, name);
            return false;
        }
    }
    return true;
}

/* The value of a field; NULL: it is missing, or null. */
static const json_t *given(const json_t *body, const char *name)
{
    const json_t *value = json_object_get(body, name);

    return json_is_null(value) ? NULL : value;
}

/* A fault or its end: {"name": "freeze", "target": 1}, {"name": "clock", "server": "redis",
 * "by_ms": 30000}; all but the name may be missing. */
static const char *read_fault(const json_t *body, struct show_wish *wish)
{
    const char *name = json_string_value(json_object_get(body, "name"));
    const json_t *in = given(body, "server"), *target = given(body, "target");
    const json_t *by = given(body, "by_ms");
    const char *server = in ? json_string_value(in) : "";

    if (!name || trouble_find(name) < 0)
        return "name has to be one of the faults that GET /api/catalog names";
    if (by && !json_is_integer(by))
        return "by_ms has to be a whole number of milliseconds";
    if (!server || strlen(server) >= sizeof wish->server)
        return "server has to be the name of a server of the lab";
    if (target && (!json_is_integer(target) || json_integer_value(target) < 1 ||
                   json_integer_value(target) > wish->switches.processes))
        return "target has to be the number of a process";
    snprintf(wish->fault, sizeof wish->fault, "%s", name);
    snprintf(wish->server, sizeof wish->server, "%s", server);
    wish->by_ms = json_integer_value(by);
    wish->target = target ? (int)json_integer_value(target) - 1 : -1;
    return NULL;
}

/* Read the wish of a POST to `path`, for which wish_is_path() is true.  wish->switches are the
 * settings of the sale that is there, and become those that are wished; wish->base keeps them.
 * NULL: the wish is complete.  Else the reason for which it is none, a static text or `why`. */
static const char *wish_read(const char *path, const json_t *body, struct show_wish *wish,
                             char why[WHY_MAX])
{
    const struct post *post = find(path);

    wish->kind = post->kind;
    wish->base = wish->switches;
    if (post->kind == SHOW_WISH_RUN || post->kind == SHOW_WISH_OFFER)
        return show_switches_read(&wish->switches, body, why) ? NULL : why;
    if (!has_only(body, post, why))
        return why;
    return post->kind == SHOW_WISH_FAULT ? read_fault(body, wish)
                                         : lesson_wish_read(body, wish);
}

/* A connection has a thread from its first byte to its last, and there are as many threads as
 * connections.  So a new connection never waits for a silent one, which is ended by its timeout. */
enum { DESCRIPTORS = 4096, CONNECTIONS = 64, REQUEST_MS = 5000, BODY_MAX = 4096 };

static const char JSON_TYPE[] = "application/json; charset=utf-8";
static const char STATE_PATH[] = "/api/state";

/* The parts of the page. */
static const struct {
    const char *path, *type, *text;
} FILES[] = {
    {"/", "text/html; charset=utf-8", SHOW_HTML},
    {"/head.css", "text/css; charset=utf-8", HEAD_CSS},
    {"/show.css", "text/css; charset=utf-8", SHOW_CSS},
    {"/show.js", "text/javascript; charset=utf-8", SHOW_JS},
    {"/words.js", "text/javascript; charset=utf-8", WORDS_JS},
    {"/lines.js", "text/javascript; charset=utf-8", LINES_JS},
    {"/lesson.css", "text/css; charset=utf-8", LESSON_CSS},
    {"/lesson.js", "text/javascript; charset=utf-8", LESSON_JS},
};

static const char *header(const struct http_exchange *x, const char *name)
{
    for (size_t i = 0; i < x->head->header_count; i++)
        if (strcasecmp(x->head->headers[i].name, name) == 0)
            return x->head->headers[i].value;
    return NULL;
}

/* Is the connection to end with the answer?  A page that asks for the state asks again at once, and
 * a connection for each answer costs the processors that the sale needs more than the answer does.
 * All else is asked once. */
static bool ends_connection(const struct http_exchange *x, int status)
{
    return status != 200 || strcmp(x->head->uri, STATE_PATH) != 0 || x->gate.body_bytes > 0 ||
           http_must_close(x);
}

static void send(struct http_exchange *x, int status, const char *type, const char *body)
{
    x->status = status;
    x->closes = ends_connection(x, status);
    text_add(x->answer,
             "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
             "Connection: %s\r\nCache-Control: no-store\r\n"
             "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
             "Cross-Origin-Resource-Policy: same-origin\r\n%s"
             "Content-Security-Policy: default-src 'none'; script-src 'self'; "
             "style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; "
             "form-action 'none'; frame-ancestors 'none'\r\n\r\n%s",
             status, http_status_reason(status), type, strlen(body),
             x->closes ? "close" : "keep-alive",
             status == 401 ? "WWW-Authenticate: Bearer\r\n" : "",
             strcmp(x->head->method, "HEAD") == 0 ? "" : body);
}

static void refuse_by(struct http_exchange *x, int status, struct show_refusal refusal)
{
    text_add(x->body, "{\"error\":");
    text_add_json(x->body, refusal.text);
    if (refusal.code) {
        text_add(x->body, ",\"code\":");
        text_add_json(x->body, refusal.code);
    }
    text_add(x->body, "}\n");
    send(x, status, JSON_TYPE, x->body->broken ? "" : x->body->bytes);
}

static void refuse(struct http_exchange *x, int status, const char *why)
{
    refuse_by(x, status, (struct show_refusal){why, NULL});
}

/* May it ask?  False: the refusal is written. */
static bool may_ask(const struct show_server *server, struct http_exchange *x, bool needs_token)
{
    const struct admin_origin from = {.host = header(x, "Host"),
                                      .origin = header(x, "Origin"),
                                      .fetch_site = header(x, "Sec-Fetch-Site")};
    const char *given = header(x, "Authorization");
    const char *token = given && strncasecmp(given, "Bearer ", 7) == 0 ? given + 7 : NULL;

    switch (admin_access_check(&server->access, &from, token)) {
    case ADMIN_ALLOWED:
        return true;
    case ADMIN_FOREIGN_HOST:
        refuse(x, 421, "this server answers for one Host: the one of the address that it printed");
        return false;
    case ADMIN_FOREIGN_ORIGIN:
        /* A link on another site leads to the page, and to nothing else. */
        if (!needs_token && !from.origin)
            return true;
        refuse(x, 403, "requests from pages of other sites are refused");
        return false;
    case ADMIN_NO_TOKEN:
        if (!needs_token)
            return true;
        refuse(x, 401, "the header Authorization: Bearer with the token is missing; `seckill "
                       "show` prints the token in the address that it says to open");
        return false;
    case ADMIN_WRONG_TOKEN:
        if (!needs_token)
            return true;
        refuse(x, 403, "this is not the token of this `seckill show`, which prints it in the "
                       "address that it says to open");
        return false;
    }
    return false;
}

static void answer_state(struct show_server *server, struct http_exchange *x)
{
    char *document = show_board_document(server->board);

    if (document)
        send(x, 200, JSON_TYPE, document);
    else
        refuse(x, 409, "the servers are being started");
    free(document);
}

/* Send JSON, and free it. */
static void answer_list(struct http_exchange *x, char *json)
{
    send(x, 200, JSON_TYPE, json);
    free(json);
}

/* Documents that the lessons name: open to this machine, as the page is. */
static void answer_document(struct http_exchange *x)
{
    char *text = lesson_document(x->head->uri + 1);

    if (text)
        send(x, 200, "text/plain; charset=utf-8", text);
    else
        refuse(x, 404, "no lesson names a document at this path that lies beside this program");
    free(text);
}

static void leave_wish(struct show_server *server, struct http_exchange *x,
                       const struct show_wish *wish)
{
    struct show_refusal refusal = {"another request is being carried out", "wish-busy"};

    if (show_board_wish(server->board, wish, &refusal) == SHOW_WISH_TAKEN)
        send(x, 202, JSON_TYPE, "{}\n");
    else
        refuse_by(x, 409, refusal);
}

static void answer_wish(struct show_server *server, struct http_exchange *x)
{
    static const struct show_refusal starting = {"processes are being started", "being-started"};
    struct show_wish wish = {.target = -1};
    char why[WHY_MAX] = "";
    const char *text = "{}", *wrong;
    size_t size = 2;
    json_t *body = NULL;

    if (x->gate.body_bytes > BODY_MAX) {
        refuse(x, 413, "the body is too large");
        return;
    }
    wrong = x->gate.body_bytes > 0 ? http_read_body(x, &text, &size) : NULL;
    if (!wrong)
        body = wish_body(text, size, &wrong);
    /* Only now: a body may take seconds to come, in which others change the settings. */
    if (!wrong && show_board_phase(server->board, &wish.switches) == SHOW_STARTING) {
        refuse_by(x, 409, starting);
    } else {
        if (!wrong)
            wrong = wish_read(x->head->uri, body, &wish, why);
        if (wrong)
            refuse(x, 400, wrong);
        else
            leave_wish(server, x, &wish);
    }
    json_decref(body);
}

static void answer_api(struct show_server *server, struct http_exchange *x)
{
    const char *path = x->head->uri;
    bool is_get = strcmp(x->head->method, "GET") == 0;

    if (!may_ask(server, x, true))
        return;
    if (wish_is_path(path) && strcmp(x->head->method, "POST") == 0)
        answer_wish(server, x);
    else if (strcmp(path, STATE_PATH) == 0 && is_get)
        answer_state(server, x);
    else if (strcmp(path, "/api/catalog") == 0 && is_get)
        answer_list(x, catalog_make(server->topologies));
    else if (strcmp(path, "/api/lesson") == 0 && is_get)
        answer_list(x, lesson_catalog());
    else if (wish_is_path(path) || strcmp(path, STATE_PATH) == 0 ||
             strcmp(path, "/api/catalog") == 0)
        refuse(x, 405, "this path takes another method");
    else
        refuse(x, 404, "there is nothing at this path");
}

/* An http_answer_fn. */
static void answer(void *arg, struct http_exchange *x)
{
    struct show_server *server = arg;
    bool is_get = strcmp(x->head->method, "GET") == 0 || strcmp(x->head->method, "HEAD") == 0;

    if (x->gate.status != 0) {
        refuse(x, x->gate.status, x->gate.why);
        return;
    }
    if (!http_begin_work(x))
        return;
    if (strncmp(x->head->uri, "/api/", 5) == 0) {
        answer_api(server, x);
        return;
    }
    if (!may_ask(server, x, false))
        return;
    for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
        if (strcmp(x->head->uri, FILES[i].path) != 0)
            continue;
        if (is_get)
            send(x, 200, FILES[i].type, FILES[i].text);
        else
            refuse(x, 405, "this path takes GET");
        return;
    }
    if (is_get && strncmp(x->head->uri, "/docs/", 6) == 0)
        answer_document(x);
    else
        refuse(x, 404, "there is nothing at this path");
}

bool show_server_open(struct show_server *server, const char *address, const char *host)
{
    static const struct connections_limits limits = {.open = {CONNECTIONS, 0}};
    struct http_server_options options = {.request_timeout_ms = REQUEST_MS,
                                          .answer = answer,
                                          .arg = server};
    int port = 0;

    (void)address_parse(address, server->access.own_host, &port);
    server->access.hosts = host;
    server->access.are_all_hosts = host != NULL;
    secret_random_hex(server->access.token, ADMIN_TOKEN_BYTES / 2);
    options.connections = server->connections = connections_new(DESCRIPTORS, &limits);
    server->http = server->connections ? http_server_new(&options) : NULL;
    if (!server->http || !http_server_listen(server->http, 0, address, CONNECTIONS)) {
        show_server_close(server);
        return false;
    }
    server->port = http_server_port(server->http, 0);
    return true;
}

void show_server_close(struct show_server *server)
{
    enum { DRAIN_MS = 2000 };

    if (server->http) {
        (void)http_server_drain(server->http, DRAIN_MS);
        http_server_stop(server->http);
    }
    connections_free(server->connections);
    server->http = NULL;
    server->connections = NULL;
}
