/* SPDX-License-Identifier: MIT */
/* service.c -- runs seckilld processes and gives them faults. */
#include "loadtest/sale/service.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/http/secret.h"
#include "base/text/duration.h"
#include "loadtest/kit/http_client.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/lab/environment.h"

/* A service ends by itself if its stores do not answer within its --start-timeout of 30 s.  The
 * rest of the time is for its start after the stores have answered. */
enum { READY_MS = 45000, STOP_MS = 15000, LINE_MAX_BYTES = 512 };

static bool start_one(struct service *s, const struct service_plan *plan, int index,
                      char **env)
{
    struct service_words words = {0};
    struct child_options options = child_options_default(words.argv);
    int out[2] = {-1, -1}, log;
    bool ok;

    *s = (struct service){.ready_fd = -1};
    service_words_make(&words, plan, index);
    snprintf(s->name, sizeof s->name, "p%d", (index + 1) % 100);
    files_path(s->log, "%s/seckilld-%d.log", plan->dir, index + 1);
    log = files_open_log(s->log);
    if (pipe2(out, O_CLOEXEC) != 0)
        return false;
    options.stdout_fd = out[1];
    options.stderr_fd = log;
    options.env = env;
    options.death_signal = SIGKILL;
    ok = child_start(&s->child, &options);
    if (!ok)
        why_say(plan->why, "cannot start %s: %s", words.program, strerror(errno));
    s->pid = s->child.pid;
    close(out[1]);
    if (log >= 0)
        close(log);
    s->ready_fd = out[0];
    return ok;
}

static bool word_after(const char *line, const char *key, char *out, size_t size)
{
    const char *p = strstr(line, key);
    size_t n = p ? strcspn(p + strlen(key), " \n") : 0;

    if (n == 0 || n >= size)
        return false;
    snprintf(out, size, "%.*s", (int)n, p + strlen(key));
    return true;
}

/* Read the line "ready orders=URL admin=URL ...". */
static bool wait_ready(struct service *s)
{
    int64_t deadline_ns = monotonic_ns() + READY_MS * 1000000LL;
    char line[LINE_MAX_BYTES] = "";
    size_t used = 0;

    while (!strchr(line, '\n') && monotonic_ns() < deadline_ns && !interrupted()) {
        struct pollfd waiting = {.fd = s->ready_fd, .events = POLLIN};
        ssize_t n;

        if (poll(&waiting, 1, 50) <= 0)
            continue;
        n = read(s->ready_fd, line + used, sizeof line - 1 - used);
        if (n <= 0)
            break;
        used += (size_t)n;
        line[used] = '\0';
    }
    return strncmp(line, "ready ", 6) == 0 &&
           word_after(line, " orders=", s->orders_url, sizeof s->orders_url) &&
           word_after(line, " admin=", s->admin_url, sizeof s->admin_url);
}

static enum exit_code explain(struct service *s, const struct service_plan *plan)
{
    char last[WHY_MAX];
    int status = -1;
    bool ended = child_wait(&s->child, 100, &status);

    if (interrupted())
        return EXIT_INTERRUPTED;
    files_last_line(s->log, last, sizeof last);
    if (!ended)
        why_say(plan->why, "seckilld (%s) takes no orders after %d s: %s", s->name,
                READY_MS / 1000, last);
    else if (status >= 0 && WIFSIGNALED(status))
        why_say(plan->why, "seckilld (%s) was ended by signal %d before it took orders: %s",
                s->name, WTERMSIG(status), last);
    else
        why_say(plan->why, "seckilld (%s) ended with status %d before it took orders: %s",
                s->name, WEXITSTATUS(status), last);
    if (!plan->why) {
        eprintf("  the end of its log, %s:\n", s->log);
        files_print_tail(s->log);
    }
    if (!ended || status < 0 || !WIFEXITED(status))
        return EXIT_UNAVAILABLE;
    return WEXITSTATUS(status) == EXIT_USAGE          ? EXIT_USAGE
           : WEXITSTATUS(status) == EXIT_CANNOT_WRITE ? EXIT_CANNOT_WRITE
                                                      : EXIT_UNAVAILABLE;
}

/* The file is there as soon as a service of this lab was ready once. */
static enum exit_code read_admin_token(struct service *s, const struct service_plan *plan)
{
    char path[FILES_PATH_MAX], why[SECRET_WHY_MAX];

    files_join(path, plan->lab->dir, "admin.token");
    if (admin_token_read(path, geteuid(), s->admin_token, why))
        return EXIT_VALID;
    why_say(plan->why, "cannot use the admin token file %s: %s", path, why);
    return EXIT_UNAVAILABLE;
}

