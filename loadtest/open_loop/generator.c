/* SPDX-License-Identifier: MIT */
/* generator.c -- HTTP requests at a fixed rate, whatever the answers do. */
#include "loadtest/open_loop/generator.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/memory.h"

/* ---- an HTTP/1.1 answer, taken from a connection's bytes (RFC 9112) ---- */

/* A line without its end; NULL: none is whole. */
struct line {
    const char *text;
    size_t size;
};

static struct line next_line(const char **at, const char *end)
{
    const char *feed = memchr(*at, '\n', (size_t)(end - *at));
    struct line line = {0};

    if (!feed)
        return line;
    line.text = *at;
    line.size = (size_t)(feed - *at);
    if (line.size > 0 && feed[-1] == '\r')
        line.size--;
    *at = feed + 1;
    return line;
}

/* "HTTP/1.x DDD ..." */
static bool read_status(struct line line, int *status)
{
    if (line.size < 12 || memcmp(line.text, "HTTP/1.", 7) != 0 || line.text[8] != ' ')
        return false;
    *status = 0;
    for (int i = 9; i < 12; i++) {
        if (!isdigit((unsigned char)line.text[i]))
            return false;
        *status = *status * 10 + (line.text[i] - '0');
    }
    return *status >= 200 && (line.size == 12 || line.text[12] == ' ');
}

/* The value of the field `name` in `line`, without the spaces around it; a NULL text: the
 * line is another field's. */
static struct line value_of(struct line line, const char *name)
{
    size_t size = strlen(name);
    struct line value = {0};

    if (line.size <= size || line.text[size] != ':' ||
        strncasecmp(line.text, name, size) != 0)
        return value;
    value.text = line.text + size + 1;
    value.size = line.size - size - 1;
    while (value.size > 0 && (*value.text == ' ' || *value.text == '\t')) {
        value.text++;
        value.size--;
    }
    while (value.size > 0 && isspace((unsigned char)value.text[value.size - 1]))
        value.size--;
    return value;
}

static bool read_length(struct line value, size_t *length)
{
    *length = 0;
    for (size_t i = 0; i < value.size; i++) {
        if (!isdigit((unsigned char)value.text[i]) || *length > HTTP_ANSWER_MAX)
            return false;
        *length = *length * 10 + (size_t)(value.text[i] - '0');
    }
    return value.size > 0;
}

/* Read one field into *out.  False: the field cannot be understood. */
static bool take_field(struct line line, struct received_answer *out, bool *has_length)
{
    struct line value = value_of(line, "Content-Length");

    if (value.text) {
        *has_length = true;
        return read_length(value, &out->body_size);
    }
    value = value_of(line, "X-Outcome");
    if (value.text && value.size < sizeof out->outcome) {
        memcpy(out->outcome, value.text, value.size);
        out->outcome[value.size] = '\0';
    }
    value = value_of(line, "Connection");
    if (value.text && value.size == 5 && strncasecmp(value.text, "close", 5) == 0)
        out->closes = true;
    return !value_of(line, "Transfer-Encoding").text;
}

enum http_answer_state http_answer_read(const char *bytes, size_t size,
                                        struct received_answer *out)
{
    const char *at = bytes, *end = bytes + size;
    enum http_answer_state unfinished =
        size < HTTP_ANSWER_MAX ? HTTP_ANSWER_PART : HTTP_ANSWER_NONSENSE;
    struct line line = next_line(&at, end);
    bool has_length = false;

    *out = (struct received_answer){0};
    if (!line.text)
        return unfinished;
    if (!read_status(line, &out->status))
        return HTTP_ANSWER_NONSENSE;
    for (line = next_line(&at, end); line.text && line.size > 0; line = next_line(&at, end))
        if (!take_field(line, out, &has_length))
            return HTTP_ANSWER_NONSENSE;
    if (!line.text)
        return unfinished;
    if (!has_length)
        return HTTP_ANSWER_NONSENSE;
    out->body = at;
    out->size = (size_t)(at - bytes) + out->body_size;
    if (out->size > HTTP_ANSWER_MAX)
        return HTTP_ANSWER_NONSENSE;
    return out->size <= size ? HTTP_ANSWER_WHOLE : HTTP_ANSWER_PART;
}

/* ---- a connection ---- */

