/* SPDX-License-Identifier: MIT */
/* postgres_wire.c -- base/postgres/wire.h on the simulated network, in place of
 * base/postgres/wire.c. */
#include "base/postgres/wire.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulation/postgres_network.h"

static int setting(const char *settings, const char *name)
{
    const char *at = settings != NULL ? strstr(settings, name) : NULL;

    return at != NULL ? atoi(at + strlen(name)) : 0;
}

struct postgres_wire *postgres_wire_new(const struct postgres_wire_options *options)
{
    const char *settings = options->settings;
    struct postgres_wire *wire;

    task_may_stall();
    wire = postgres_network_open();
    wire->statement_timeout_ms = setting(settings, "-c statement_timeout=");
    wire->lock_timeout_ms = setting(settings, "-c lock_timeout=");
    wire->idle_timeout_ms = setting(settings, "-c idle_in_transaction_session_timeout=");
    return wire;
}

/* ---- waiting ---- */

static bool is_readable(const struct postgres_wire *wire)
{
    return wire->in != NULL ||
           (wire->state != POSTGRES_WIRE_OPENING && wire->state != POSTGRES_WIRE_OPEN);
}

static bool sleep_until(struct postgres_wire *wire, int64_t deadline_ns)
{
    if (site_clock_ns(wire->site) >= deadline_ns)
        return false;
    wire->watcher = task_here;
    (void)task_sleep(deadline_ns == INT64_MAX ? INT64_MAX
                                              : site_world_ns(wire->site, deadline_ns));
    wire->watcher = NULL;
    return true;
}

enum postgres_opening postgres_wire_open(struct postgres_wire *wire, int64_t deadline_ns)
{
    while (wire->state == POSTGRES_WIRE_OPENING)
        if (!sleep_until(wire, deadline_ns))
            return POSTGRES_LATE;
    task_may_stall();
    return wire->state == POSTGRES_WIRE_OPEN ? POSTGRES_OPEN : POSTGRES_FAILED;
}

bool postgres_wire_wait(const struct postgres_wire *wire, int64_t deadline_ns)
{
    struct postgres_wire *own = (struct postgres_wire *)(uintptr_t)wire;

    task_may_stall();
    while (!is_readable(wire))
        if (!sleep_until(own, deadline_ns))
            return false;
    return true;
}

/* ---- cut and close ---- */

static void end(struct postgres_wire *wire)
{
    postgres_network_send(wire, &wire->to_server,
                          (struct postgres_packet){.kind = POSTGRES_PACKET_END});
}

void postgres_wire_cut(struct postgres_wire *wire)
{
    end(wire);
    wire->state = POSTGRES_WIRE_ENDED;
}

void postgres_wire_close(struct postgres_wire *wire)
{
    if (wire == NULL)
        return;
    task_may_stall();
    trace("close-postgres", wire->number, 0);
    wire->is_closed = true;
    end(wire);
}

/* ---- put and send ---- */

bool postgres_wire_set_batches(struct postgres_wire *wire, bool on)
{
    (void)on;
    return !wire->is_broken;
}

static struct postgres_message *put(struct postgres_wire *wire,
                                    enum postgres_message_kind kind, const char *name)
{
    struct postgres_message *message = calloc(1, sizeof(*message));

    if (message == NULL)
        abort();
    message->kind = kind;
    (void)snprintf(message->name, sizeof(message->name), "%s", name);
    *wire->put_end = message;
    wire->put_end = &message->next;
    wire->expected++;
    return message;
}

bool postgres_wire_put_query(struct postgres_wire *wire, const char *sql)
{
    (void)wire;
    world_condemn(NOT_KNOWN, "the simulation knows no simple query: %.100s", sql);
    return false;
}

bool postgres_wire_put_question(struct postgres_wire *wire, const char *sql, int count,
                                const char *const *values)
{
    (void)wire;
    (void)count;
    (void)values;
    world_condemn(NOT_KNOWN, "the simulation knows no unprepared statement: %.100s", sql);
    return false;
}

bool postgres_wire_put_unnamed(struct postgres_wire *wire, const char *sql, int count,
                               const unsigned *types, const char *const *values,
                               const int *lengths, const int *formats)
{
    (void)types;
    (void)lengths;
    (void)formats;
    return postgres_wire_put_question(wire, sql, count, values);
}

bool postgres_wire_put_prepare(struct postgres_wire *wire, const char *name,
                               const char *sql, int count, const unsigned *types)
{
    (void)count;
    (void)types;
    if (wire->is_broken)
        return false;
    put(wire, POSTGRES_PREPARE, name)->sql = strdup(sql);
    return true;
}

