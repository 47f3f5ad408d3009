/* SPDX-License-Identifier: MIT */
/* wrk.c -- starts and ends the wrk processes of a run. */
#include "loadtest/sale/wrk.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "loadtest/lab/environment.h"

enum { EXTRA_MAX = 16, POLL_MS = 5, END_MS = 30000, SPARE_S = 120, URL_MAX = 288 };

/* "NAME=value" for the script; the caller frees. */
static const char *variable(const char *name, const char *value)
{
    char *text = NULL;

    if (asprintf(&text, "%s=%s", name, value) < 0)
        abort();
    return text;
}

/* Its share of the connections. */
static int connections_of(const struct wrk_plan *plan, int client, int client_count)
{
    int share = plan->connections / client_count +
                (client < plan->connections % client_count);

    return share > plan->threads ? share : plan->threads;
}

static bool spawn(struct wrk *w, const struct wrk_plan *plan, const char *script,
                  const char *const *extra)
{
    int client = w->client_count;
    char threads[16], connections[16], duration[32], url[URL_MAX], log_path[FILES_PATH_MAX];
    const char *argv[] = {"wrk", threads, connections, duration, "--latency", "--timeout",
                          "30s", "-s",    script,      url,      NULL};
    struct child_options options = child_options_default(argv);
    char **env = environment_make(plan->lab, extra);
    bool ok;

    snprintf(threads, sizeof threads, "-t%d", plan->threads);
    snprintf(connections, sizeof connections, "-c%d",
             connections_of(plan, client, plan->clients > 1 ? plan->clients : 1));
    /* wrk_stop() ends wrk.  The duration of wrk itself only counts if this program has died. */
    snprintf(duration, sizeof duration, "-d%ds",
             (int)(plan->duration_ms / 1000) + SPARE_S);
    snprintf(url, sizeof url, "%.*s", (int)strcspn(plan->urls, ","), plan->urls);
    files_join(log_path, plan->dir, "wrk.txt");
    options.stdout_fd =
        open(log_path,
             O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (client == 0 ? O_TRUNC : 0),
             0644);
    options.stderr_fd = options.stdout_fd;
    options.env = env;
    options.death_signal = SIGKILL;
    ok = child_start(&w->clients[client], &options);
    w->client_count += ok;
    if (!ok)
        why_say(plan->why, "cannot start wrk: %s; install it: apt-get install wrk",
                strerror(errno));
    if (options.stdout_fd >= 0)
        close(options.stdout_fd);
    environment_free(env);
    return ok;
}

static void end_all(struct wrk *w)
{
    for (int i = 0; i < w->client_count; i++)
        child_end(&w->clients[i], SIGKILL, 1000);
    w->client_count = 0;
    start_signal_remove(&w->start_signal);
}

/* The file decides which of several processes prints the summary. */
static bool write_token(const struct wrk_plan *plan)
{
    char path[FILES_PATH_MAX];

    files_join(path, plan->dir, "part-token");
    if (plan->clients <= 1 || files_write(path, ""))
        return true;
    why_say(plan->why, "cannot write %s: %s", path, strerror(errno));
    return false;
}

/* Start the processes one after another; the start signal lets them send at the same moment. */
static bool spawn_all(struct wrk *w, const struct wrk_plan *plan, const char *script,
                      const char **extra, size_t n)
{
    int count = plan->clients > 1 ? plan->clients : 1;
    bool ok = true;

    if (count == 1)
        return spawn(w, plan, script, extra);
    for (int i = 0; ok && i < count && i < WRK_CLIENTS_MAX; i++) {
        char which[32], of[32];

        snprintf(which, sizeof which, "SECKILL_CLIENT=%d", i + 1);
        snprintf(of, sizeof of, "SECKILL_CLIENTS=%d", count);
        extra[n] = which;
        extra[n + 1] = of;
        ok = spawn(w, plan, script, extra);
    }
    extra[n] = extra[n + 1] = NULL;
    return ok;
}

enum exit_code wrk_start(struct wrk *w, const struct wrk_plan *plan)
{
    char relative[128], script[FILES_PATH_MAX];
    const char *extra[EXTRA_MAX] = {0};
    size_t n = 0;
    bool ok;

