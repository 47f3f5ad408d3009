/* SPDX-License-Identifier: MIT */
/* service.c -- runs seckilld processes and gives them faults. */
#include "loadtest/sale/service.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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

    *out = (struct service_lock){.left_ms = -1, .asked_ns = monotonic_ns()};
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
    out->answered_ns = monotonic_ns();
    json_decref(json);
    return true;
}

/* ---- HAProxy before the processes of a run ---- */

enum { FRONT_READY_MS = 15000, FRONT_POLL_MS = 20, FRONT_ASK_MS = 2000, FRONT_END_MS = 2000 };

/* Listen on a free port.  HAProxy inherits the socket, so nobody else can take the port. */
static int listen_anywhere(char url[SERVICE_URL_MAX])
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    if (bind(fd, (struct sockaddr *)&address, size) != 0 || listen(fd, SOMAXCONN) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
        int saved = errno;

        close(fd);
        errno = saved;
        return -1;
    }
    snprintf(url, SERVICE_URL_MAX, "http://127.0.0.1:%d", ntohs(address.sin_port));
    return fd;
}

static void write_servers(FILE *out, const struct service *services, int count)
{
    for (int i = 0; i < count; i++)
        fprintf(out, "    server %s %s check port %s\n", services[i].name,
                services[i].orders_url + strlen("http://"),
                strrchr(services[i].admin_url, ':') + 1);
}

/* The shop's configuration, with this run's address and servers.  It ends before the section for
 * operators.  The caller frees it; NULL: the shop's has not the lines that are replaced. */
static char *fit(char *shop, const struct service *services, int count)
{
    char *text = NULL, *rest = NULL;
    size_t size = 0;
    int replaced = 0;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        abort();
    for (char *line = strtok_r(shop, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (strcmp(line, "frontend admin") == 0)
            break;
        if (strcmp(line, "    bind :8080") == 0) {
            fprintf(out, "    bind fd@0\n");
            replaced++;
        } else if (strncmp(line, "    server-template ", 20) == 0) {
            write_servers(out, services, count);
            replaced++;
        } else {
            fprintf(out, "%s\n", line);
        }
    }
    fclose(out);
    if (replaced == 2)
        return text;
    free(text);
    return NULL;
}

static enum exit_code write_config(const char *path, const struct service *services, int count,
                                   char *why)
{
    char shop[FILES_PATH_MAX];
    char *text = NULL, *fitted = NULL;
    size_t size;
    enum exit_code rc = EXIT_UNAVAILABLE;

    if (!files_find_data(shop, "docker/haproxy.cfg")) {
        why_say(why, "cannot find docker/haproxy.cfg beside or above this program");
        return rc;
    }
    text = files_read(shop, &size);
    fitted = text ? fit(text, services, count) : NULL;
    if (!text)
        why_say(why, "cannot read %s: %s", shop, strerror(errno));
    else if (!fitted)
        why_say(why, "%s has no lines `bind :8080` and `server-template`", shop);
    else
        rc = files_write(path, fitted) ? EXIT_VALID : EXIT_CANNOT_WRITE;
    if (rc == EXIT_CANNOT_WRITE)
        why_say(why, "cannot write %s: %s", path, strerror(errno));
    free(fitted);
    free(text);
    return rc;
}

/* Debian has it in /usr/sbin, which is in root's PATH alone. */
static bool run_haproxy(struct service *front, const char *config, int listener, char *why)
{
    char found[FILES_PATH_MAX];
    const char *program = files_find_program(found, "haproxy") ? found : "/usr/sbin/haproxy";
    const char *argv[] = {program, "-db", "-f", config, NULL};
    /* Longer than any client of the laboratory waits for an answer. */
    char timeout[] = "FRONT_TIMEOUT=65s", *env[] = {timeout, NULL};
    struct child_options options = child_options_default(argv);
    bool ok;

    options.env = env;
    options.stdin_fd = listener;
    options.stdout_fd = options.stderr_fd = files_open_log(front->log);
    options.death_signal = SIGKILL;
    ok = child_start(&front->child, &options);
    if (!ok)
        why_say(why, "cannot start haproxy: %s; install it: apt-get install haproxy",
                strerror(errno));
    if (options.stdout_fd >= 0)
        close(options.stdout_fd);
    return ok;
}

static enum exit_code front_wait_ready(struct service *front, char *why)
{
    int64_t until_ns = monotonic_ns() + FRONT_READY_MS * INT64_C(1000000);
    struct http_answer answer = {0};
    char url[SERVICE_URL_MAX + 32], last[WHY_MAX];

    snprintf(url, sizeof url, "%s/api/v1/vouchers", front->orders_url);
    while (child_runs(&front->child) && monotonic_ns() < until_ns) {
        if (http_client_ask_within("GET", url, NULL, FRONT_ASK_MS, &answer) && answer.status == 200)
            return EXIT_VALID;
        if (!interrupt_sleep_ms(FRONT_POLL_MS))
            return EXIT_INTERRUPTED;
    }
    files_last_line(front->log, last, sizeof last);
    why_say(why, "no request came through HAProxy (%s): %s", front->log,
            *last ? last : "it says nothing");
    return EXIT_UNAVAILABLE;
}

enum exit_code front_start(struct service *front, const struct service *services, int count,
                           const char *dir, char *why)
{
    char config[FILES_PATH_MAX];
    enum exit_code rc = EXIT_UNAVAILABLE;
    int listener;

    *front = (struct service){.name = "front", .ready_fd = -1};
    files_join(config, dir, "front.cfg");
    files_join(front->log, dir, "front.log");
    listener = listen_anywhere(front->orders_url);
    if (listener < 0)
        why_say(why, "cannot listen on 127.0.0.1 for HAProxy: %s", strerror(errno));
    else
        rc = write_config(config, services, count, why);
    if (rc == EXIT_VALID && !run_haproxy(front, config, listener, why))
        rc = EXIT_UNAVAILABLE;
    if (listener >= 0)
        close(listener);
    if (rc == EXIT_VALID)
        rc = front_wait_ready(front, why);
    if (rc != EXIT_VALID)
        front_stop(front);
    return rc;
}

void front_stop(struct service *front)
{
    front->died = front->child.pid > 0 && !child_runs(&front->child);
    front->status = -1;
    if (front->died)
        child_wait(&front->child, FRONT_END_MS, &front->status);
    if (front->child.pid > 0)
        child_end(&front->child, SIGKILL, FRONT_END_MS);
}
