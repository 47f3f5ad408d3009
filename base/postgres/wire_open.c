/* SPDX-License-Identifier: MIT */
/* wire_open.c -- connects to the wanted one of several servers.
 *
 * libpq can go through a list of hosts itself, but in its non-blocking mode it has no
 * timeout for a host, so a silent host would take the whole deadline.  So this file
 * makes a connection for each host, with a part of the time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/os/descriptor.h"
#include "base/os/event.h"
#include "base/os/utf8.h"
#include "base/postgres/wire.h"
#include "base/postgres/wire_inside.h"

enum { KEYWORDS_MAX = 64, ITEM_SIZE = 256, OPENING_MAX = 1 << 20 };

/* ---- the parts of a URL ---- */

/* The value that the URL gives a keyword; "" if it gives none. */
static const char *value_of(const PQconninfoOption *options, const char *keyword)
{
    for (; options != NULL && options->keyword != NULL; options++)
        if (strcmp(options->keyword, keyword) == 0 && options->val != NULL)
            return options->val;
    return "";
}

static size_t count_items(const char *list)
{
    size_t count = list[0] != '\0';

    for (; *list != '\0'; list++)
        count += *list == ',';
    return count;
}

/* The item at `index` of a list; of a list with one item, that one. */
static void item_at(const char *list, size_t index, char out[ITEM_SIZE])
{
    if (count_items(list) == 1)
        index = 0;
    for (; index > 0 && *list != '\0'; index--) {
        list += strcspn(list, ",");
        list += *list == ',';
    }
    (void)snprintf(out, ITEM_SIZE, "%.*s", (int)strcspn(list, ","), list);
}

/* The hosts of a URL that are tried one by one.  A list that libpq refuses counts as one
 * host, so that libpq says why. */
static size_t count_hosts(const PQconninfoOption *options)
{
    size_t hosts = count_items(value_of(options, "host"));
    size_t addresses = count_items(value_of(options, "hostaddr"));
    size_t ports = count_items(value_of(options, "port"));
    size_t count = addresses > 0 ? addresses : hosts;
    bool is_right = (hosts == 0 || addresses == 0 || hosts == addresses) &&
                    (ports <= 1 || ports == count);

    return count > 1 && is_right ? count : 1;
}

size_t postgres_url_hosts(const char *url)
{
    PQconninfoOption *options = PQconninfoParse(url, NULL);
    size_t count = count_hosts(options);

    PQconninfoFree(options);
    return count;
}

/* ---- one attempt ---- */

/* `prefer-standby` is a round for standbys and a round for any server. */
static bool prefers_standby(const struct postgres_wire_route *route)
{
    return route->host_count > 1 &&
           strcmp(value_of(route->options, "target_session_attrs"), "prefer-standby") == 0;
}

static size_t attempts_of(const struct postgres_wire_route *route)
{
    return route->host_count * (prefers_standby(route) ? 2 : 1);
}

static size_t host_of(const struct postgres_wire_route *route)
{
    return (route->first_host + route->tried) % route->host_count;
}

/* The target_session_attrs of this attempt; NULL: the URL's own. */
static const char *wanted_of(const struct postgres_wire_route *route)
{
    const char *given = value_of(route->options, "target_session_attrs");

    if (prefers_standby(route))
        return route->tried < route->host_count ? "standby" : "any";
    if (given[0] != '\0')
        return given;
    return route->wants_primary && getenv("PGTARGETSESSIONATTRS") == NULL ? "read-write"
                                                                          : NULL;
}

/* The keywords for libpq. */
struct keywords {
    const char *keys[KEYWORDS_MAX], *values[KEYWORDS_MAX];
    size_t count;
    char host[ITEM_SIZE], address[ITEM_SIZE], port[ITEM_SIZE];
};

/* Add a keyword.  If a keyword is given twice, libpq uses the later value, and ignores
 * NULL. */
static void add(struct keywords *k, const char *keyword, const char *value)
{
    if (value == NULL || k->count + 1 == KEYWORDS_MAX)
        return;
    k->keys[k->count] = keyword;
    k->values[k->count++] = value;
}

