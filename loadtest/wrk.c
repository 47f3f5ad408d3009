/* SPDX-License-Identifier: MIT */
/* wrk.c -- wrk as the laboratory runs it. */
#include "loadtest/wrk.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/duration.h"
#include "loadtest/environment.h"

enum { EXTRA_MAX = 16, POLL_MS = 5, END_MS = 5000, SPARE_S = 5 };

/* "NAME=value" for the script; the caller frees. */
static const char *variable(const char *name, const char *value)
{
    char *text = NULL;

    if (asprintf(&text, "%s=%s", name, value) < 0)
        abort();
    return text;
}

static bool spawn(struct wrk *w, const struct wrk_plan *plan, const char *script,
                  const char *const *extra)
{
    char threads[16], connections[16], duration[32], url[256], log_path[FILES_PATH_MAX];
    const char *argv[] = {"wrk", threads, connections, duration, "--timeout",
                          "30s", "-s",    script,      url,      NULL};
    struct child_options options = child_options_default(argv);
    char **env = environment_make(plan->lab, extra);
    bool ok;

    snprintf(threads, sizeof threads, "-t%d", plan->threads);
    snprintf(connections, sizeof connections, "-c%d", plan->connections);
    /* It is ended from here; its own end is only for the case that we are gone. */
    snprintf(duration, sizeof duration, "-d%ds",
             (int)(plan->duration_ms / 1000) + SPARE_S);
    snprintf(url, sizeof url, "%.*s", (int)strcspn(plan->urls, ","), plan->urls);
    files_join(log_path, plan->dir, "wrk.txt");
    options.stdout_fd = open(log_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    options.stderr_fd = options.stdout_fd;
    options.env = env;
    options.death_signal = SIGKILL;
    ok = child_start(&w->child, &options);
    if (!ok)
        fprintf(stderr,
                "seckill: cannot start wrk: %s\n  install it: apt-get install wrk\n",
                strerror(errno));
    if (options.stdout_fd >= 0)
        close(options.stdout_fd);
    environment_free(env);
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
        fprintf(stderr, "seckill: cannot find %s beside or above this program\n",
                relative);
        return EXIT_UNAVAILABLE;
    }
    files_join(w->control_path, plan->dir, "control");
    if (!control_open(&w->control, w->control_path)) {
        fprintf(stderr, "seckill: cannot make %s: %s\n", w->control_path,
                strerror(errno));
        return EXIT_UNAVAILABLE;
    }
    extra[n++] = variable("SECKILL_URLS", plan->urls);
    extra[n++] = variable("SECKILL_VOUCHER", plan->vouchers);
    extra[n++] = variable("SECKILL_CONTROL", w->control_path);
    if (plan->keep_ledger)
        extra[n++] = variable("SECKILL_LEDGER_DIR", plan->dir);
    for (size_t i = 0; plan->extra[i] && n < EXTRA_MAX - 1; i++)
        extra[n++] = strdup(plan->extra[i]);
    ok = spawn(w, plan, script, extra);
    for (size_t i = 0; i < n; i++)
        free((void *)extra[i]);
    return ok ? EXIT_VALID : EXIT_UNAVAILABLE;
}

bool wrk_runs(const struct wrk *w)
{
    return child_runs(&w->child);
}

static bool is_drained(const struct wrk *w)
{
    int64_t answered = control_sum(&w->control, CONTROL_ANSWERED);

    return control_sum(&w->control, CONTROL_SENT) == answered;
}

bool wrk_stop(struct wrk *w, int64_t drain_ms)
{
    int64_t drain_ns = monotonic_ns() + drain_ms * 1000000;
    int64_t end_ns;
    bool ended = false;

    control_stop(&w->control);
    while (wrk_runs(w) && !is_drained(w) && monotonic_ns() < drain_ns)
        usleep(POLL_MS * 1000);
    /* wrk misses a SIGINT that comes before it listens, so send it until it has gone.
     */
    end_ns = monotonic_ns() + END_MS * 1000000LL;
    while (!ended && monotonic_ns() < end_ns) {
        child_signal(&w->child, SIGINT);
        ended = child_wait(&w->child, POLL_MS, NULL);
    }
    child_end(&w->child, SIGKILL, 1000);
    control_close(&w->control);
    unlink(w->control_path);
    return ended;
}
