/* SPDX-License-Identifier: MIT */
/* main.c -- seckilld: opens settings, stores and listeners, waits for a signal, and
 * closes them in reverse order. */
#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "app/http.h"
#include "app/privileges.h"
#include "app/stream_writer.h"
#include "base/http/address.h"
#include "base/os/clock.h"
#include "base/os/condition.h"
#include "base/os/descriptor.h"
#include "base/os/thread.h"
#include "base/text/exit_codes.h"
#include "base/text/outputs.h"
#include "base/text/standard_output.h"
#include "lock/fault.h"

/* Shared by main() and the thread that waits for signals. */
struct stopping {
    sigset_t signals;
    atomic_bool serves; /* the start has ended, and the service serves */
    struct dlock_mutex mutex;
    struct dlock_condition changed;
    bool is_asked; /* set by the first signal after the start; under the mutex */
};

static void begin_to_stop(struct stopping *stopping, int number)
{
    if (!stopping->is_asked) /* only this thread writes it */
        log_info("signal %d: stopping", number);
    dlock_mutex_lock(&stopping->mutex);
    stopping->is_asked = true;
    dlock_condition_signal(&stopping->changed);
    dlock_mutex_unlock(&stopping->mutex);
}

/* The thread that waits for signals.  A signal during the start ends the process at
 * once, because no request is in flight, and an attempt to connect to a store may take
 * seconds.  The second SIGTERM or SIGINT ends the process at once too.  A SIGHUP can
 * only begin the stop, because supervisors and terminals send it right before or after
 * another signal. */
static void *hear_signals(void *arg)
{
    struct stopping *stopping = arg;
    int number = 0, asked_count = 0;

    for (;;) {
        (void)sigwait(&stopping->signals, &number);
        if (!atomic_load(&stopping->serves)) {
            log_info("signal %d: ended during the start", number);
            break;
        }
        if (number != SIGHUP && ++asked_count == 2)
            break;
        begin_to_stop(stopping, number);
    }
    limited_tell(true);
    _exit(128 + number);
}

/* Block the signals, and start the thread that waits for them.  Later threads inherit
 * the mask, so only this thread gets signals.  The thread and its struct live as long
 * as the process. */
static struct stopping *begin_to_hear(void)
{
    static struct stopping stopping = {.mutex = DLOCK_MUTEX_INITIALIZER};
    struct sigaction hangup;
    struct dlock_thread thread;

    if (!dlock_condition_init(&stopping.changed))
        return NULL;
    (void)signal(SIGPIPE, SIG_IGN);
    (void)sigemptyset(&stopping.signals);
    (void)sigaddset(&stopping.signals, SIGTERM);
    (void)sigaddset(&stopping.signals, SIGINT);
    /* Do not wait for SIGHUP if nohup has set it to be ignored: sigwait() receives a
     * blocked signal although it is ignored. */
    if (sigaction(SIGHUP, NULL, &hangup) != 0 || hangup.sa_handler != SIG_IGN)
        (void)sigaddset(&stopping.signals, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &stopping.signals, NULL);
    /* The thread is never joined: it ends with the process. */
    return dlock_thread_start(&thread, hear_signals, &stopping) == 0 ? &stopping : NULL;
}

/* Wait, and log once a second what was only counted so far.  A Redis that was emptied shows in
 * nothing but the locks that releases did not find there. */
static void wait_for_signal(struct stopping *stopping, const struct service *service)
{
    uint64_t told = 0;
    dlock_metrics locks;

    dlock_mutex_lock(&stopping->mutex);
    while (!stopping->is_asked) {
        (void)dlock_condition_wait_until(&stopping->changed, &stopping->mutex,
                                         dlock_clock_after(dlock_clock_ns(), 1000));
        limited_tell(false);
        dlock_metrics_read(service->locks, &locks);
        if (locks.lost > told)
            log_warn("%llu locks were lost while they were held",
                     (unsigned long long)(locks.lost - told));
        told = locks.lost;
    }
    dlock_mutex_unlock(&stopping->mutex);
}

