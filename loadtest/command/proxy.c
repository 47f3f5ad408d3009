/* SPDX-License-Identifier: MIT */
/* proxy.c -- `seckill proxy`: the fault proxy by hand. */
#include <inttypes.h>
#include <stdio.h>

#include "loadtest/command/commands.h"
#include "loadtest/kit/command.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/name_list.h"
#include "loadtest/proxy/proxy.h"
#include "loadtest/proxy/target.h"
#include "base/os/clock.h"
#include "loadtest/kit/why.h"

struct proxy_settings {
    const char *target, *protocol, *faults;
    int64_t port;
};

#define AT(field) offsetof(struct proxy_settings, field)
static const struct setting settings[] = {
    OPTION(TEXT, "target", AT(target), .meta = "TARGET",
           .help = "the server to which the proxy connects: HOST:PORT, [IPV6]:PORT or "
                   "unix:PATH"),
    OPTION(CHOICE, "protocol", AT(protocol), .fallback = "raw", .meta = "PROTOCOL",
           .choices = proxy_protocol_name,
           .help = "the protocol of the messages: redis, postgres, zookeeper or http; raw: "
                   "bytes without messages"),
    OPTION(COUNT, "listen", AT(port), .fallback = "0", .max = 65535, .meta = "PORT",
           .help = "the port on 127.0.0.1; 0: a free port, which the command prints"),
    OPTION(LINES, "fault", AT(faults), .meta = "FAULT",
           .help = "a fault and its trigger; repeat the flag for more faults; default: no "
                   "fault"),
};

const struct setting_program command_proxy_program = {
    .name = "seckill proxy",
    .synopsis = "--target=TARGET [--protocol=PROTOCOL] [--listen=PORT] "
                "[--fault=FAULT]...",
    .intro =
        "Pass the bytes between a client and a server, and let the connection fail at a\n"
        "chosen byte or message.  The proxy prints each fault when it happens.  Ctrl-C or\n"
        "SIGTERM ends the proxy, with a summary.\n"
        "\n"
        "Redis executes the SET, but the client never gets the answer:\n"
        "  seckill proxy --target=127.0.0.1:6379 --protocol=redis --listen=7000 \\\n"
        "      --fault='drop:1 to-client at to-server SET'\n"
        "A reply ends after three bytes:\n"
        "      --fault='cut to-client after message 2 byte 3 of connection 1'\n"
        "PostgreSQL executes the COMMIT, but the client never gets the answer:\n"
        "  seckill proxy --target=127.0.0.1:5432 --protocol=postgres --listen=7001 \\\n"
        "      --fault='cut to-client at to-server COMMIT'\n"
        "Every connection has a delay of 50 ms:\n"
        "      --fault='delay:50ms to-client'\n"
        "\n" PROXY_GRAMMAR,
    EXITS({EXIT_VALID, "every fault happened"}, {EXIT_INVALID, "a fault did not happen"},
          {EXIT_USAGE, "a flag is wrong, or the target or a fault is not understood"},
          {EXIT_UNAVAILABLE, "the port is taken, or the host of the target is not known"},
          {EXIT_CANNOT_WRITE, "standard output cannot be written"}),
    SETTINGS(settings),
};

static void tell(const struct proxy_strike *strike, void *arg)
{
    const int64_t *begin_ns = arg;

    printf("%10.3f ms  connection %" PRIu64 "  %s\n",
           (double)(strike->last_ns - *begin_ns) / 1e6, strike->connection,
           strike->text);
    fflush(stdout);
}

static enum exit_code sum_up(struct proxy *p)
{
    static const char *const ways[] = {"to-server", "to-client"};
    struct proxy_strike strike;
    struct proxy_stats s;

    proxy_read_stats(p, &s);
    printf("%" PRIu64 " connections, %" PRIu64 " of which did not reach the server\n",
           s.connections, s.refused);
    for (int d = 0; d < 2; d++)
        printf("%s: %" PRIu64 " bytes came, %" PRIu64 " passed, %" PRIu64
               " dropped; %" PRIu64 " messages\n",
               ways[d], s.received[d], s.sent[d], s.dropped[d], s.messages[d]);
    if (s.lost > 0)
        printf("%" PRIu64 " streams of bytes were not in this protocol, and passed unread\n",
               s.lost);
    for (int i = 0; proxy_look(p, i, &strike); i++)
        printf("%s %" PRIu64 " times: %s\n",
               strike.strikes > 0 ? "happened" : "NEVER HAPPENED,", strike.strikes, strike.text);
    return s.unstruck == 0 ? EXIT_VALID : EXIT_INVALID;
}

static enum proxy_protocol protocol_of(const char *name)
{
    return (enum proxy_protocol)words_place(proxy_protocol_name, name);
}

/* The target and each fault must be right before anything listens. */
static bool are_understood(const struct proxy_settings *v, char *why)
{
    const char *script = v->faults != NULL ? v->faults : "";
    char text[PROXY_TEXT_MAX + 1];
    struct proxy_fault fault;

    if (!proxy_target_check(v->target, why))
        return false;
    while (proxy_script_next(&script, text, why))
        if (!proxy_fault_parse(&fault, protocol_of(v->protocol), text, why))
            return false;
    return *why == '\0';
}

static enum exit_code serve(const struct proxy_settings *v)
{
    int64_t begin_ns = dlock_clock_ns();
    struct proxy_options options = {.target = v->target,
                                    .protocol = protocol_of(v->protocol),
                                    .port = (int)v->port,
                                    .on_strike = tell,
                                    .arg = &begin_ns};
    char why[PROXY_WHY_MAX];
    enum exit_code rc;
    struct proxy *p;

    if (!proxy_open(&p, &options, why)) {
        eprintf("seckill proxy: %s\n", why);
        return EXIT_UNAVAILABLE;
    }
    if (v->faults != NULL && proxy_arm_script(p, v->faults, why) < 0) {
        eprintf("seckill proxy: %s\n", why);
        rc = EXIT_USAGE;
    } else {
        printf("127.0.0.1:%d -> %s\n", proxy_port(p), v->target);
        fflush(stdout);
        while (interrupt_sleep_ms(3600 * 1000))
            ;
        rc = sum_up(p);
    }
    proxy_close(p);
    return rc;
}

static enum exit_code run(const struct settings *s, const void *values)
{
    const struct proxy_settings *v = values;
    char why[PROXY_WHY_MAX];

    (void)s;
    if (v->target == NULL) {
        eprintf("seckill proxy: name the server, such as --target=127.0.0.1:6379\n");
        return EXIT_USAGE;
    }
    if (!are_understood(v, why)) {
        eprintf("seckill proxy: %s\n", why);
        return EXIT_USAGE;
    }
    return serve(v);
}

COMMAND_FUNCTION(proxy, command_run)