static bool names_host(const char *keyword)
{
    return strcmp(keyword, "host") == 0 || strcmp(keyword, "hostaddr") == 0 ||
           strcmp(keyword, "port") == 0;
}

static void fill(struct keywords *k, const struct postgres_wire_route *route)
{
    k->count = 0;
    if (route->options == NULL)
        add(k, "dbname", route->url);
    for (const PQconninfoOption *o = route->options; o != NULL && o->keyword != NULL; o++)
        if (route->host_count == 1 || !names_host(o->keyword))
            add(k, o->keyword, o->val);
    if (route->host_count > 1) {
        item_at(value_of(route->options, "host"), host_of(route), k->host);
        item_at(value_of(route->options, "hostaddr"), host_of(route), k->address);
        item_at(value_of(route->options, "port"), host_of(route), k->port);
        add(k, "host", k->host);
        add(k, "hostaddr", k->address);
        add(k, "port", k->port);
    }
    add(k, "target_session_attrs", wanted_of(route));
    add(k, "application_name", route->application_name);
    add(k, "options", route->settings);
#define X(keyword, value, setting, servers) add(k, keyword, value);
    POSTGRES_SILENCES(X)
#undef X
    add(k, "gssencmode", "disable");
    k->keys[k->count] = k->values[k->count] = NULL;
}

/* Called for notices, which libpq would print otherwise.  A notice without a SQLSTATE
 * is libpq's own: the server sent a message that no statement asked for.  A warning is
 * recognised by the server function that sends it, because its text may be in any
 * language. */
static void on_notice(void *arg, const PGresult *result)
{
    struct postgres_wire *wire = arg;
    const char *source = PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION);

    if (PQresultErrorField(result, PG_DIAG_SQLSTATE) == NULL)
        wire->was_told = true;
    if (source != NULL && strcmp(source, "SyncRepWaitForLSN") == 0)
        wire->is_unreplicated = true;
}

static bool begin(struct postgres_wire *wire)
{
    struct keywords k;

    fill(&k, &wire->route);
    wire->pg = PQconnectStartParams(k.keys, k.values, wire->route.options == NULL);
    if (wire->pg == NULL)
        return false;
    wire->read_count = 0;
    wire->is_flooded = false;
    if (!utf8_hide(PQpass(wire->pg)))
        return false;
    /* Already before it is open: libpq would wait without end for a server that asks for
     * passwords again and again, and does not read them.  This clears what libpq has said. */
    (void)snprintf(wire->route.host_said, sizeof(wire->route.host_said), "%s",
                   PQstatus(wire->pg) != CONNECTION_BAD ? PQerrorMessage(wire->pg) : "");
    (void)PQsetnonblocking(wire->pg, 1);
    (void)PQsetNoticeReceiver(wire->pg, on_notice, wire);
    /* Only verbose messages of libpq contain the SQLSTATE of a refused connection. */
    (void)PQsetErrorVerbosity(wire->pg, PQERRORS_VERBOSE);
    return true;
}

static char *copy(const char *text, bool *is_whole)
{
    char *copied = text != NULL ? strdup(text) : NULL;

    *is_whole = *is_whole && (text == NULL || copied != NULL);
    return copied;
}

struct postgres_wire *postgres_wire_new(const struct postgres_wire_options *options)
{
    struct postgres_wire *wire = calloc(1, sizeof(*wire));
    struct postgres_wire_route *route = wire != NULL ? &wire->route : NULL;
    bool is_whole = true;

    if (wire == NULL)
        return NULL;
    route->options = PQconninfoParse(options->url, NULL);
    route->url = copy(options->url, &is_whole);
    route->application_name = copy(options->application_name, &is_whole);
    route->settings = copy(options->settings, &is_whole);
    route->wants_primary = options->wants_primary;
    wire->answer_max = options->answer_max;
    route->host_count = count_hosts(route->options);
    route->first_host = options->first_host % route->host_count;
    if (is_whole && utf8_hide(value_of(route->options, "sslpassword")) && begin(wire))
        return wire;
    postgres_wire_close(wire);
    return NULL;
}