/* Raise the limit of file descriptors, because the usual 1024 are too few for many
 * connections. */
static void raise_file_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* Limit the memory that malloc() keeps. malloc() makes eight arenas for each processor,
 * and each keeps freed memory up to a limit that large answers would raise. */
static void bound_kept_memory(void)
{
    (void)mallopt(M_ARENA_MAX, 16);
    (void)mallopt(M_MMAP_THRESHOLD, 65536);
    (void)mallopt(M_TRIM_THRESHOLD, 65536);
}

/* Warn if the listener for operators is not on loopback, because the admin token is
 * sent unencrypted. */
static void warn_of_exposed_admin(const struct config *c)
{
    if (strncmp(c->admin_listen, "127.", 4) != 0)
        log_warn("--admin-listen=%s lets other machines that have the admin token free "
                 "locks by force%s, and the token can be read on the network",
                 c->admin_listen, c->allow_faults ? " and arm faults" : "");
}

/* Warn if the listener for orders is not on loopback and no --front is given: all
 * connections of a proxy then count as those of one client. */
static void warn_of_exposed_orders(const struct config *c)
{
    if (strncmp(c->listen, "127.", 4) != 0 && c->front == NULL &&
        c->connections_per_address > 0)
        log_warn("--listen=%s takes requests from other machines, unencrypted, and each "
                 "address may have %lld connections: put a proxy in front and name its "
                 "address with --front",
                 c->listen, (long long)c->connections_per_address);
}

static void warn_of_long_waits(const struct config *c)
{
    if (c->lock_wait_ms > 0 && c->lock_wait_ms >= c->drain_timeout_ms)
        log_warn("--lock-wait=%lldms is not below --drain-timeout=%lldms: a stop may find "
                 "requests that still wait for a lock, cut them off and exit with %d",
                 (long long)c->lock_wait_ms, (long long)c->drain_timeout_ms, EXIT_BUG);
}

static void say_ready(const struct config *c, const struct http *http)
{
    char host[64];
    char admin_host[64];
    int port = 0;

    (void)address_parse(c->listen, host, &port);
    (void)address_parse(c->admin_listen, admin_host, &port);
    printf("ready orders=http://%s:%d admin=http://%s:%d workers=%lld lock=%s pid=%d "
           "admin-token-file=%s\n",
           host, http_port(http, LISTENER_ORDERS), admin_host,
           http_port(http, LISTENER_ADMIN), (long long)c->workers, c->lock,
           (int)getpid(), c->admin_token_path);
    (void)fflush(stdout);
}

/* Release the fault points, because a thread that is held at one would never end. */
static void release_faults(void)
{
    for (int i = 0; i < DLOCK_FAULT_POINT_COUNT; i++)
        (void)dlock_fault_release((dlock_fault_point)i);
}

/* Serve on for --stop-delay, while fronts see on /readyz that they have to send
 * requests elsewhere. */
static void leave_fronts(struct service *service)
{
    atomic_store(&service->is_leaving, true);
    dlock_clock_sleep_until(
        dlock_clock_after(dlock_clock_ns(), service->config->stop_delay_ms));
}

static enum exit_code load_secrets(struct service *s, const struct config *c, uid_t owner)
{
    char why[TOKEN_WHY_MAX];

    if (!token_keys_load(c->token_key_file, owner, &s->keys, why)) {
        log_error("cannot use --token-key-file=%s: %s", c->token_key_file, why);
        return EXIT_USAGE;
    }
    return admin_access_open(&s->admin_access,
                             &(struct admin_access_settings){
                                 .listen = c->admin_listen,
                                 .hosts = c->admin_host,
                                 .token_path = c->admin_token_path,
                             },
                             owner);
}

/* Read the secrets as the user that started the process, and make the record's
 * directory as --user. */
