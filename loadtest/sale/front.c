/* SPDX-License-Identifier: MIT */
/* front.c -- HAProxy before the processes of a run. */
#include "loadtest/sale/front.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "loadtest/kit/http_client.h"
#include "loadtest/kit/interrupt.h"

enum { READY_MS = 15000, POLL_MS = 20, ASK_MS = 2000, END_MS = 2000 };

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

static enum exit_code wait_ready(struct service *front, char *why)
{
    int64_t until_ns = monotonic_ns() + READY_MS * INT64_C(1000000);
    struct http_answer answer = {0};
    char url[SERVICE_URL_MAX + 32], last[WHY_MAX];

    snprintf(url, sizeof url, "%s/api/v1/vouchers", front->orders_url);
    while (child_runs(&front->child) && monotonic_ns() < until_ns) {
        if (http_client_ask_within("GET", url, NULL, ASK_MS, &answer) && answer.status == 200)
            return EXIT_VALID;
        if (!interrupt_sleep_ms(POLL_MS))
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
        rc = wait_ready(front, why);
    if (rc != EXIT_VALID)
        front_stop(front);
    return rc;
}

void front_stop(struct service *front)
{
    front->died = front->child.pid > 0 && !child_runs(&front->child);
    front->status = -1;
    if (front->died)
        child_wait(&front->child, END_MS, &front->status);
    if (front->child.pid > 0)
        child_end(&front->child, SIGKILL, END_MS);
}
