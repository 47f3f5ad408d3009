/* SPDX-License-Identifier: MIT */
/* world.c -- time, chance, events, clocks and the trace.
 *
 * Events are in a heap, ordered by time. The hash is FNV-1a over the numbers and bytes of the
 * trace, never over an address. */
#include "tests/simulation/world.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FNV_BASIS UINT64_C(14695981039346656037)
#define FNV_PRIME UINT64_C(1099511628211)
#define WALL_BEGINS_MS INT64_C(1700000000000)

enum { TOLD_MAX = 1024, SHOWN_MAX = 200, SHOWN_SIZE = 320 };

struct world world;

/* ---- chance: splitmix64 for the state, xoshiro256** for the draws ---- */

static uint64_t split(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t turn(uint64_t x, int by)
{
    return (x << by) | (x >> (64 - by));
}

uint64_t chance_draw(void)
{
    uint64_t *s = world.chance;
    uint64_t drawn = turn(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = turn(s[3], 45);
    return drawn;
}

int64_t chance_between(int64_t least, int64_t most)
{
    return least + (int64_t)(chance_draw() % (uint64_t)(most - least + 1));
}

bool chance_one_in(uint32_t count)
{
    return (uint32_t)(chance_draw() >> 32) % count == 0;
}

int64_t chance_skewed(int64_t least, int64_t most)
{
    int bits = 0;

    while (bits < 62 && INT64_C(1) << bits < most - least + 1)
        bits++;
    return least + chance_between(0, INT64_C(1) << chance_between(0, bits)) %
                       (most - least + 1);
}

int64_t world_size(enum smaller_size size, int64_t drawn)
{
    int64_t most = world.less.most[size];
    int64_t taken = most >= 0 && most < drawn ? most : drawn;

    if (world.account->sizes[size] < taken)
        world.account->sizes[size] = taken;
    return taken;
}

bool world_has_room(enum smaller_size size)
{
    int64_t *count = &world.account->sizes[size];

    if (world.less.most[size] >= 0 && *count >= world.less.most[size])
        return false;
    ++*count;
    return true;
}

/* ---- events ---- */

static bool is_before(const struct event *a, const struct event *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->tie < b->tie;
}

static void put(struct event *event, size_t place)
{
    world.heap[place] = event;
    event->place = place;
}

static void rise(struct event *event)
{
    size_t at = event->place;

    while (at > 1 && is_before(event, world.heap[at / 2])) {
        put(world.heap[at / 2], at);
        at /= 2;
    }
    put(event, at);
}

static void sink(struct event *event)
{
    size_t at = event->place;

    for (;;) {
        size_t child = at * 2;

        if (child > world.event_count)
            break;
        if (child < world.event_count && is_before(world.heap[child + 1], world.heap[child]))
            child++;
        if (!is_before(world.heap[child], event))
            break;
        put(world.heap[child], at);
        at = child;
    }
    put(event, at);
}

void event_drop(struct event *event)
{
    struct event *last;
    size_t place = event->place;

    if (place == 0)
        return;
    event->place = 0;
    last = world.heap[world.event_count--];
    if (last == event)
        return;
    put(last, place);
    rise(last);
    sink(last);
}

void event_plan(struct event *event, int64_t at_ns)
{
    event_drop(event);
    event->at_ns = at_ns > world.now_ns ? at_ns : world.now_ns;
    event->tie = chance_draw();
    if (world.event_count + 1 >= world.event_room) {
        world.event_room = world.event_room == 0 ? 256 : world.event_room * 2;
        world.heap = realloc(world.heap, world.event_room * sizeof(*world.heap));
        if (world.heap == NULL)
            abort();
    }
    put(event, ++world.event_count);
    rise(event);
}

void world_run(void)
{
    while (!world.is_over && world.event_count > 0) {
        struct event *event = world.heap[1];

        event_drop(event);
        world.now_ns = event->at_ns;
        event->run(event->arg);
    }
    world.account->ended_ns = world.now_ns;
}

void world_begin(uint64_t seed, const struct smaller *less, struct account *account,
                 bool is_told)
{
    uint64_t state;

    world.less = less != NULL ? *less : smaller_nothing;
    state = seed + world.less.draw * UINT64_C(0xd1342543de82ef95);

    world.now_ns = 0;
    world.event_count = 0;
    for (size_t i = 0; i < 4; i++)
        world.chance[i] = split(&state);
    memset(account, 0, sizeof(*account));
    account->hash = FNV_BASIS;
    world.account = account;
    world.is_told = is_told;
    world.is_over = false;
}

/* ---- clocks ---- */

int64_t site_clock_ns(const struct site *site)
{
    return site->offset_ns + world.now_ns + world.now_ns / 1000 * site->drift_ppb / 1000000;
}

int64_t site_world_ns(const struct site *site, int64_t local_ns)
{
    int64_t left_ns = local_ns - site_clock_ns(site);
    int64_t at_ns;

    if (left_ns <= 0)
        return world.now_ns;
    if (left_ns > 1000000 * SECOND)
        return INT64_MAX;
    /* A clock that gains reaches `local_ns` sooner; one microsecond is added for the rounding. */
    at_ns = left_ns - left_ns / 1000 * site->drift_ppb / 1000000;
    return world.now_ns + at_ns + 1000 + left_ns / 1000000;
}

int64_t site_wall_us(const struct site *site)
{
    return (WALL_BEGINS_MS + site->wall_ms) * 1000 +
           (site_clock_ns(site) - site->offset_ns) / 1000;
}

/* ---- trace ---- */

void tell(const char *format, ...)
{
    char text[TOLD_MAX];
    va_list args;

    if (!world.is_told)
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    (void)printf("%14.6f  %s\n", (double)world.now_ns / 1e6, text);
}

/* The trace as sentences. A word without a sentence is printed with its numbers. */
/* The text of an enum packet_kind. */
static const char *packet_text(int64_t kind)
{
    static const char *const texts[] = {"a request to connect", "an accepted connection",
                                        "a refusal", "data", "an end", "a reset"};

    return kind >= 0 && kind < (int64_t)(sizeof(texts) / sizeof(texts[0])) ? texts[kind] : "?";
}

static void tell_numbers(const char *what, int64_t a, int64_t b)
{
    if (strcmp(what, "run") == 0 || strcmp(what, "answer") == 0 || strcmp(what, "fault") == 0)
        return; /* another function has printed a better sentence */
    if (strcmp(what, "to-server") == 0)
        tell("connection %" PRId64 ": the server gets %s", a, packet_text(b));
    else if (strcmp(what, "to-client") == 0)
        tell("connection %" PRId64 ": the client gets %s", a, packet_text(b));
    else if (strcmp(what, "receive") == 0)
        tell("connection %" PRId64 ": the client reads %" PRId64 " bytes", a, b);
    else if (strcmp(what, "cut") == 0)
        tell("FAULT connection %" PRId64 " is cut, %s", a,
             b != 0 ? "after its requests were executed" : "and its requests are lost");
    else
        tell("%s %" PRId64 " %" PRId64, what, a, b);
}

/* The words of a command or a reply, without the protocol's lengths and line ends. */
static void strip(char out[SHOWN_SIZE], const char *bytes, size_t len)
{
    size_t to = 0;
    bool is_begun = true;

    for (size_t i = 0; i < len && to < SHOWN_MAX; i++) {
        if (is_begun && (bytes[i] == '*' || bytes[i] == '$') && i + 1 < len &&
            isdigit((unsigned char)bytes[i + 1])) {
            while (i < len && bytes[i] != '\n')
                i++;
            continue;
        }
        is_begun = bytes[i] == '\n';
        if (bytes[i] == '\r')
            continue;
        out[to++] = bytes[i] == '\n' ? ' ' : isprint((unsigned char)bytes[i]) ? bytes[i] : '.';
    }
    while (to > 0 && out[to - 1] == ' ')
        to--;
    (void)snprintf(out + to, SHOWN_SIZE - to, "%s", to >= SHOWN_MAX ? " ..." : "");
}

static void tell_bytes(const char *what, int64_t a, const char *bytes, size_t len)
{
    char text[SHOWN_SIZE];

    strip(text, bytes, len);
    if (strcmp(what, "send") == 0)
        tell("connection %" PRId64 ": the client sends %s", a, text);
    else if (strcmp(what, "ask") == 0)
        tell("connection %" PRId64 ": the server executes %s", a, text);
    else if (strcmp(what, "reply") == 0)
        tell("connection %" PRId64 ": the server replies %s", a, text);
    else
        tell("%s %" PRId64 " %s", what, a, text);
}

static void mix(const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    uint64_t hash = world.account->hash;

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ at[i]) * FNV_PRIME;
    world.account->hash = hash;
}

static void mix_number(int64_t number)
{
    world.account->hash = (world.account->hash ^ (uint64_t)number) * FNV_PRIME;
}

void trace(const char *what, int64_t a, int64_t b)
{
    mix_number(world.now_ns);
    mix_number(what[0]);
    mix_number(a);
    mix_number(b);
    if (world.is_told)
        tell_numbers(what, a, b);
}

void trace_bytes(const char *what, int64_t a, const char *bytes, size_t len)
{
    mix_number(world.now_ns);
    mix_number(what[0]);
    mix_number(a);
    mix(bytes, len);
    if (world.is_told)
        tell_bytes(what, a, bytes, len);
}

void world_condemn(enum verdict verdict, const char *format, ...)
{
    va_list args;
    char text[WORLD_TEXT];

    if (world.is_over)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    world.is_over = true;
    world.account->verdict = verdict;
    memcpy(world.account->text, text, sizeof(text));
    tell("VERDICT %s: %s", world_verdict_name(verdict), text);
}

const char *world_verdict_name(enum verdict verdict)
{
    static const char *const names[VERDICT_COUNT] = {
        "fine", "overlap", "fence", "asleep", "shut", "lost-in-calm", "hang", "endless",
        "crash", "not-known", "overdrawn", "miscount", "early", "twice", "unheld"};

    return names[verdict];
}