enum connection_state {
    CONNECTION_DOWN,       /* has no socket                                           */
    CONNECTION_CONNECTING,
    CONNECTION_FREE,       /* a request can be sent                                   */
    CONNECTION_BUSY,       /* waits for an answer                                     */
};

struct connection {
    enum connection_state state;
    int fd; /* -1: none                                                               */
    int target;
    struct proxy_target address;
    int64_t request;   /* its number, while BUSY                                      */
    int64_t due_ns;    /* the due time of that request                                */
    int64_t retry_ns;  /* while DOWN: the earliest time of the next connect           */
    size_t to_send, sent; /* of `out`                                                 */
    bool is_writing;      /* epoll tells when the socket takes more                   */
    size_t received;      /* in `in`                                                  */
    char out[1024];
    char in[HTTP_ANSWER_MAX];
};

/* The result of a receive. */
enum connection_event {
    CONNECTION_NOTHING,  /* not yet a whole answer                                    */
    CONNECTION_ANSWERED, /* *answer, which points into the connection, until connection_next() */
    CONNECTION_BROKEN,   /* closed by the server, or the bytes are no answer           */
};

static bool connection_watch(struct connection *c, int poll_fd, int operation, bool is_writing)
{
    struct epoll_event event = {.events = is_writing ? EPOLLIN | EPOLLOUT : EPOLLIN,
                                .data.ptr = c};

    c->is_writing = is_writing;
    return epoll_ctl(poll_fd, operation, c->fd, &event) == 0;
}

/* DOWN afterwards, and not to be opened before `retry_ns`. */
static void connection_cut(struct connection *c, int64_t retry_ns)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    c->state = CONNECTION_DOWN;
    c->retry_ns = retry_ns;
}

/* Begin to connect, and have `poll_fd` (of epoll) tell of it with the connection's address.
 * DOWN afterwards: it failed. */
static void connection_open(struct connection *c, int poll_fd)
{
    bool is_connecting;

    c->received = c->sent = c->to_send = 0;
    c->fd = proxy_target_connect(&c->address, &is_connecting);
    if (c->fd < 0)
        return;
    c->state = CONNECTION_CONNECTING;
    if (!connection_watch(c, poll_fd, EPOLL_CTL_ADD, true))
        connection_cut(c, 0);
}

/* Call when epoll tells of a connection that is CONNECTING.  The connection is FREE then;
 * false: the connect failed. */
static bool connection_finish(struct connection *c, int poll_fd)
{
    int error = 0;
    socklen_t size = sizeof error;

    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0)
        return false;
    c->state = CONNECTION_FREE;
    return connection_watch(c, poll_fd, EPOLL_CTL_MOD, false);
}

static bool connection_flush(struct connection *c, int poll_fd)
{
    ssize_t n = send(c->fd, c->out + c->sent, c->to_send - c->sent, MSG_NOSIGNAL);
    bool is_writing;

    if (n < 0 && errno != EAGAIN && errno != EINTR)
        return false;
    c->sent += n > 0 ? (size_t)n : 0;
    is_writing = c->sent < c->to_send;
    return is_writing == c->is_writing || connection_watch(c, poll_fd, EPOLL_CTL_MOD, is_writing);
}

/* Send the `to_send` bytes of `out` on a FREE connection, which is BUSY then; bytes that the
 * socket does not take at once go with connection_flush().  False: the connection is broken. */
static bool connection_send(struct connection *c, int poll_fd)
{
    c->state = CONNECTION_BUSY;
    c->sent = c->received = 0;
    return connection_flush(c, poll_fd);
}

static enum connection_event connection_receive(struct connection *c,
                                                struct received_answer *answer)
{
    ssize_t n = recv(c->fd, c->in + c->received, sizeof c->in - c->received, 0);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? CONNECTION_NOTHING : CONNECTION_BROKEN;
    if (n == 0 || c->state != CONNECTION_BUSY)
        return CONNECTION_BROKEN;
    c->received += (size_t)n;
    switch (http_answer_read(c->in, c->received, answer)) {
    case HTTP_ANSWER_WHOLE:
        return answer->size == c->received ? CONNECTION_ANSWERED : CONNECTION_BROKEN;
    case HTTP_ANSWER_PART:
        return CONNECTION_NOTHING;
    default:
        return CONNECTION_BROKEN;
    }
}