/* Convert a value to text. A binary value is an integer of eight bytes. */
static char *text_of(const char *value, int length, int format)
{
    uint64_t integer;
    char digits[24];

    if (value == NULL)
        return NULL;
    if (format == 0)
        return strdup(value);
    if (length != (int)sizeof(integer))
        world_condemn(NOT_KNOWN, "the simulation knows no binary value of %d bytes", length);
    memcpy(&integer, value, sizeof(integer));
    (void)snprintf(digits, sizeof(digits), "%lld", (long long)be64toh(integer));
    return strdup(digits);
}

bool postgres_wire_put_execute(struct postgres_wire *wire, const char *name, int count,
                               const char *const *values, const int *lengths,
                               const int *formats)
{
    struct postgres_message *message;

    if (wire->is_broken)
        return false;
    message = put(wire, POSTGRES_EXECUTE, name);
    if (count > POSTGRES_VALUES_MAX)
        abort();
    for (int i = 0; i < count; i++)
        message->values[i] = text_of(values[i], lengths[i], formats[i]);
    message->count = count;
    return true;
}

bool postgres_wire_put_sync(struct postgres_wire *wire)
{
    if (wire->is_broken)
        return false;
    (void)put(wire, POSTGRES_SYNC, "");
    return true;
}

static void send_up_to(struct postgres_wire *wire, struct postgres_message **last)
{
    struct postgres_packet packet = {.kind = POSTGRES_PACKET_MESSAGES, .messages = wire->put};

    wire->put = *last;
    *last = NULL;
    postgres_network_send(wire, &wire->to_server, packet);
}

/* Send the messages, sometimes in two parts, as a network may. */
bool postgres_wire_send(struct postgres_wire *wire, int64_t deadline_ns)
{
    struct postgres_message **at = &wire->put;

    (void)deadline_ns;
    task_may_stall();
    if (network_short_one_in > 0 && chance_one_in(network_short_one_in) && wire->put != NULL)
        for (int64_t left = chance_between(1, 4); left > 0 && *at != NULL; left--)
            at = &(*at)->next;
    if (at != &wire->put)
        send_up_to(wire, at);
    task_may_stall();
    for (at = &wire->put; *at != NULL;)
        at = &(*at)->next;
    if (at != &wire->put)
        send_up_to(wire, at);
    wire->put_end = &wire->put;
    return true;
}

/* ---- receive ---- */

bool postgres_wire_receive(struct postgres_wire *wire, int64_t deadline_ns,
                           struct postgres_result **out)
{
    struct postgres_answered *first;

    *out = NULL;
    if (wire->is_in_gap) {
        wire->is_in_gap = false;
        return true;
    }
    task_may_stall();
    while (wire->in == NULL)
        if (wire->state != POSTGRES_WIRE_OPEN || !sleep_until(wire, deadline_ns)) {
            wire->is_broken = wire->is_broken || wire->state != POSTGRES_WIRE_OPEN;
            return false;
        }
    first = wire->in;
    wire->in = first->next;
    wire->expected--;
    wire->is_in_gap = first->answer.kind != POSTGRES_RESULT_SYNC;
    if (first->answer.kind == POSTGRES_RESULT_SYNC)
        wire->transaction = first->answer.transaction;
    wire->is_broken = wire->is_broken || first->answer.ends_session;
    *out = (struct postgres_result *)(void *)&first->answer;
    return true;
}

bool postgres_wire_has_said_more(struct postgres_wire *wire)
{
    return wire->expected == 0 && wire->in != NULL;
}

/* ---- facts of the session ---- */

enum postgres_transaction postgres_wire_transaction(const struct postgres_wire *wire)
{
    return wire->is_broken || wire->expected != 0 ? POSTGRES_TRANSACTION_UNKNOWN
                                                  : wire->transaction;
}

bool postgres_wire_is_broken(const struct postgres_wire *wire)
{
    return wire->is_broken;
}

/* There is one host, and no standby. */
size_t postgres_wire_host(const struct postgres_wire *wire)
{
    (void)wire;
    return 0;
}

size_t postgres_url_hosts(const char *url)
{
    (void)url;
    return 1;
}

bool postgres_wire_is_unreplicated(const struct postgres_wire *wire)
{
    (void)wire;
    return false;
}

int postgres_wire_backend_pid(const struct postgres_wire *wire)
{
    return wire->backend_pid;
}

void postgres_wire_address(const struct postgres_wire *wire, char *out, size_t size)
{
    (void)wire;
    (void)snprintf(out, size, "simulated:5432");
}

const char *postgres_wire_error(const struct postgres_wire *wire)
{
    return wire->state == POSTGRES_WIRE_REFUSED ? "connection refused\n"
           : wire->state == POSTGRES_WIRE_ENDED ? "server closed the connection unexpectedly\n"
                                                : "";
}
