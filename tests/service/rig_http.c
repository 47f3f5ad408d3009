/* SPDX-License-Identifier: MIT */
/* rig_http.c -- an HTTP client that sends exactly the given bytes. */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "tests/service/rig.h"

int rig_connect(int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
        return fd;
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

bool rig_send(int fd, const void *bytes, size_t len)
{
    const char *p = bytes;

    while (len > 0) {
        ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

        if (n <= 0)
            return false;
        p += n;
        len -= (size_t)n;
    }
    return true;
}

static bool wait_readable(int fd, int64_t deadline_ns)
{
    struct pollfd p = {.fd = fd, .events = POLLIN, .revents = 0};
    int64_t left_ms = (deadline_ns - monotonic_ns()) / 1000000;

    return poll(&p, 1, left_ms > 0 ? (int)left_ms : 0) > 0;
}

/* The value of a header in the head, "" if the head has no such header. */
static void copy_header(const char *head, const char *name, char *out, size_t size)
{
    size_t len = strlen(name);

    out[0] = '\0';
    for (const char *line = strchr(head, '\n'); line != NULL;
         line = strchr(line, '\n')) {
        line++;
        if (strncasecmp(line, name, len) == 0 && line[len] == ':') {
            line += len + 1;
            line += strspn(line, " ");
            (void)snprintf(out, size, "%.*s", (int)strcspn(line, "\r"), line);
            return;
        }
    }
}

bool rig_read(int fd, struct rig_answer *out, int64_t ms)
{
    int64_t deadline_ns = monotonic_ns() + ms * 1000000;
    static _Thread_local char bytes[sizeof(out->head) + sizeof(out->body)];
    size_t n = 0;
    size_t length = 0;
    char *end = NULL;
    char text[24];

    memset(out, 0, offsetof(struct rig_answer, body) + 1);
    for (;;) {
        ssize_t got = 0;

        bytes[n] = '\0';
        if (end == NULL && (end = strstr(bytes, "\r\n\r\n")) != NULL) {
            end += 4;
            (void)snprintf(out->head, sizeof(out->head), "%.*s", (int)(end - bytes),
                           bytes);
            copy_header(out->head, "Content-Length", text, sizeof(text));
            length = (size_t)strtoul(text, NULL, 10);
        }
        if (end != NULL && n - (size_t)(end - bytes) >= length)
            break;
        if (n + 1 >= sizeof(bytes) || !wait_readable(fd, deadline_ns))
            return false;
        got = recv(fd, bytes + n, sizeof(bytes) - 1 - n, 0);
        if (got <= 0)
            return false;
        n += (size_t)got;
    }
    if (sscanf(out->head, "HTTP/1.1 %d", &out->status) != 1)
        return false;
    copy_header(out->head, "X-Outcome", out->outcome, sizeof(out->outcome));
    copy_header(out->head, "X-Request-Id", out->request_id, sizeof(out->request_id));
    (void)snprintf(out->body, sizeof(out->body), "%.*s", (int)length, end);
    return true;
}

bool rig_read_head(int fd, struct rig_answer *out, int64_t ms)
{
    int64_t deadline_ns = monotonic_ns() + ms * 1000000;
    size_t n = 0;

    memset(out, 0, offsetof(struct rig_answer, body) + 1);
    while (strstr(out->head, "\r\n\r\n") == NULL) {
        if (n + 1 >= sizeof(out->head) || !wait_readable(fd, deadline_ns) ||
            recv(fd, out->head + n, 1, 0) != 1)
            return false;
        n++;
    }
    copy_header(out->head, "X-Outcome", out->outcome, sizeof(out->outcome));
    return sscanf(out->head, "HTTP/1.1 %d", &out->status) == 1;
}

bool rig_is_closed(int fd, int64_t ms)
{
    int64_t deadline_ns = monotonic_ns() + ms * 1000000;
    char bytes[4096];

    while (wait_readable(fd, deadline_ns))
        if (recv(fd, bytes, sizeof(bytes), 0) <= 0)
            return true;
    return false;
}

bool rig_request(int port, const char *method, const char *path, const char *extra,
                 const char *body, struct rig_answer *out)
{
    char bytes[8192];
    char length[48] = "";
    char admin[128] = "";
    int fd = rig_connect(port);
    int n;
    bool done;

    out->status = 0;
    if (fd < 0)
        return false;
    if (body != NULL)
        (void)snprintf(length, sizeof(length), "Content-Length: %zu\r\n", strlen(body));
    if (extra == NULL || strcasestr(extra, "authorization:") == NULL)
        rig_admin_lines(port, admin, sizeof(admin));
    n = snprintf(bytes, sizeof(bytes),
                 "%s %s HTTP/1.1\r\nHost: localhost\r\n%s%s%s\r\n%s", method, path,
                 length, admin, extra != NULL ? extra : "",
                 body != NULL ? body : "");
    done = n > 0 && (size_t)n < sizeof(bytes) && rig_send(fd, bytes, (size_t)n) &&
           rig_read(fd, out, RIG_PATIENCE_MS);
    (void)close(fd);
    return done;
}

bool rig_admin(const struct rig_service *s, const char *method, const char *path,
               struct rig_answer *out)
{
    return rig_request(s->admin_port, method, path, NULL, NULL, out);
}

bool rig_order_named(int port, int64_t voucher_id, int64_t user_id,
                     const char *request_id, struct rig_answer *out)
{
    char path[80];
    char extra[256];
    char token[TOKEN_LEN + 1];
    int n;

    rig_token(user_id, token);
    (void)snprintf(path, sizeof(path), "/api/v1/vouchers/%lld/orders",
                   (long long)voucher_id);
    n = snprintf(extra, sizeof(extra), "authorization: %s\r\n", token);
    if (request_id != NULL)
        (void)snprintf(extra + n, sizeof(extra) - (size_t)n, "Idempotency-Key: %s\r\n",
                       request_id);
    return rig_request(port, "POST", path, extra, NULL, out);
}

bool rig_order(int port, int64_t voucher_id, int64_t user_id, struct rig_answer *out)
{
    return rig_order_named(port, voucher_id, user_id, NULL, out);
}

double rig_metric(const struct rig_service *s, const char *line_start)
{
    static struct rig_answer answer;
    const char *line = NULL;

    assert_true(rig_request(s->admin_port, "GET", "/metrics", NULL, NULL, &answer));
    assert_int_equal(answer.status, 200);
    for (line = answer.body; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, line_start, strlen(line_start)) == 0)
            return strtod(line + strcspn(line, " "), NULL);
    }
    return -1;
}
