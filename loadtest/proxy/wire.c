/* SPDX-License-Identifier: MIT */
/* wire.c -- finds every place between two bytes at which a fault could strike.
 *
 * Bytes are passed on up to the next such place and no further.  So a fault strikes
 * between the same two bytes, however the network splits them. */
#include "loadtest/proxy/wire.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os/clock.h"

/* ---- one direction: a bounded buffer, so that a peer that does not read makes the other peer
 * wait ---- */

static bool is_passing(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

bool proxy_pipe_wants_input(const struct proxy_pipe *p)
{
    return !p->eof && p->in_len < PIPE_SIZE;
}

bool proxy_pipe_read(struct proxy_pipe *p, int fd)
{
    ssize_t n;

    memmove(p->in, p->in + p->in_start, p->in_len);
    p->in_start = 0;
    n = recv(fd, p->in + p->in_len, PIPE_SIZE - p->in_len, MSG_DONTWAIT);
    if (n < 0)
        return is_passing(errno);
    p->eof = n == 0;
    p->received += (uint64_t)n;
    if (p->over)
        p->dropped += (uint64_t)n;
    else
        p->in_len += (size_t)n;
    return true;
}

static void forget_sent(struct proxy_pipe *p, size_t size)
{
    p->sent += size;
    p->out_len -= size;
    memmove(p->out, p->out + size, p->out_len);
    p->parts[0].size -= size;
    if (p->parts[0].size > 0)
        return;
    p->part_count--;
    memmove(p->parts, p->parts + 1, p->part_count * sizeof p->parts[0]);
}

int64_t proxy_pipe_due_ns(const struct proxy_pipe *p)
{
    return p->part_count > 0 ? p->parts[0].due_ns : INT64_MAX;
}

bool proxy_pipe_send(struct proxy_pipe *p, int fd, int64_t now_ns)
{
    while (proxy_pipe_due_ns(p) <= now_ns) {
        ssize_t n = send(fd, p->out, p->parts[0].size, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0)
            return is_passing(errno);
        forget_sent(p, (size_t)n);
    }
    if (p->part_count == 0 && !p->shut && (p->over || (p->eof && p->in_len == 0))) {
        p->shut = true;
        shutdown(fd, SHUT_WR); /* a reader that has gone will be noticed elsewhere */
    }
    return true;
}

bool proxy_pipe_has_message(const struct proxy_pipe *p, size_t *size)
{
    struct proxy_scanner ahead = p->scanner;
    bool ended;

    *size = proxy_scan(&ahead, p->in + p->in_start, p->in_len, &ended);
    return ended || ahead.is_lost || p->eof || p->in_len == PIPE_SIZE;
}

/* Room for how many bytes that are due then? */
static size_t room(const struct proxy_pipe *p, int64_t due_ns)
{
    bool joins = p->part_count > 0 && p->parts[p->part_count - 1].due_ns == due_ns;

    return joins || p->part_count < PIPE_PARTS ? PIPE_SIZE - p->out_len : 0;
}

static void put(struct proxy_pipe *p, size_t size, int64_t due_ns)
{
    memcpy(p->out + p->out_len, p->in + p->in_start, size);
    p->out_len += size;
    if (p->part_count == 0 || p->parts[p->part_count - 1].due_ns != due_ns)
        p->parts[p->part_count++] = (struct proxy_part){.due_ns = due_ns};
    p->parts[p->part_count - 1].size += size;
}

/* Later bytes are never due before earlier ones. */
static int64_t due(const struct proxy_pipe *p, int64_t now_ns)
{
    int64_t at_ns = p->delay_ns > 0 ? now_ns + p->delay_ns : 0;
    int64_t last_ns = p->part_count > 0 ? p->parts[p->part_count - 1].due_ns : 0;

    return at_ns > last_ns ? at_ns : last_ns;
}

static void move_head(struct proxy_pipe *p, size_t size, bool ended)
{
    p->in_len -= size;
    p->in_start += size;
    p->passed += size;
    p->in_message = ended ? 0 : p->in_message + size;
    p->messages += ended;
}

/* Keep the beginning of a message, for its text. */
static void watch(struct proxy_pipe *p, size_t size, bool drops, bool ended)
{
    size_t part = PROXY_GLIMPSE_MAX - p->head_size;

    if (size < part)
        part = size;
    memcpy(p->head + p->head_size, p->in + p->in_start, part);
    p->head_size += part;
    p->was_dropped = drops;
    p->is_seen = ended;
}

bool proxy_pipe_judge(struct proxy_pipe *p, uint64_t most, int64_t now_ns)
{
    int64_t due_ns = due(p, now_ns);
    size_t size = p->in_len < most ? p->in_len : (size_t)most;
    bool drops, ended;

    if (p->drop_messages > 0 && p->in_message == 0)
        p->dropping = true;
    drops = p->drop_bytes > 0 || p->dropping;
    if (p->drop_bytes > 0 && size > p->drop_bytes)
        size = (size_t)p->drop_bytes;
    if (!drops && size > room(p, due_ns))
        size = room(p, due_ns);
    if (size == 0)
        return false;
    size = proxy_scan(&p->scanner, p->in + p->in_start, size, &ended);
    if (p->is_watched)
        watch(p, size, drops, ended);
    if (!drops)
        put(p, size, due_ns);
    else
        p->dropped += size;
    if (p->drop_bytes > 0 && p->drop_bytes != UINT64_MAX)
        p->drop_bytes -= size;
    if (p->dropping && ended) {
        p->dropping = false;
        p->drop_messages--;
    }
    move_head(p, size, ended);
    return true;
}

void proxy_pipe_end(struct proxy_pipe *p)
{
    p->over = true;
    p->dropped += p->in_len;
    p->in_len = 0;
}

/* ---- a connection ---- */

enum { CUT_PATIENCE_MS = 1000 };

struct proxy_wire *proxy_wire_new(uint64_t number, int client, int server,
                                  enum proxy_protocol protocol)
{
    struct proxy_wire *w = calloc(1, sizeof *w);

    if (w == NULL) {
        close(client);
        close(server);
        return NULL;
    }
    w->number = number;
    w->fds[PROXY_TO_SERVER] = server;
    w->fds[PROXY_TO_CLIENT] = client;
    for (int d = 0; d < 2; d++) {
        w->pipes[d].direction = w->pipes[d].scanner.direction = (enum proxy_direction)d;
        w->pipes[d].scanner.protocol = protocol;
    }
    return w;
}

void proxy_wire_free(struct proxy_wire *w, struct proxy_arms *arms)
{
    struct linger reset = {.l_onoff = 1};
    bool ended = w->pipes[0].shut && w->pipes[1].shut;

    for (int i = 0; i < arms->count; i++)
        if (arms->armed[i].claimed == w->number && arms->armed[i].strike.strikes == 0)
            arms->armed[i].claimed = 0; /* another connection may have taken the fault */
    for (int d = 0; d < 2; d++) {
        if (!(w->is_cut ? w->cuts_with_fin : ended))
            setsockopt(w->fds[d], SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        close(w->fds[d]);
    }
    free(w);
}

static bool concerns(const struct proxy_wire *w, int i, const struct proxy_armed *armed)
{
    if (armed->is_over || w->marks[i].is_struck)
        return false;
    switch (armed->fault.scope) {
    case PROXY_FIRST:
        return armed->claimed == 0 || armed->claimed == w->number;
    case PROXY_NUMBER:
        return armed->fault.connection == w->number;
    default:
        return true;
    }
}

bool proxy_wire_is_past(const struct proxy_wire *w, const struct proxy_fault *f)
{
    const struct proxy_pipe *p = &w->pipes[f->seen];

    if (f->when == PROXY_AFTER_BYTE)
        return p->passed > f->count;
    return f->when == PROXY_AFTER_MESSAGE &&
           (p->messages > f->count ||
            (p->messages == f->count && p->in_message > f->offset));
}

/* ---- where ---- */

/* The number of bytes from here to the place at which the fault may strike; UINT64_MAX: unknown. */
static uint64_t distance(const struct proxy_wire *w, int i, const struct proxy_fault *f)
{
    const struct proxy_pipe *p = &w->pipes[f->seen];
    uint64_t place;

    switch (f->when) {
    case PROXY_AT_ONCE:
        return 0;
    case PROXY_AFTER_BYTE:
        place = f->count;
        break;
    case PROXY_AFTER_MESSAGE:
        if (p->messages != f->count)
            return UINT64_MAX;
        place = p->passed - p->in_message + f->offset;
        break;
    default:
        if (w->marks[i].word_at == 0)
            return UINT64_MAX;
        place = w->marks[i].word_at - 1;
    }
    return place >= p->passed ? place - p->passed : UINT64_MAX;
}

/* Look for the words that are waited for in the message that begins here, once each.
 * False: it is not here yet. */
static bool look_for_words(struct proxy_wire *w, struct proxy_arms *arms,
                           struct proxy_pipe *p)
{
    size_t size = 0;

    if (p->in_message > 0 || p->in_len == 0)
        return true;
    for (int i = 0; i < arms->count; i++) {
        const struct proxy_fault *f = &arms->armed[i].fault;
        struct proxy_mark *mark = &w->marks[i];

        if (f->when != PROXY_AT_WORD || f->seen != p->direction || mark->is_due ||
            mark->looked > p->messages || !concerns(w, i, &arms->armed[i]))
            continue;
        if (size == 0 && !proxy_pipe_has_message(p, &size))
            return false;
        mark->looked = p->messages + 1;
        if (memmem(p->in + p->in_start, size, f->word, strlen(f->word)) != NULL)
            mark->word_at = p->passed + f->offset + 1;
    }
    return true;
}

/* ---- strikes ---- */

static void cut(struct proxy_wire *w, const struct proxy_fault *f)
{
    w->is_cut = true;
    w->cuts_with_fin = f->cuts_with_fin;
    w->cut_by_ns = dlock_clock_after(dlock_clock_ns(), CUT_PATIENCE_MS);
}

static void act(struct proxy_wire *w, struct proxy_arms *arms,
                const struct proxy_fault *f)
{
    struct proxy_pipe *p = &w->pipes[f->direction];

    switch (f->action) {
    case PROXY_HOLD:
        p->held = true;
        break;
    case PROXY_RELEASE:
        arms->release(f, arms->arg);
        break;
    case PROXY_DROP:
        *(f->drops_bytes ? &p->drop_bytes : &p->drop_messages) = f->drop_count;
        break;
    case PROXY_DELAY:
        p->delay_ns = f->delay_ms * DLOCK_NS_PER_MS;
        break;
    case PROXY_HALF_CLOSE:
        proxy_pipe_end(p);
        break;
    case PROXY_CUT:
        cut(w, f);
        break;
    }
}

/* An action that has an effect only on bytes strikes when there are some. */
static bool can_strike(const struct proxy_arms *arms, const struct proxy_pipe *p,
                       const struct proxy_fault *f)
{
    bool in_middle = p->in_message > 0 && !f->drops_bytes;

    /* A fault that was triggered in the other direction waits for the bytes that follow
     * from it. */
    if (f->action != PROXY_RELEASE && f->seen != f->direction && p->in_len == 0)
        return false;
    switch (f->action) {
    case PROXY_DROP:
        return p->in_len > 0 && !in_middle;
    case PROXY_HOLD:
    case PROXY_DELAY:
        return p->in_len > 0;
    case PROXY_RELEASE:
        return arms->is_held(f, arms->arg);
    default:
        return !p->over;
    }
}

static void strike(struct proxy_wire *w, struct proxy_arms *arms, int i)
{
    struct proxy_armed *armed = &arms->armed[i];
    int64_t now_ns = dlock_clock_ns();

    act(w, arms, &armed->fault);
    w->marks[i].is_struck = true;
    if (armed->strike.strikes++ == 0)
        armed->strike.first_ns = now_ns;
    armed->strike.last_ns = now_ns;
    armed->strike.connection = w->number;
    arms->strikes++;
    arms->told(armed, arms->arg);
}

/* The condition of the fault is met.  Only with Redis is it known which message of the other
 * direction answers this message. */
static void claim(struct proxy_wire *w, struct proxy_arms *arms, int i)
{
    const struct proxy_fault *f = &arms->armed[i].fault;
    bool is_reply = arms->protocol == PROXY_REDIS && f->when == PROXY_AT_WORD &&
                    f->seen == PROXY_TO_SERVER && f->direction == PROXY_TO_CLIENT;

    arms->claims++;
    arms->armed[i].claimed = w->number;
    w->marks[i].is_due = true;
    w->marks[i].at_message = is_reply ? w->pipes[f->seen].messages : UINT64_MAX;
}

/* The faults at this place.  Answers the bytes up to the next one, in *most. */
static void look_for_faults(struct proxy_wire *w, struct proxy_arms *arms,
                            struct proxy_pipe *p, uint64_t *most)
{
    *most = UINT64_MAX;
    for (int i = 0; i < arms->count && !w->is_cut; i++) {
        const struct proxy_fault *f = &arms->armed[i].fault;
        struct proxy_mark *mark = &w->marks[i];

        if (!concerns(w, i, &arms->armed[i]))
            continue;
        if (f->seen == p->direction && !mark->is_due) {
            uint64_t bytes = distance(w, i, f);

            if (bytes == 0)
                claim(w, arms, i);
            else if (bytes < *most)
                *most = bytes;
        }
        if (f->direction != p->direction || !mark->is_due || !can_strike(arms, p, f))
            continue;
        if (mark->at_message == UINT64_MAX ||
            (mark->at_message == p->messages && p->in_message == 0))
            strike(w, arms, i);
    }
}

/* Show a message that was judged to its end. */
static void show(struct proxy_wire *w, struct proxy_arms *arms, struct proxy_pipe *p,
                 int64_t now_ns)
{
    arms->seen(&(struct proxy_glimpse){.direction = p->direction,
                                       .connection = w->number,
                                       .number = p->messages,
                                       .at_ns = now_ns,
                                       .head = p->head,
                                       .size = p->head_size,
                                       .is_dropped = p->was_dropped},
               arms->arg);
    p->head_size = 0;
    p->is_seen = false;
}

static bool judge(struct proxy_wire *w, struct proxy_arms *arms, struct proxy_pipe *p,
                  int64_t now_ns)
{
    bool is_here = look_for_words(w, arms, p);
    uint64_t most;
    bool moved;

    look_for_faults(w, arms, p, &most);
    moved = is_here && !w->is_cut && !p->held && !p->over &&
            proxy_pipe_judge(p, most, now_ns);
    if (p->is_seen)
        show(w, arms, p, now_ns);
    return moved;
}

/* ---- its end ---- */

/* Have all sent bytes arrived?  A reset discards bytes that have not. */
static bool has_arrived(int fd)
{
    int waiting = 0;

    return ioctl(fd, SIOCOUTQ, &waiting) != 0 || waiting == 0;
}

static bool goes_on(const struct proxy_wire *w)
{
    bool all_out = true;

    if (!w->is_cut)
        return !(w->pipes[0].shut && w->pipes[1].shut);
    for (int d = 0; d < 2; d++)
        all_out = all_out && w->pipes[d].part_count == 0 && has_arrived(w->fds[d]);
    return !all_out && dlock_clock_ns() < w->cut_by_ns;
}

bool proxy_wire_step(struct proxy_wire *w, struct proxy_arms *arms)
{
    bool moved = true;

    while (moved) {
        int64_t now_ns = dlock_clock_ns();
        uint64_t claims = arms->claims;

        moved = false;
        for (int d = 0; d < 2; d++) {
            uint64_t sent = w->pipes[d].sent;

            while (judge(w, arms, &w->pipes[d], now_ns))
                moved = true;
            if (!w->is_connecting && !proxy_pipe_send(&w->pipes[d], w->fds[d], now_ns))
                return false;
            moved = moved || w->pipes[d].sent != sent;
        }
        moved = moved || claims != arms->claims; /* perhaps for the first direction */
    }
    return goes_on(w);
}