/* The answer has been read: FREE again. */
static void connection_next(struct connection *c)
{
    c->received = 0;
    c->state = CONNECTION_FREE;
}

/* ---- the generator ---- */

enum {
    EVENTS_MAX = 256,
    RETRY_NS = 20000000,    /* the least time between two connects to a dead service */
    LONGEST_WAIT_NS = 10000000, /* then tick() is called, and Ctrl-C is noticed      */
    LATE_NS = 12000000, /* a longer turn of the loop means that it had no processor   */
};

/* The time for all connections to be made.  After it the step begins, also with fewer. */
static const int64_t CONNECT_NS = 2000000000;

struct generator {
    const struct generator_plan *plan;
    int poll_fd;
    int64_t requests_before; /* of the steps before this one                         */
    struct connection *connections;
    struct connection **free; /* a ring: connections take turns                       */
    size_t first_free, free_count;

    /* Of the step that runs. */
    struct step_result *result;
    int64_t begin_ns, end_ns;
    int64_t next;   /* request that is sent next                                      */
    int64_t noted;  /* requests up to this one are counted in `lag` or in `queued`     */
    int64_t looked_ns; /* the last time at which the loop sent the due requests        */
    bool had_free;  /* at that time a connection stayed free                           */
    int64_t in_flight;
    int64_t answered_in_time;
};

static size_t capacity(const struct generator *g)
{
    return (size_t)g->plan->connections;
}

static void make_free(struct generator *g, struct connection *c)
{
    g->free[(g->first_free + g->free_count++) % capacity(g)] = c;
}

static struct connection *take_free(struct generator *g)
{
    struct connection *c = g->free[g->first_free];

    g->first_free = (g->first_free + 1) % capacity(g);
    g->free_count--;
    return c;
}

/* A connection that broke while no request was on it. */
static void forget_free(struct generator *g, const struct connection *broken)
{
    size_t count = g->free_count;

    g->free_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct connection *c = g->free[(g->first_free + i) % capacity(g)];

        if (c != broken)
            make_free(g, c);
    }
}

/* The rate of a ramp at the time t is rate * t / duration, so rate * t * t / 2 / duration requests
 * are due by then. */
static int64_t due_ns(const struct generator *g, int64_t n)
{
    double seconds = (double)n / (double)g->result->rate;

    if (g->result->is_ramp)
        seconds = sqrt(2 * seconds * (double)g->result->duration_ms / 1e3);
    return g->begin_ns + (int64_t)(seconds * 1e9);
}

/* No answer will come for the request on this connection. */
static void lose(struct generator *g, struct connection *c, int64_t now_ns)
{
    if (c->state == CONNECTION_FREE)
        forget_free(g, c);
    if (c->state == CONNECTION_BUSY) {
        g->in_flight--;
        g->result->unanswered++;
        latency_add(&g->result->latency, now_ns - c->due_ns);
        g->plan->client->take_silence(g->plan->client->arg, c->request, c->target);
    }
    connection_cut(c, now_ns + RETRY_NS);
}

static void send_one(struct generator *g, int64_t now_ns)
{
    const struct generator_client *client = g->plan->client;
    struct connection *c = take_free(g);
    int64_t n = g->next++;

    c->due_ns = due_ns(g, n);
    c->request = g->requests_before + n;
    c->to_send = client->write_request(client->arg, c->request, c->target, c->out,
                                       sizeof c->out);
    if (n >= g->noted)
        latency_add(&g->result->lag, now_ns - c->due_ns);
    g->result->sent++;
    g->in_flight++;
    if (!connection_send(c, g->poll_fd))
        lose(g, c, monotonic_ns());
}

static int64_t count_due(const struct generator *g, int64_t now_ns)
{
    double seconds = (double)(now_ns - g->begin_ns) / 1e9;
    int64_t due;

    if (g->result->is_ramp)
        seconds *= seconds / 2 / ((double)g->result->duration_ms / 1e3);
    due = (int64_t)(seconds * (double)g->result->rate) + 1;
    return due < g->result->due ? due : g->result->due;
}

/* Note the due requests for which no connection is free.  A request waits for a connection if all
 * connections were busy when it became due.  Otherwise the request waits for the generator, which
 * is late, and its wait so far is lag. */
