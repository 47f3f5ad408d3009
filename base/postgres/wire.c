/* SPDX-License-Identifier: MIT */
/* wire.c -- PostgreSQL by libpq, without ever blocking inside it.
 *
 * libpq's socket is non-blocking, and this file waits for it, with a deadline. libpq
 * reads ahead, so a result may be in its buffer while the socket has no data.
 * Therefore receive asks libpq before it waits. */
#include "base/postgres/wire.h"
#include "base/postgres/wire_inside.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/os/clock.h"
#include "base/os/event.h"
#include "base/os/number.h"

/* Reads of libpq that are not counted.  A read fills libpq's buffer, which has 16 KiB at first and
 * is doubled at most once for each read.  Only into a message whose length was announced libpq
 * reads on until the socket is empty. */
enum { READS_UNCOUNTED = 8 };

static const char FLOODED[] = "the server sent more than any answer has";

/* A postgres_result is a PGresult of libpq; the struct is never defined. */
static const PGresult *own(const struct postgres_result *result)
{
    return (const PGresult *)result;
}

/* A wait may end early or late, so the last check is made after the deadline. */
short postgres_wire_wait_socket(const struct postgres_wire *wire, short events,
                                int64_t deadline_ns)
{
    int fd = PQsocket(wire->pg);
    short ready;
    bool is_last;

    if (fd < 0) /* libpq has closed the socket, so a wait would never end */
        return POLLERR;
    do {
        is_last = deadline_ns == 0 || dlock_clock_ns() >= deadline_ns;
        ready = dlock_poll_one(fd, events, deadline_ns);
    } while (ready == 0 && !is_last);
    return ready;
}

/* The bytes that have arrived, read or not.  The kernel counts those of TCP.  For another socket,
 * which is one of this machine, the bytes that wait are added up at each read: never too few. */
static uint64_t count_arrived(struct postgres_wire *wire)
{
    struct tcp_info info = {.tcpi_bytes_received = 0};
    socklen_t len = sizeof(info);
    int waiting = 0;

    if (getsockopt(PQsocket(wire->pg), IPPROTO_TCP, TCP_INFO, &info, &len) == 0)
        return info.tcpi_bytes_received;
    if (ioctl(PQsocket(wire->pg), FIONREAD, &waiting) == 0)
        wire->local_count += (uint64_t)waiting;
    return wire->local_count;
}

bool postgres_wire_may_read(struct postgres_wire *wire, size_t most)
{
    uint64_t arrived;

    if (most == 0 || ++wire->read_count < READS_UNCOUNTED)
        return true;
    arrived = count_arrived(wire);
    if (wire->read_count == READS_UNCOUNTED)
        wire->arrived_before = arrived;
    wire->is_flooded = arrived > wire->arrived_before + most;
    return !wire->is_flooded;
}

/* Let libpq read what has arrived.  False: the wire broke, or the answer is too long. */
static bool read_more(struct postgres_wire *wire)
{
    return postgres_wire_may_read(wire, wire->answer_max) && PQconsumeInput(wire->pg) == 1;
}

void postgres_wire_cut(struct postgres_wire *wire)
{
    (void)shutdown(PQsocket(wire->pg), SHUT_RDWR);
}

/* ---- put and send ---- */

bool postgres_wire_set_batches(struct postgres_wire *wire, bool on)
{
    return (on ? PQenterPipelineMode(wire->pg) : PQexitPipelineMode(wire->pg)) == 1;
}

bool postgres_wire_put_query(struct postgres_wire *wire, const char *sql)
{
    return PQsendQuery(wire->pg, sql) == 1;
}

bool postgres_wire_put_question(struct postgres_wire *wire, const char *sql, int count,
                                const char *const *values)
{
    return PQsendQueryParams(wire->pg, sql, count, NULL, values, NULL, NULL, 0) == 1;
}

bool postgres_wire_put_unnamed(struct postgres_wire *wire, const char *sql, int count,
                               const unsigned *types, const char *const *values,
                               const int *lengths, const int *formats)
{
    return PQsendQueryParams(wire->pg, sql, count, types, values, lengths, formats, 0) == 1;
}

bool postgres_wire_put_prepare(struct postgres_wire *wire, const char *name,
                               const char *sql, int count, const unsigned *types)
{
    return PQsendPrepare(wire->pg, name, sql, count, types) == 1;
}

bool postgres_wire_put_execute(struct postgres_wire *wire, const char *name, int count,
                               const char *const *values, const int *lengths,
                               const int *formats)
{
    return PQsendQueryPrepared(wire->pg, name, count, values, lengths, formats, 0) == 1;
}

