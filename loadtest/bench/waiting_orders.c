/* SPDX-License-Identifier: MIT */
/* waiting_orders.c -- the memory that orders take in seckilld while they wait to be sold. */
#include "loadtest/bench/waiting_orders.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/http/token.h"
#include "base/text/duration.h"
#include "db/lab_db.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/sale/service.h"

enum { ANSWER_MS = 30000, TICK_MS = 5, METRICS_MAX = 65536 };

/* The row is held for as long as a slow machine needs to send all orders. */
static const char *const flags[] = {
    "--order-path=combined", "--lock=none", "--connections=1040", "--orders-waiting=1024",
    "--orders-waiting-per-voucher=1024",
    "--database-wait=60s", "--statement-timeout=60s", "--request-timeout=60s",
    "--worker-wait=60s", "--log-level=warn",
    "--stock-guard=" ORDER_LOAD_STOCK_GUARD,
    "--duplicate-guard=" ORDER_LOAD_DUPLICATE_GUARD, NULL};

struct waiting {
    struct order_load *load;
    struct service service;
    int clients[WAITING_ORDERS]; /* sockets; -1: not connected */
    char tokens[WAITING_ORDERS][TOKEN_LEN + 1];
};

static bool say(const char *what)
{
    if (!interrupted())
        eprintf("seckill bench: %s\n", what);
    return false;
}

static int connect_to(const char *url)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    const char *port = strrchr(url, ':');
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons((uint16_t)(port ? atoi(port + 1) : 0));
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Read until the text has `last`, or the other end closes.  False: neither, or no room. */
static bool read_answer(int fd, char *text, size_t size, const char *last)
{
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    size_t used = 0;

    text[0] = '\0';
    while (used + 1 < size && poll(&waiting, 1, ANSWER_MS) > 0) {
        ssize_t n = recv(fd, text + used, size - 1 - used, 0);

        if (n <= 0)
            return n == 0 && used > 0;
        used += (size_t)n;
        text[used] = '\0';
        if (strstr(text, last))
            return true;
    }
    return false;
}

/* The number of waiting orders, by the service's own count; -1: the service does not say. */
static int count_waiting(const struct service *service)
{
    static const char NAME[] = "\nseckill_orders_waiting ";
    char request[256], *text = calloc(1, METRICS_MAX), *at = NULL;
    int fd = connect_to(service->admin_url), count = -1;
    int n = snprintf(request, sizeof request,
                     "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                     "Authorization: Bearer %s\r\n\r\n",
                     service->admin_token);

    if (text && fd >= 0 && send(fd, request, (size_t)n, MSG_NOSIGNAL) == n &&
        read_answer(fd, text, METRICS_MAX, "\n# there is no such line\n"))
        at = strstr(text, NAME);
    if (at)
        count = atoi(at + strlen(NAME));
    if (fd >= 0)
        close(fd);
    free(text);
    return count;
}

/* The memory of the process that is no file's, in MiB; 0: it cannot be read. */
static double resident_mib(const struct service *service)
{
    char path[64], *text, *at;
    double kib = 0;

    snprintf(path, sizeof path, "/proc/%d/status", (int)service->child.pid);
    text = files_read(path, NULL);
    at = text ? strstr(text, "\nRssAnon:") : NULL;
    if (at)
        kib = strtod(at + strlen("\nRssAnon:"), NULL);
    free(text);
    return kib / 1024;
}

/* ---- the clients ---- */

static bool read_tokens(struct waiting *waiting)
{
    char path[FILES_PATH_MAX];
    FILE *file;
    int count = 0;

    files_join(path, waiting->load->lab->dir, "tokens.txt");
    file = fopen(path, "re");
    while (file && count < WAITING_ORDERS &&
           fscanf(file, "%*s %72s", waiting->tokens[count]) == 1)
        count++;
    if (file)
        fclose(file);
    return count == WAITING_ORDERS || say("cannot read the tokens file");
}

static bool connect_all(struct waiting *waiting)
{
    for (int i = 0; i < WAITING_ORDERS; i++) {
        waiting->clients[i] = connect_to(waiting->service.orders_url);
        if (waiting->clients[i] < 0)
            return say("cannot connect to seckilld");
    }
    return true;
}