static void note_waiting(struct generator *g, int64_t now_ns, bool is_late)
{
    int64_t due = count_due(g, now_ns);

    for (int64_t n = g->noted > g->next ? g->noted : g->next; n < due; n++) {
        if (is_late)
            latency_add(&g->result->lag, now_ns - due_ns(g, n));
        else
            g->result->queued++;
    }
    if (due > g->noted)
        g->noted = due;
}

static void send_due(struct generator *g, int64_t now_ns)
{
    int64_t due = count_due(g, now_ns);

    while (g->next < due && g->free_count > 0)
        send_one(g, now_ns);
    if (g->next < due)
        note_waiting(g, now_ns, g->had_free);
    g->had_free = g->free_count > 0;
    g->looked_ns = now_ns;
}

/* Make the connection free.  Requests that became due while all connections were busy did not
 * wait for the generator, unless the loop was so late that the answer may have come before they
 * were due. */
static void free_again(struct generator *g, struct connection *c, int64_t now_ns)
{
    if (g->result != NULL && g->free_count == 0)
        note_waiting(g, now_ns, now_ns - g->looked_ns > LATE_NS);
    make_free(g, c);
}

static void take_answer(struct generator *g, struct connection *c,
                        const struct received_answer *answer)
{
    const struct generator_client *client = g->plan->client;
    int64_t now_ns = monotonic_ns();
    enum answer_kind kind = client->take_answer(client->arg, c->request, c->target, answer);

    g->in_flight--;
    g->result->answers.counts[kind]++;
    g->answered_in_time += now_ns <= g->end_ns;
    latency_add(&g->result->latency, now_ns - c->due_ns);
    if (answer_is_accepted(kind))
        latency_add(&g->result->accepted, now_ns - c->due_ns);
    connection_next(c);
    if (answer->closes)
        connection_cut(c, now_ns);
    else
        free_again(g, c, now_ns);
}

static void take_event(struct generator *g, struct connection *c, uint32_t events)
{
    struct received_answer answer;
    int64_t now_ns = monotonic_ns();

    if (c->state == CONNECTION_DOWN)
        return;
    if (c->state == CONNECTION_CONNECTING) {
        if (connection_finish(c, g->poll_fd))
            free_again(g, c, now_ns);
        else
            lose(g, c, now_ns);
        return;
    }
    if ((events & EPOLLOUT) && c->is_writing && !connection_flush(c, g->poll_fd)) {
        lose(g, c, now_ns);
        return;
    }
    if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
        return;
    switch (connection_receive(c, &answer)) {
    case CONNECTION_ANSWERED:
        take_answer(g, c, &answer);
        break;
    case CONNECTION_BROKEN:
        lose(g, c, now_ns);
        break;
    case CONNECTION_NOTHING:
        break;
    }
}

static void open_all(struct generator *g, int64_t now_ns)
{
    for (int i = 0; i < g->plan->connections; i++) {
        struct connection *c = &g->connections[i];

        if (c->state == CONNECTION_DOWN && now_ns >= c->retry_ns) {
            connection_open(c, g->poll_fd);
            if (c->state == CONNECTION_DOWN)
                c->retry_ns = now_ns + RETRY_NS;
        }
    }
}

/* Wait for a socket, at most until `until_ns`, and take what has come.  False: errno says
 * why that failed. */
static bool wait_events(struct generator *g, int64_t until_ns)
{
    struct epoll_event events[EVENTS_MAX];
    int64_t left_ns = until_ns - monotonic_ns();
    struct timespec timeout = {0};
    int n;

    if (left_ns > LONGEST_WAIT_NS)
        left_ns = LONGEST_WAIT_NS;
    if (left_ns > 0)
        timeout.tv_nsec = (long)left_ns;
    n = epoll_pwait2(g->poll_fd, events, EVENTS_MAX, &timeout, NULL);
    if (n < 0 && errno == ENOSYS) /* before Linux 5.11: less than 1 ms too early */
        n = epoll_wait(g->poll_fd, events, EVENTS_MAX, (int)(timeout.tv_nsec / 1000000));
    if (n < 0 && errno != EINTR)
        return false;
    for (int i = 0; i < n; i++)
        take_event(g, events[i].data.ptr, events[i].events);
    open_all(g, monotonic_ns());
    return true;
}

struct generator *generator_open(const struct generator_plan *plan)
{
    struct generator *g = memory_need(calloc(1, sizeof *g));
    int64_t by_ns = monotonic_ns() + CONNECT_NS;