bool postgres_wire_put_sync(struct postgres_wire *wire)
{
    return PQpipelineSync(wire->pg) == 1;
}

/* The server may stop reading until its own answers are read, so this function reads
 * them while it sends. */
bool postgres_wire_send(struct postgres_wire *wire, int64_t deadline_ns)
{
    bool is_last = false;
    int left;

    wire->read_count = 0;
    while ((left = PQflush(wire->pg)) == 1 && !is_last) {
        short ready;

        is_last = dlock_clock_ns() >= deadline_ns;
        ready = postgres_wire_wait_socket(wire, POLLIN | POLLOUT, deadline_ns);
        if (ready == 0)
            return false;
        if ((ready & POLLOUT) == 0 && !read_more(wire))
            return false;
    }
    return left == 0;
}

/* ---- wait and receive ---- */

bool postgres_wire_wait(const struct postgres_wire *wire, int64_t deadline_ns)
{
    return postgres_wire_wait_socket(wire, POLLIN, deadline_ns) != 0;
}

bool postgres_wire_receive(struct postgres_wire *wire, int64_t deadline_ns,
                           struct postgres_result **out)
{
    bool is_last = false; /* bytes may keep coming, so a ready socket does not end the wait */

    *out = NULL;
    while (PQisBusy(wire->pg)) {
        if (is_last)
            return false;
        is_last = dlock_clock_ns() >= deadline_ns;
        if (postgres_wire_wait_socket(wire, POLLIN, deadline_ns) == 0 || !read_more(wire))
            return false;
    }
    *out = (struct postgres_result *)PQgetResult(wire->pg);
    return true;
}

bool postgres_wire_has_said_more(struct postgres_wire *wire)
{
    PGnotify *notice;

    while ((notice = PQnotifies(wire->pg)) != NULL) /* which reads what was received */
        PQfreemem(notice);
    return wire->was_told;
}

/* ---- what is known of the session ---- */

enum postgres_transaction postgres_wire_transaction(const struct postgres_wire *wire)
{
    switch (PQtransactionStatus(wire->pg)) {
    case PQTRANS_IDLE:
        return POSTGRES_NO_TRANSACTION;
    case PQTRANS_INTRANS:
        return POSTGRES_IN_TRANSACTION;
    case PQTRANS_INERROR:
        return POSTGRES_IN_FAILED_TRANSACTION;
    default:
        return POSTGRES_TRANSACTION_UNKNOWN;
    }
}

bool postgres_wire_is_broken(const struct postgres_wire *wire)
{
    return wire->is_flooded || PQstatus(wire->pg) != CONNECTION_OK;
}

bool postgres_wire_is_flooded(const struct postgres_wire *wire)
{
    return wire->is_flooded;
}

const char *postgres_wire_error(const struct postgres_wire *wire)
{
    if (wire->is_flooded)
        return FLOODED;
    if (wire->route.options == NULL)
        return "invalid URL"; /* libpq would repeat a part of it */
    if (PQstatus(wire->pg) != CONNECTION_OK && wire->route.said != NULL)
        return wire->route.said;
    return PQerrorMessage(wire->pg);
}

int postgres_wire_backend_pid(const struct postgres_wire *wire)
{
    return PQbackendPID(wire->pg);
}

void postgres_wire_address(const struct postgres_wire *wire, char *out, size_t size)
{
    const char *host = PQhost(wire->pg);
    const char *port = PQport(wire->pg);

    (void)snprintf(out, size, "%.80s:%.10s", host != NULL ? host : "",
                   port != NULL ? port : "");
}

bool postgres_wire_is_unreplicated(const struct postgres_wire *wire)
{
    return wire->is_unreplicated;
}

/* ---- results ---- */

enum postgres_result_kind postgres_result_kind(const struct postgres_result *result)
{
    switch (PQresultStatus(own(result))) {
    case PGRES_COMMAND_OK:
        return POSTGRES_RESULT_DONE;
    case PGRES_TUPLES_OK:
        return POSTGRES_RESULT_ROWS;
    case PGRES_EMPTY_QUERY:
        return POSTGRES_RESULT_EMPTY;
    case PGRES_FATAL_ERROR:
        return POSTGRES_RESULT_ERROR;
    case PGRES_PIPELINE_SYNC:
        return POSTGRES_RESULT_SYNC;
    default:
        return POSTGRES_RESULT_OTHER;
    }
}

int postgres_result_rows(const struct postgres_result *result)
{
    return PQntuples(own(result));
}

int postgres_result_columns(const struct postgres_result *result)
{
    return PQnfields(own(result));
}

