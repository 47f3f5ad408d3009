/* SPDX-License-Identifier: MIT */
/* pipe.c -- a bounded buffer in each direction: a peer that does not read makes the other
 * peer wait. */
#include "loadtest/proxy/pipe.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/os/clock.h"

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