    g->plan = plan;
    g->connections = memory_need(calloc(capacity(g), sizeof *g->connections));
    g->free = memory_need(calloc(capacity(g), sizeof *g->free));
    for (int i = 0; i < plan->connections; i++) {
        g->connections[i].fd = -1;
        g->connections[i].target = i % plan->targets;
        if (plan->address)
            g->connections[i].address = *plan->address;
        else
            proxy_target_local(&g->connections[i].address, plan->ports[i % plan->targets]);
    }
    g->poll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (g->poll_fd >= 0) {
        open_all(g, monotonic_ns());
        while (g->free_count < capacity(g) && monotonic_ns() < by_ns && !interrupted())
            if (!wait_events(g, by_ns))
                break;
    }
    if (g->free_count > 0)
        return g;
    generator_close(g);
    errno = ECONNREFUSED;
    return NULL;
}

void generator_close(struct generator *g)
{
    if (!g)
        return;
    for (int i = 0; i < g->plan->connections; i++)
        connection_cut(&g->connections[i], 0);
    if (g->poll_fd >= 0)
        close(g->poll_fd);
    free(g->connections);
    free(g->free);
    free(g);
}

/* Give up the requests without an answer, and those that were not sent. */
static void give_up(struct generator *g)
{
    int64_t now_ns = monotonic_ns();

    for (int i = 0; i < g->plan->connections; i++)
        if (g->connections[i].state == CONNECTION_BUSY)
            lose(g, &g->connections[i], now_ns);
    for (; g->next < g->result->due; g->next++) {
        if (due_ns(g, g->next) > now_ns)
            break;
        g->result->unsent++;
        latency_add(&g->result->latency, now_ns - due_ns(g, g->next));
    }
}

static int64_t processor_ns(void)
{
    struct timespec used;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

static bool run_loop(struct generator *g, int64_t give_up_ns)
{
    const struct generator_client *client = g->plan->client;
    int64_t due = g->result->due;

    while (g->next < due || g->in_flight > 0) {
        int64_t now_ns = monotonic_ns();
        bool waits_for_due;

        if (now_ns >= give_up_ns || interrupted())
            break;
        send_due(g, now_ns);
        waits_for_due = g->next < due && g->free_count > 0;
        if (!wait_events(g, waits_for_due ? due_ns(g, g->next) : give_up_ns))
            return false;
        if (!client->tick(client->arg, monotonic_ns() - g->begin_ns))
            break;
    }
    return true;
}

/* Run the step whose rate, duration and due requests *out has. */
static bool generator_step(struct generator *g, int64_t drain_ms, struct step_result *out)
{
    int64_t used_ns = processor_ns(), duration_ms = out->duration_ms, lasted_ns;
    bool ok;

    out->due += out->due == 0;
    g->result = out;
    g->next = g->noted = g->answered_in_time = 0;
    g->begin_ns = g->looked_ns = monotonic_ns();
    g->had_free = g->free_count > 0;
    g->end_ns = g->begin_ns + duration_ms * 1000000;
    ok = run_loop(g, g->end_ns + drain_ms * 1000000);
    lasted_ns = monotonic_ns() - g->begin_ns;
    out->processor = (double)(processor_ns() - used_ns) / (double)lasted_ns;
    out->is_cut_short = interrupted();
    if (!out->is_cut_short)
        lasted_ns = duration_ms * 1000000;
    give_up(g);
    out->answered_per_s = (double)g->answered_in_time * 1e9 / (double)lasted_ns;
    g->requests_before += out->due;
    g->result = NULL;
    return ok;
}

bool generator_run(struct generator *g, int64_t rate, int64_t duration_ms, int64_t drain_ms,
                   struct step_result *out)
{
    *out = (struct step_result){
        .rate = rate, .duration_ms = duration_ms, .due = rate * duration_ms / 1000};
    return generator_step(g, drain_ms, out);
}

bool generator_ramp(struct generator *g, int64_t rate, int64_t duration_ms, int64_t drain_ms,
                    struct step_result *out)
{
    *out = (struct step_result){.rate = rate,
                                .duration_ms = duration_ms,
                                .due = rate * duration_ms / 2000,
                                .is_ramp = true};
    return generator_step(g, drain_ms, out);
}