/* Does the cell exist? libpq writes to stderr if it is asked for one that does not. */
static bool is_there(const struct postgres_result *result, int row, int column)
{
    return row >= 0 && row < PQntuples(own(result)) && column >= 0 &&
           column < PQnfields(own(result));
}

bool postgres_result_is_null(const struct postgres_result *result, int row, int column)
{
    return !is_there(result, row, column) || PQgetisnull(own(result), row, column);
}

const char *postgres_result_text(const struct postgres_result *result, int row, int column)
{
    return is_there(result, row, column) ? PQgetvalue(own(result), row, column) : "";
}

size_t postgres_result_length(const struct postgres_result *result, int row, int column)
{
    return is_there(result, row, column) ? (size_t)PQgetlength(own(result), row, column)
                                         : 0;
}

unsigned postgres_result_type(const struct postgres_result *result, int column)
{
    return column >= 0 && column < PQnfields(own(result)) &&
                   PQfformat(own(result), column) == 0
               ? PQftype(own(result), column)
               : 0;
}

const char *postgres_result_tag(const struct postgres_result *result)
{
    /* The cast: libpq forgot a const, and only reads. */
    return result != NULL ? PQcmdStatus((PGresult *)(uintptr_t)result) : "";
}

const char *postgres_result_state(const struct postgres_result *result)
{
    return PQresultErrorField(own(result), PG_DIAG_SQLSTATE);
}

const char *postgres_result_constraint(const struct postgres_result *result)
{
    return PQresultErrorField(own(result), PG_DIAG_CONSTRAINT_NAME);
}

const char *postgres_result_message(const struct postgres_result *result)
{
    return PQresultErrorMessage(own(result));
}

void postgres_result_free(struct postgres_result *result)
{
    PQclear((PGresult *)result);
}

/* ---- without a session ---- */

/* The end of the longest beginning of the URL that libpq can read. */
static const char *find_fault(const char *url)
{
    PQconninfoOption *options = NULL;
    size_t len = strlen(url);
    char *part = strdup(url);

    while (part != NULL && len > 0 && options == NULL) {
        part[--len] = '\0';
        options = PQconninfoParse(part, NULL);
    }
    PQconninfoFree(options);
    free(part);
    return url + len;
}

/* An @ in the host or in the name of the database; NULL: there is none.  The URL then has a / or an
 * @ in its password, and libpq takes a part of the password for the host. */
static const char *find_second_at(const char *url)
{
    const char *rest = strstr(url, "://");

    if (rest == NULL)
        return NULL;
    rest += 3 + strcspn(rest + 3, "@/");
    rest += *rest == '@';
    rest += strcspn(rest, "?@");
    return *rest == '@' ? rest : NULL;
}

/* A port that is no number, which libpq sees only when it connects; NULL: there is none. */
static const char *find_bad_port(const char *url, const PQconninfoOption *options)
{
    const char *ports = "", *login_end = strrchr(url, '@');
    int64_t number;

    for (; options->keyword != NULL; options++)
        if (strcmp(options->keyword, "port") == 0 && options->val != NULL)
            ports = options->val;
    if (login_end != NULL)
        url = login_end;
    for (size_t len; *ports != '\0'; ports += len + (ports[len] == ',')) {
        len = strcspn(ports, ",");
        if (len > 0 && !dlock_number_read(ports, len, 1, UINT16_MAX, &number)) {
            const char *found = memmem(url, strlen(url), ports, len);

            return found != NULL ? found : url; /* %xx may stand in it */
        }
    }
    return NULL;
}

/* The reasons have no piece of the URL, which may be a part of a password. */
bool postgres_url_is_valid(const char *url, char *why, size_t size)
{
    PQconninfoOption *options = PQconninfoParse(url, NULL);
    const char *fault = url, *says = "it does not begin with postgresql://";

    /* libpq reads a text with another scheme, or none, as a list of name=value. */
    if (strstr(url, "://") != NULL && strncmp(url, "postgresql://", 13) != 0 &&
        strncmp(url, "postgres://", 11) != 0)
        ;
    else if ((fault = find_second_at(url)) != NULL)
        says = "there is an @ too many; write %40 for an @ and %2F for a / in a password";
    else if (options != NULL && (fault = find_bad_port(url, options)) != NULL)
        says = "a port is a number from 1 to 65535";
    else if (options == NULL && (fault = find_fault(url)) != NULL)
        says = "what stands there cannot be read; a URL is "
               "postgresql://[user[:password]@]host[:port][,...][/database][?name=value&...]";
    PQconninfoFree(options);
    if (fault != NULL)
        (void)snprintf(why, size, "at character %td: %s", fault - url + 1, says);
    return fault == NULL;
}

bool postgres_answers(const char *url)
{
    return PQping(url) == PQPING_OK;
}
