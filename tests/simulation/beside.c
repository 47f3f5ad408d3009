/* SPDX-License-Identifier: MIT */
/* beside.c -- `make simulate-model`: random sequences of commands, played to the model and to a
 * real redis-server, whose replies have to be the same, byte by byte.
 *
 * Both read a wall clock that stands still while a command is executed, and steps between two
 * commands: SIMULATE_CLOCK is the file that both read (frozen/clock.c). */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "gen/lua_scripts.h"
#include "tests/simulation/model.h"
#include "tests/simulation/world.h"

enum { STEPS = 40, ARGS_MAX = 10, TEXT_SIZE = 64 };

#define FIRST_US INT64_C(1700000000000000)

static _Atomic int64_t *clock_us; /* us since 1970; the server maps the same memory */
static struct model model;

/* ---- the server ---- */

static int connect_to(const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    if (strlen(path) >= sizeof(to.sun_path))
        return -1;
    (void)snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0)
        return fd;
    return -1;
}

/* The length of the reply at `at`; 0: not all of it has arrived. */
static size_t reply_length(const char *at, const char *end)
{
    const char *line = memchr(at, '\n', (size_t)(end - at));
    long number;
    size_t len;

    if (line == NULL)
        return 0;
    number = strtol(at + 1, NULL, 10);
    len = (size_t)(line + 1 - at);
    if (at[0] == '$' && number >= 0)
        return (size_t)(end - at) >= len + (size_t)number + 2 ? len + (size_t)number + 2 : 0;
    for (long i = 0; at[0] == '*' && i < number; i++) {
        size_t part = at + len < end ? reply_length(at + len, end) : 0;

        if (part == 0)
            return 0;
        len += part;
    }
    return len;
}

static bool ask_server(int fd, const struct buffer *command, struct buffer *reply)
{
    char bytes[4096];

    reply->len = 0;
    if (send(fd, command->at, command->len, MSG_NOSIGNAL) != (ssize_t)command->len)
        return false;
    for (;;) {
        ssize_t got = recv(fd, bytes, sizeof(bytes), 0);

        if (got <= 0)
            return false;
        buffer_add(reply, bytes, (size_t)got);
        if (reply_length(reply->at, reply->at + reply->len) == reply->len)
            return true;
    }
}

/* ---- random commands ---- */

static const char *const forms[] = {
    "SET S V", "SET S V NX PX T", "SETNX S V", "GET K", "GETSET S V", "DEL K", "DEL K K",
    "EXISTS K K", "INCR N", "DECR N", "INCRBY N I", "DECRBY N I", "PEXPIRE K T", "PEXPIRE K D",
    "PTTL K", "HSET H F V", "HSET H F I F V", "HGET H F", "HGETALL H", "HEXISTS H F",
    "HDEL H F F", "HINCRBY H F I", "RPUSH L V V", "RPUSH L V", "LPOP L", "LINDEX L I",
    "LRANGE L I I", "LREM L I V", "ZADD Z R V", "ZADD Z XX R V", "ZADD Z 1 V", "ZREM Z V",
    "ZSCORE Z V", "ZCARD Z", "ZCOUNT Z R (R", "ZRANGE Z I I", "ZRANGE Z I I WITHSCORES",
    "ZRANGE Z 0 -1", "ZRANGEBYSCORE Z R R WITHSCORES", "ZRANGEBYSCORE Z (R +inf",
    "ZRANGEBYSCORE Z -inf R LIMIT I I", "WATCH K", "UNWATCH", "MULTI", "EXEC", "EXEC", "DISCARD",
    "SET K K X", "GET", "HGET K", "PUBLISH K V", "PUBSUB NUMSUB K K", "TIME",
};

static const struct {
    const char *text;
    const char *form; /* of the words behind the text */
} scripts[] = {
    {LUA_REENTRANT_ACQUIRE, "1 H T O J"}, {LUA_REENTRANT_RELEASE, "1 H O J T M K"},
    {LUA_REENTRANT_RENEW, "1 H T O"},     {LUA_TOKEN_RELEASE, "1 S V"},
    {LUA_TOKEN_RENEW, "1 S V T"},         {LUA_FAIR_ACQUIRE, "3 H L2 Z2 T O J T"},
    {LUA_FAIR_RELEASE, "3 H L2 Z2 O J T M K"}, {LUA_FENCED_ACQUIRE, "3 H N H2 T O J ? V"},
};

/* Draw a number of milliseconds that a few steps of the clock reach, or that none reaches. */
static int64_t draw_span(void)
{
    static const int64_t spans[] = {1, 2, 3, 5, 10, 1000, 5000000};

    return spans[chance_between(0, 6)];
}