static bool send_order(struct waiting *waiting, int i, int64_t voucher)
{
    char request[512];
    int n = snprintf(request, sizeof request,
                     "POST /api/v1/vouchers/%" PRId64 "/orders HTTP/1.1\r\n"
                     "Host: localhost\r\nContent-Length: 0\r\nauthorization: %s\r\n\r\n",
                     voucher, waiting->tokens[i]);

    return send(waiting->clients[i], request, (size_t)n, MSG_NOSIGNAL) == n;
}

static bool read_accepted(struct waiting *waiting, int i)
{
    char text[2048];

    if (read_answer(waiting->clients[i], text, sizeof text, "\r\n\r\n{") &&
        strstr(text, "X-Outcome: accepted") != NULL)
        return true;
    eprintf("seckill bench: an order was not accepted: %s\n", text);
    return false;
}

/* ---- the measurement ---- */

static bool hold_row(struct waiting *waiting, int64_t voucher)
{
    char sql[160];

    snprintf(sql, sizeof sql,
             "UPDATE tb_seckill_voucher SET stock = stock WHERE voucher_id = %" PRId64, voucher);
    return lab_db_run(waiting->load->db, "BEGIN") && lab_db_run(waiting->load->db, sql);
}

/* Wait until the service counts all orders as waiting, except the one that is in a transaction. */
static bool await_waiting(struct waiting *waiting)
{
    int64_t deadline_ns = monotonic_ns() + ANSWER_MS * INT64_C(1000000);

    while (count_waiting(&waiting->service) != WAITING_ORDERS - 1)
        if (monotonic_ns() > deadline_ns || !interrupt_sleep_ms(TICK_MS))
            return say("the orders do not wait");
    return true;
}

static bool measure(struct waiting *waiting, double *grown_mib)
{
    int64_t free_voucher = 0, held_voucher = 0;
    double idle_mib = 0;
    bool ok = order_load_voucher(waiting->load, ORDER_LOAD_STOCK, &free_voucher) &&
              order_load_voucher(waiting->load, ORDER_LOAD_STOCK, &held_voucher) &&
              connect_all(waiting);

    for (int i = 0; ok && i < WAITING_ORDERS; i++)
        ok = (send_order(waiting, i, free_voucher) || say("cannot send an order")) &&
             read_accepted(waiting, i);
    idle_mib = resident_mib(&waiting->service);
    ok = ok && (hold_row(waiting, held_voucher) || say("cannot hold a row"));
    for (int i = 0; ok && i < WAITING_ORDERS; i++)
        ok = send_order(waiting, i, held_voucher) || say("cannot send an order");
    ok = ok && await_waiting(waiting);
    *grown_mib = resident_mib(&waiting->service) - idle_mib;
    (void)lab_db_run(waiting->load->db, "COMMIT");
    for (int i = 0; ok && i < WAITING_ORDERS; i++)
        ok = read_accepted(waiting, i);
    return ok && idle_mib > 0;
}

enum exit_code waiting_orders_measure(struct order_load *load, double *grown_mib)
{
    struct waiting *waiting = calloc(1, sizeof *waiting);
    struct service_plan plan = {.lab = load->lab, .dir = load->dir, .flags = flags, .count = 1};
    enum exit_code rc = EXIT_UNAVAILABLE;

    if (!waiting)
        abort();
    waiting->load = load;
    memset(waiting->clients, -1, sizeof waiting->clients);
    if (read_tokens(waiting))
        rc = service_start(&waiting->service, &plan);
    if (rc == EXIT_VALID && !measure(waiting, grown_mib))
        rc = interrupted() ? EXIT_INTERRUPTED : EXIT_UNAVAILABLE;
    for (int i = 0; i < WAITING_ORDERS; i++)
        if (waiting->clients[i] >= 0)
            close(waiting->clients[i]);
    if (waiting->service.child.pid != 0)
        service_stop(&waiting->service, 1);
    free(waiting);
    return rc;
}