/* ---- all attempts ---- */

/* The end of this attempt: the hosts that are left share the time that is left. */
static int64_t attempt_ends_ns(const struct postgres_wire_route *route, int64_t deadline_ns)
{
    int64_t now_ns = dlock_clock_ns();
    int64_t left = (int64_t)(attempts_of(route) - route->tried);
    int limit_s = atoi(value_of(route->options, "connect_timeout"));
    int64_t end_ns = deadline_ns;

    if (route->host_count == 1)
        return deadline_ns;
    if (left > 1 && deadline_ns > now_ns)
        end_ns = now_ns + (deadline_ns - now_ns) / left;
    if (limit_s > 0 && dlock_clock_after(now_ns, (int64_t)limit_s * 1000) < end_ns)
        end_ns = dlock_clock_after(now_ns, (int64_t)limit_s * 1000);
    return end_ns;
}

static enum postgres_opening finish(struct postgres_wire *wire, int64_t deadline_ns)
{
    PostgresPollingStatusType want = PGRES_POLLING_WRITING;
    bool is_last = false;

    if (PQstatus(wire->pg) == CONNECTION_BAD)
        return POSTGRES_FAILED;
    while (want != PGRES_POLLING_OK) {
        if (want == PGRES_POLLING_FAILED || !postgres_wire_may_read(wire, OPENING_MAX))
            return POSTGRES_FAILED;
        if (is_last)
            return POSTGRES_LATE;
        is_last = dlock_clock_ns() >= deadline_ns;
        if (postgres_wire_wait_socket(
                wire, want == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline_ns) == 0)
            return POSTGRES_LATE;
        want = PQconnectPoll(wire->pg);
    }
    (void)PQsetErrorVerbosity(wire->pg, PQERRORS_DEFAULT);
    return PQsetnonblocking(wire->pg, 1) == 0 ? POSTGRES_OPEN : POSTGRES_FAILED;
}

static void forget_said(struct postgres_wire_route *route)
{
    free(route->said);
    route->said = NULL;
}

/* Keep the message about this host.  Without memory it is lost. */
static void keep_said(struct postgres_wire *wire, bool is_late)
{
    struct postgres_wire_route *route = &wire->route;
    char address[ITEM_SIZE], *said = NULL;
    const char *before = route->said != NULL ? route->said : "";

    postgres_wire_address(wire, address, sizeof(address));
    if (is_late && route->host_count > 1
            ? asprintf(&said, "%s%s did not answer in time\n", before, address) < 0
            : asprintf(&said, "%s%s%s\n", before, route->host_said,
                       wire->is_flooded ? postgres_wire_error(wire)
                                        : PQerrorMessage(wire->pg)) < 0)
        return;
    free(route->said);
    route->said = said;
}

enum postgres_opening postgres_wire_open(struct postgres_wire *wire, int64_t deadline_ns)
{
    struct postgres_wire_route *route = &wire->route;
    enum postgres_opening answer = POSTGRES_FAILED;

    for (;;) {
        answer = finish(wire, attempt_ends_ns(route, deadline_ns));
        if (answer == POSTGRES_OPEN) {
            forget_said(route);
            return answer;
        }
        keep_said(wire, answer == POSTGRES_LATE);
        if (route->tried + 1 == attempts_of(route) || dlock_clock_ns() >= deadline_ns)
            return answer;
        route->tried++;
        PQfinish(wire->pg);
        if (!begin(wire))
            return POSTGRES_FAILED;
    }
}

size_t postgres_wire_host(const struct postgres_wire *wire)
{
    return host_of(&wire->route);
}

void postgres_wire_close(struct postgres_wire *wire)
{
    if (wire == NULL)
        return;
    if (postgres_wire_transaction(wire) == POSTGRES_TRANSACTION_UNKNOWN)
        dlock_descriptor_abort(PQsocket(wire->pg));
    PQfinish(wire->pg);
    PQconninfoFree(wire->route.options);
    free(wire->route.said);
    free(wire->route.settings);
    free(wire->route.application_name);
    free(wire->route.url);
    free(wire);
}