enum exit_code service_start(struct service *services, const struct service_plan *plan)
{
    enum exit_code rc = EXIT_VALID;
    int started = 0;

    for (; started < plan->count && rc == EXIT_VALID; started++) {
        const char *own[] = {plan->variables ? plan->variables[started] : NULL, NULL};
        char **env = environment_make(plan->lab, own);

        if (!start_one(&services[started], plan, plan->first + started, env))
            rc = EXIT_UNAVAILABLE;
        environment_free(env);
    }
    for (int i = 0; i < started && rc == EXIT_VALID; i++) {
        rc = wait_ready(&services[i]) ? read_admin_token(&services[i], plan)
                                      : explain(&services[i], plan);
    }
    if (rc != EXIT_VALID)
        service_stop(services, started);
    return rc;
}

bool service_stop(struct service *services, int count)
{
    bool ok = true;

    for (int i = 0; i < count; i++) {
        services[i].died = services[i].child.pid > 0 && !child_runs(&services[i].child);
        child_signal(&services[i].child, SIGTERM);
        child_signal(&services[i].child, SIGCONT);
    }
    for (int i = 0; i < count; i++) {
        struct service *s = &services[i];
        int status = 0;

        if (s->child.pid > 0 && !child_wait(&s->child, STOP_MS, &status)) {
            child_end(&s->child, SIGKILL, 1000);
            status = SIGKILL;
        }
        s->status = status;
        ok = ok && status == 0;
        if (s->ready_fd >= 0)
            close(s->ready_fd);
        s->ready_fd = -1;
    }
    return ok;
}

int service_port(const struct service *service)
{
    const char *port = strrchr(service->orders_url, ':');

    return port ? atoi(port + 1) : 0;
}

bool service_arm(const struct service *service, const char *point, const char *action,
                 const char *key)
{
    struct http_answer answer;
    char url[512];

    snprintf(url, sizeof url, "%s/faults/arm?point=%s&action=%s&key=%s",
             service->admin_url, point, action, key);
    if (http_client_ask("POST", url, service->admin_token, &answer) && answer.status == 200)
        return true;
    eprintf("seckill: cannot arm %s at %s of %s: %ld %s\n", action, point,
            service->name, answer.status, answer.text);
    return false;
}

bool service_release(const struct service *service, const char *point)
{
    struct http_answer answer;
    char url[512];

    snprintf(url, sizeof url, "%s/faults/release?point=%s", service->admin_url, point);
    return http_client_ask("POST", url, service->admin_token, &answer) && answer.status < 500;
}

bool service_is_holding(const struct service *service, const char *point, bool *held)
{
    struct http_answer answer;
    char url[512];
    int holding = 0;
    json_t *json;
    bool ok;

    *held = false;
    snprintf(url, sizeof url, "%s/faults", service->admin_url);
    if (!http_client_ask("GET", url, service->admin_token, &answer) || answer.status != 200)
        return false;
    json = json_loads(answer.text, 0, NULL);
    ok = json_unpack(json, "{s:{s:{s:b}}}", "points", point, "holding", &holding) == 0;
    *held = ok && holding;
    json_decref(json);
    return ok;
}

/* The number under that key; -1: there is none. */
static int64_t number_of(const json_t *json, const char *key)
{
    const json_t *value = json_object_get(json, key);

    return json_is_integer(value) ? json_integer_value(value) : -1;
}

static void copy_text(const json_t *json, const char *key, char *out, size_t size)
{
    const char *text = json_string_value(json_object_get(json, key));

    snprintf(out, size, "%s", text ? text : "");
}

bool service_look_lock_within(const struct service *service, const char *key,
                              int64_t timeout_ms, struct service_lock *out)
{
    struct http_answer answer;
    char url[512], fence[32];
    json_t *json;

    *out = (struct service_lock){.left_ms = -1};
    snprintf(url, sizeof url, "%s/admin/locks/%s", service->admin_url, key);
    if (!http_client_ask_within("GET", url, service->admin_token, timeout_ms, &answer) ||
        answer.status != 200)
        return false;
    json = json_loads(answer.text, 0, NULL);
    if (!json)
        return false;
    out->is_locked = json_is_true(json_object_get(json, "locked"));
    copy_text(json, "owner", out->owner, sizeof out->owner);
    copy_text(json, "system", out->system, sizeof out->system);
    copy_text(json, "fence", fence, sizeof fence);
    out->fence = strtoull(fence, NULL, 10);
    out->left_ms = number_of(json, "leftMs");
    out->hold_count = number_of(json, "holdCount");
    out->waiter_count = number_of(json, "waiterCount");
    json_decref(json);
    return true;
}