static enum exit_code prepare_files(struct service *s, const struct config *c,
                                    const struct settings *settings,
                                    const struct privileges *privileges)
{
    enum exit_code rc = load_secrets(s, c, privileges->uid);
    char why[OUTPUTS_WHY_MAX];

    if (rc != EXIT_VALID)
        return rc;
    if (!privileges_lower(privileges))
        return EXIT_USAGE;
    if (outputs_are_possible(settings, c, why))
        return EXIT_VALID;
    log_error("%s", why);
    return EXIT_CANNOT_WRITE;
}

/* Start the listeners as root, because a port below 1024 may need that, and then drop
 * root for good.  NULL: the log says why. */
static struct http *listen_and_drop(struct service *service,
                                    const struct privileges *privileges)
{
    struct http *http = NULL;

    if (!privileges_raise(privileges))
        return NULL;
    http = http_start(service);
    if (http != NULL && !privileges_drop(privileges))
        _exit(EXIT_UNAVAILABLE); /* a request may be under way, and must not be answered
                                  * as root */
    return http;
}

static int serve(const struct config *c, const struct settings *settings)
{
    struct service service = {0};
    struct privileges privileges;
    struct http *http = NULL;
    int64_t until_ns;
    int rc = EXIT_VALID;
    struct stopping *stopping = begin_to_hear();

    if (stopping == NULL) {
        log_error("cannot start the thread that waits for signals");
        return EXIT_UNAVAILABLE;
    }
    raise_file_limit();
    bound_kept_memory();
    warn_of_exposed_admin(c);
    warn_of_exposed_orders(c);
    warn_of_long_waits(c);
    if (!privileges_find(&privileges, c->user))
        return EXIT_USAGE;
    rc = (int)prepare_files(&service, c, settings, &privileges);
    if (rc != EXIT_VALID)
        return rc;
    rc = (int)service_open(&service, c, settings);
    if (rc != EXIT_VALID)
        goto out;
    http = listen_and_drop(&service, &privileges);
    if (http == NULL) {
        rc = EXIT_UNAVAILABLE;
        goto out;
    }
    log_info("process=%s lock=%s scope=%s stock-guard=%s duplicate-guard=%s unlock=%s "
             "order-path=%s admission=%s workers=%lld orders-waiting=%lld "
             "orders-waiting-per-voucher=%lld%s",
             c->process_name, c->lock, c->lock_scope, c->stock_guard,
             c->duplicate_guard, c->unlock, c->order_path, c->admission, (long long)c->workers,
             (long long)c->orders_waiting, (long long)c->voucher_orders_waiting,
             c->allow_faults ? " FAULTS ALLOWED" : "");
    atomic_store(&stopping->serves, true);
    say_ready(c, http);
    wait_for_signal(stopping, &service);
    leave_fronts(&service);
    release_faults();
    until_ns = dlock_clock_after(dlock_clock_ns(), c->drain_timeout_ms);
    if (!http_drain(http, c->drain_timeout_ms)) {
        limited_tell(true);
        _exit(EXIT_BUG); /* threads still run, so their memory cannot be freed */
    }
    stream_writer_stop(service.stream_writer, until_ns);
    service.stream_writer = NULL;
    http_stop(http);
    log_info("stopped");

out:
    service_close(&service);
    limited_tell(true);
    return rc;
}

int main(int argc, char **argv)
{
    struct config config = {0};
    struct settings settings = {0};
    int rc = EXIT_VALID;

    dlock_descriptor_keep_standard();
    switch (config_load(&config, &settings, argc, argv)) {
    case SETTINGS_OK:
        log_set_level(config.level);
        log_set_format(config.format);
        rc = serve(&config, &settings);
        break;
    case SETTINGS_USAGE:
        rc = EXIT_USAGE;
        break;
    case SETTINGS_EXIT:
        if (!standard_output_end("seckilld"))
            rc = EXIT_CANNOT_WRITE;
        break;
    }
    settings_free(&settings);
    return rc;
}