    *w = (struct wrk){.started_ns = monotonic_ns()};
    snprintf(relative, sizeof relative, "loadtest/wrk/%s", plan->script);
    if (!files_find_data(script, relative)) {
        why_say(plan->why, "cannot find %s beside or above this program", relative);
        return EXIT_UNAVAILABLE;
    }
    files_join(w->control_path, plan->dir, "control");
    if (!control_open(&w->control, w->control_path)) {
        why_say(plan->why, "cannot make %s: %s", w->control_path, strerror(errno));
        return EXIT_CANNOT_WRITE;
    }
    if (!write_token(plan))
        return EXIT_CANNOT_WRITE;
    control_aim(&w->control, plan->target);
    /* Of one URL wrk itself finds the address that answers. */
    extra[n++] = variable("SECKILL_URLS", strchr(plan->urls, ',') ? plan->urls : "");
    extra[n++] = variable("SECKILL_VOUCHER", plan->vouchers);
    extra[n++] = variable("SECKILL_CONTROL", w->control_path);
    if (plan->keep_ledger)
        extra[n++] = variable("SECKILL_LEDGER_DIR", plan->dir);
    for (size_t i = 0; plan->extra[i] && n < EXTRA_MAX - 5; i++)
        extra[n++] = strdup(plan->extra[i]);
    if (plan->lab &&
        start_signal_make(&w->start_signal, plan->lab,
                          plan->threads * (plan->clients > 1 ? plan->clients : 1))) {
        extra[n++] = variable("SECKILL_START_SIGNAL", w->start_signal.name);
        extra[n++] = variable("SECKILL_LOCK_LIBRARY", w->start_signal.lock_library);
    }
    ok = spawn_all(w, plan, script, extra, n);
    for (size_t i = 0; i < n; i++)
        free((void *)extra[i]);
    if (!ok)
        end_all(w);
    return ok ? EXIT_VALID : EXIT_UNAVAILABLE;
}

bool wrk_runs(const struct wrk *w)
{
    for (int i = 0; i < w->client_count; i++)
        if (!child_runs(&w->clients[i]))
            return false;
    return w->client_count > 0;
}

enum exit_code wrk_explain_end(struct wrk *w, const char *dir, char *why)
{
    char path[FILES_PATH_MAX], last[WHY_MAX];
    int status = -1;

    for (int i = 0; i < w->client_count; i++)
        if (!child_runs(&w->clients[i])) {
            child_wait(&w->clients[i], END_MS, &status);
            break;
        }
    if (status >= 0 && WIFSIGNALED(status)) {
        why_say(why, "wrk was ended by signal %d (%s)", WTERMSIG(status),
                strsignal(WTERMSIG(status)));
        return EXIT_UNAVAILABLE;
    }
    files_join(path, dir, "wrk.txt");
    files_last_line(path, last, sizeof last);
    why_say(why, "wrk ended by itself: %s", last);
    /* The words of loadtest/wrk/seckill.lua about a ledger that it cannot make. */
    return strstr(last, ": cannot write ") ? EXIT_CANNOT_WRITE : EXIT_UNAVAILABLE;
}

static bool is_drained(const struct wrk *w)
{
    int64_t answered = control_sum(&w->control, CONTROL_ANSWERED);

    return control_sum(&w->control, CONTROL_SENT) == answered;
}

/* Have all gone? */
static bool interrupt_all(struct wrk *w)
{
    bool ended = true;

    for (int i = 0; i < w->client_count; i++) {
        child_signal(&w->clients[i], SIGINT);
        ended = child_wait(&w->clients[i], POLL_MS, NULL) && ended;
    }
    return ended;
}

bool wrk_stop(struct wrk *w, int64_t drain_ms)
{
    int64_t drain_ns = monotonic_ns() + drain_ms * 1000000;
    int64_t end_ns;
    bool ended = false;

    control_stop(&w->control);
    while (wrk_runs(w) && !is_drained(w) && monotonic_ns() < drain_ns)
        usleep(POLL_MS * 1000);
    /* A thread that waits for the start signal hears no SIGINT.  A thread that has seen the end
     * before its first request does not count the latch down. */
    start_signal_remove(&w->start_signal);
    /* wrk misses a SIGINT that comes before its handler is set, so the signal is sent
     * until wrk has ended. */
    end_ns = monotonic_ns() + END_MS * 1000000LL;
    while (!ended && monotonic_ns() < end_ns)
        ended = interrupt_all(w);
    end_all(w);
    control_close(&w->control);
    unlink(w->control_path);
    return ended;
}
