/* SPDX-License-Identifier: MIT */
/* wire.c -- finds every place between two bytes at which a fault could strike.
 *
 * Bytes are passed on up to the next such place and no further.  So a fault strikes
 * between the same two bytes, however the network splits them. */
#include "loadtest/proxy/wire.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os/clock.h"

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