/* Draw the text for one letter of a form; longer words stand for themselves. */
static void draw(const char *word, size_t len, char out[TEXT_SIZE])
{
    static const char *const keys[] = {"s", "n", "h", "l", "z"};
    static const char *const scores[] = {"0", "1", "1.5", "-3", "1e3", "1700000000000.25",
                                         "0.125", "-0"};
    bool is_out = word[0] == '(' && len == 2;
    char letter = is_out ? word[1] : word[0];

    (void)snprintf(out, TEXT_SIZE, "%.*s", (int)len, word);
    if (len != 1 && !is_out)
        return;
    switch (letter) {
    case 'S': case 'N': case 'H': case 'L': case 'Z':
        (void)snprintf(out, TEXT_SIZE, "%c", letter + 'a' - 'A');
        break;
    case 'K': (void)snprintf(out, TEXT_SIZE, "%s", keys[chance_between(0, 4)]); break;
    case 'V': (void)snprintf(out, TEXT_SIZE, "v%d", (int)chance_between(0, 3)); break;
    case 'F': (void)snprintf(out, TEXT_SIZE, "f%d", (int)chance_between(0, 3)); break;
    case 'O': (void)snprintf(out, TEXT_SIZE, "v:%d", (int)chance_between(0, 2)); break;
    case 'I': (void)snprintf(out, TEXT_SIZE, "%d", (int)chance_between(-3, 3)); break;
    case 'D': (void)snprintf(out, TEXT_SIZE, "%d", (int)chance_between(-1, 0)); break;
    case 'J': (void)snprintf(out, TEXT_SIZE, "%d", (int)chance_between(1, 3)); break;
    case 'M': (void)snprintf(out, TEXT_SIZE, "%s", chance_one_in(2) ? "0" : ""); break;
    case 'T': (void)snprintf(out, TEXT_SIZE, "%lld", (long long)draw_span()); break;
    case 'R':
        (void)snprintf(out, TEXT_SIZE, "%s%s", is_out ? "(" : "", scores[chance_between(0, 7)]);
        break;
    default:
        break;
    }
}

struct drawn {
    struct bytes argv[ARGS_MAX + 4];
    char texts[ARGS_MAX + 4][TEXT_SIZE];
    size_t argc;
};

static void add_words(struct drawn *drawn, const char *form)
{
    while (*form != '\0') {
        size_t len = strcspn(form, " ");
        char *text = drawn->texts[drawn->argc];

        draw(form, len, text);
        drawn->argv[drawn->argc++] = (struct bytes){text, strlen(text)};
        form += len + (form[len] == ' ');
    }
}

static void draw_command(struct drawn *drawn)
{
    drawn->argc = 0;
    if (chance_one_in(3)) {
        size_t at = (size_t)chance_between(0, sizeof(scripts) / sizeof(scripts[0]) - 1);

        drawn->argv[drawn->argc++] = BYTES("EVAL");
        drawn->argv[drawn->argc++] = (struct bytes){(char *)(uintptr_t)scripts[at].text,
                                                    strlen(scripts[at].text)};
        add_words(drawn, scripts[at].form);
    } else {
        add_words(drawn, forms[chance_between(0, sizeof(forms) / sizeof(forms[0]) - 1)]);
    }
}

/* ---- comparing ---- */

static int64_t frozen_us(const struct model *of)
{
    (void)of;
    return atomic_load(clock_us);
}

/* Let the clock step: seldom backwards, as wall clocks may. */
static void step_clock(void)
{
    int64_t by_us = chance_one_in(3) ? chance_between(0, 1500) : draw_span() * 1000;

    if (chance_one_in(2))
        return;
    atomic_fetch_add(clock_us, chance_one_in(24) ? -by_us % 20000 : by_us % 2000000);
}

static void draw_next(struct drawn *drawn)
{
    step_clock();
    draw_command(drawn);
}

/* Remove the name of the script and the line, which the server adds to an error. */
static void drop_scripts(struct buffer *reply)
{
    static const char added[] = " script: ";
    char *at;

    while ((at = memmem(reply->at, reply->len, added, strlen(added))) != NULL) {
        char *end = memchr(at, '\r', reply->len - (size_t)(at - reply->at));

        if (end == NULL)
            return;
        memmove(at, end, reply->len - (size_t)(end - reply->at));
        reply->len -= (size_t)(end - at);
    }
}

static bool are_alike(const struct buffer *a, const struct buffer *b)
{
    if (a->len == b->len && memcmp(a->at, b->at, a->len) == 0)
        return true;
    return a->len > 0 && b->len > 0 && a->at[0] == '-' && b->at[0] == '-' &&
           memmem(a->at, a->len, "user_script:", 12) != NULL &&
           memmem(b->at, b->len, "user_script:", 12) != NULL; /* the rest is the wording of Lua */
}

static void send_nothing(struct client *client, struct bytes reply)
{
    (void)client;
    (void)reply;
}

/* Returns the number of replies that differ. */
static int play_sequence(int fd, uint64_t seed, int64_t *commands)
{
    struct client client = {.send = send_nothing};
    struct account account;
    struct buffer ours = {0}, theirs = {0}, command = {0};
    const struct bytes flush[] = {BYTES("FLUSHALL")};
    int differ = 0;

    model = (struct model){.now_us = frozen_us};
    atomic_store(clock_us, FIRST_US);
    world_begin(seed, NULL, &account, false);
    client_begin(&client, &model);
    for (int i = -1; i < STEPS && differ == 0; i++) {
        struct drawn drawn = {.argc = 1, .argv = {flush[0]}};

        if (i >= 0)
            draw_next(&drawn);
        command.len = ours.len = 0;
        reply_array(&command, (int64_t)drawn.argc);
        for (size_t j = 0; j < drawn.argc; j++)
            reply_bulk(&command, drawn.argv[j]);
        if (!ask_server(fd, &command, &theirs)) {
            (void)fprintf(stderr, "simulate: the server does not answer: %s\n", strerror(errno));
            exit(69);
        }
        if (i < 0)
            continue;
        drop_scripts(&theirs);
        model_execute(&client, drawn.argv, drawn.argc, &ours);
        ++*commands;
        if (are_alike(&ours, &theirs))
            continue;
        differ++;
        (void)printf("# sequence %llu, step %d: %.*s ...\n# the model: %.*s# the server: %.*s",
                     (unsigned long long)seed, i, (int)drawn.argv[0].len, drawn.argv[0].at,
                     (int)ours.len, ours.at, (int)theirs.len, theirs.at);
    }
    for (int i = 0; i < 2; i++) {
        command.len = 0;
        reply_array(&command, 1);
        reply_text(&command, i == 0 ? "DISCARD" : "UNWATCH");
        (void)ask_server(fd, &command, &theirs);
    }
    client_end(&client);
    keys_clear(&model.keys);
    buffer_free(&ours), buffer_free(&theirs), buffer_free(&command);
    return differ;
}

static bool open_clock(void)
{
    const char *path = getenv("SIMULATE_CLOCK");
    int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *memory = fd >= 0 ? mmap(NULL, sizeof(*clock_us), PROT_READ | PROT_WRITE, MAP_SHARED,
                                  fd, 0)
                           : MAP_FAILED;

    if (fd >= 0)
        (void)close(fd);
    clock_us = memory != MAP_FAILED ? memory : NULL;
    return clock_us != NULL;
}

/* Stop the server's timer for expiry, so that a key is removed when it is asked for, as in the
 * model. */
static bool stop_timer(int fd)
{
    static const char *const words[] = {"DEBUG", "SET-ACTIVE-EXPIRE", "0"};
    struct buffer command = {0}, reply = {0};
    bool is_done;

    reply_array(&command, 3);
    for (int i = 0; i < 3; i++)
        reply_text(&command, words[i]);
    is_done = ask_server(fd, &command, &reply) && reply.len > 0 && reply.at[0] == '+';
    buffer_free(&command);
    buffer_free(&reply);
    return is_done;
}

static enum plant read_plant(void)
{
    static const char *const names[] = {"", "late-end", "ties", "lrem"};
    const char *name = getenv("SIMULATE_PLANT");

    for (int i = 1; name != NULL && i < 4; i++)
        if (strcmp(name, names[i]) == 0)
            return (enum plant)i;
    return PLANT_NONE;
}

bool beside_play(const char *path, uint64_t first, uint64_t count)
{
    int fd = connect_to(path);
    int64_t commands = 0;
    int differ = 0;
    uint64_t i = 0;

    if (fd < 0 || !open_clock() || !stop_timer(fd)) {
        (void)fprintf(stderr, "simulate: %s, or its clock: %s\n", path, strerror(errno));
        exit(69);
    }
    keys_planted = read_plant();
    for (; i < count && differ < (keys_planted != PLANT_NONE ? 1 : 10); i++)
        differ += play_sequence(fd, first + i, &commands);
    (void)close(fd);
    (void)printf("%lld commands, %d of %llu sequences differ\n", (long long)commands, differ,
                 (unsigned long long)i);
    return differ == 0;
}
