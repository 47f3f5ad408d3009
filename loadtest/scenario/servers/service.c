/* SPDX-License-Identifier: MIT */
/* service.c -- seckilld in a scenario: processes of the service under the scenario's
 * lock, and participants that are HTTP clients.  They write to raw sockets, so that a
 * scenario can send exact bytes and reset a connection. */
#include "loadtest/scenario/servers/ending.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/http/token.h"
#include "base/os/clock.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/probe/redis_connection.h"
#include "loadtest/sale/service_settings.h"
#include "loadtest/scenario/stage.h"

enum { FLAG_MAX = 80, FLAGS_MAX = 24, WORKERS = 4, USERS_OF_A_VOUCHER = 100, POLL_MS = 5,
       HEAD_MAX = 4096, TOKEN_LIFETIME_S = 3600 };

/* ---- processes ---- */

/* The flags that every story wants come first, then those of this story. */
static void fill_flags(const struct stage *s, const char *const *flags,
                       char texts[2][FLAG_MAX], const char **out)
{
    static const char *const common[] = {"--lock-lease=20s", "--admin-workers=2",
                                         "--log-level=warn",
                                         /* The order path `each`, so that the threads of
                                          * one process race as its processes do. */
                                         "--order-path=each",
                                         "--redlock-node-timeout=500ms"};
    size_t n = 0;

    snprintf(texts[0], FLAG_MAX, "--lock=%s", s->setup->lock->name);
    snprintf(texts[1], FLAG_MAX, "--stream-name=story:%" PRId64, s->voucher);
    out[n++] = texts[0];
    out[n++] = texts[1];
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
        out[n++] = common[i];
    for (; *flags != NULL && n < FLAGS_MAX; flags++)
        out[n++] = *flags;
    out[n] = NULL;
}

static void start(struct stage *s, struct service *services, int count)
{
    const char *all[FLAGS_MAX + 1];
    char texts[2][FLAG_MAX], line[120];
    struct service_plan plan = {.lab = s->lab,
                                .dir = s->dir,
                                .flags = all,
                                .count = count,
                                .workers = WORKERS,
                                .database_connections = WORKERS,
                                .allow_faults = true,
                                .record_dir = s->records};

    fill_flags(s, s->service_flags, texts, all);
    if (s->service_count == 0 && !service_settings_write(&plan))
        stage_fail(s, "cannot write service.json in %s", s->dir);
    if (service_start(services, &plan) != EXIT_VALID) {
        s->result->rc = EXIT_UNAVAILABLE;
        stage_need_in_time(s, false, "seckilld was to start");
    }
    snprintf(line, sizeof line, "%d x seckilld %s", count, texts[0]);
    stage_say(s, LINE_ACT, -1, line, line);
}

void stage_start_service(struct stage *s, int count, const char *const *flags)
{
    if (count > STAGE_SERVICES_MAX || s->service_count > 0)
        stage_fail(s, "a story has one service, of %d processes at most",
                   STAGE_SERVICES_MAX);
    s->service_flags = flags;
    start(s, s->services, count);
    s->service_count = count;
}

bool stage_end_service(struct stage *s)
{
    int count = s->service_count;

    for (int i = 0; i < s->post_count; i++)
        if (s->posts[i].fd >= 0)
            close(s->posts[i].fd);
    s->post_count = s->service_count = 0;
    return count == 0 || service_stop(s->services, count);
}

static struct service *service_at(struct stage *s, int process)
{
    if (process < 0 || process >= s->service_count)
        stage_fail(s, "the service has no process number %d", process);
    return &s->services[process];
}

void stage_restart_service(struct stage *s, int process)
{
    struct service *service = service_at(s, process);

    child_end(&service->child, SIGKILL, SCENARIO_STEP_MS);
    (void)service_stop(service, 1);
    stage_say(s, LINE_FAULT, -1, "the process of seckilld is killed", "seckilld 进程被杀");
    start(s, service, 1);
}

void stage_drain_service(struct stage *s, int process)
{
    int64_t by_ns = dlock_clock_after(dlock_clock_ns(), SCENARIO_STEP_MS);
    struct lab_server *server = lab_find_server(s->lab, "redis");
    struct redis_side *side = redis_side_open(s->lab, server, REDIS_SIDE_MS);
    bool waits = true;

    while (waits && dlock_clock_ns() < by_ns) {
        waits = redis_side_ask(side, "XLEN story:%lld", (long long)s->voucher) != REDIS_SAID ||
                redis_side_number(side) > 0;
        if (waits && !interrupt_sleep_ms(POLL_MS))
            break;
    }
    redis_side_close(side);
    stage_need_in_time(s, !waits, "the queued orders were to be written");
    stage_need_in_time(s, service_stop(service_at(s, process), 1), "seckilld was to stop");
}

void actor_promise(struct actor *a)
{
    stage_note_told(a->stage, true, a->process->part.first_user + a->thread, "");
}

void stage_queue_orders(struct stage *s)
{
    stage_tell(s, "A writer makes the rows later.  It takes Ann's order, and is held "
                  "before its COMMIT.",
               "写入线程稍后落库。它取走了小安的订单，停在 COMMIT 之前。");
    stage_hold_service(s, 0, DLOCK_FAULT_BEFORE_COMMIT);
    for (int i = 0; i < 3; i++) {
        const char *outcome = stage_answer(s, actor_post(stage_actor(s, i), 0, NULL));

        stage_need(s, strcmp(outcome, "queued") == 0, "each is to be told that it is queued");
        if (i == 0)
            stage_await_service(s, 0, DLOCK_FAULT_BEFORE_COMMIT);
    }
}

void stage_hold_service(struct stage *s, int process, dlock_fault_point point)
{
    stage_need_in_time(
        s, service_arm(service_at(s, process), dlock_fault_point_name(point), "hold", ""),
        "the service was to answer for its points");
}

static void say_point(struct stage *s, int process, dlock_fault_point point,
                      const char *english, const char *chinese)
{
    char texts[2][SCENARIO_LINE_MAX];

    snprintf(texts[0], sizeof texts[0], "process %d %s %s: %s", process + 1, english,
             dlock_fault_point_name(point), dlock_fault_point_where(point));
    snprintf(texts[1], sizeof texts[1], "进程 %d %s %s", process + 1, chinese,
             dlock_fault_point_name(point));
    stage_say(s, LINE_FAULT, -1, texts[0], texts[1]);
}

void stage_await_service(struct stage *s, int process, dlock_fault_point point)
{
    int64_t by_ns = dlock_clock_after(dlock_clock_ns(), SCENARIO_STEP_MS);
    bool held = false;

    while (service_is_holding(service_at(s, process), dlock_fault_point_name(point),
                              &held) &&
           !held)
        if (dlock_clock_ns() >= by_ns || !interrupt_sleep_ms(POLL_MS))
            break;
    if (!held)
        stage_fail(s, "nobody was held at %s", dlock_fault_point_name(point));
    say_point(s, process, point, "is held at", "停在断点");
}

void stage_let_service_go(struct stage *s, int process, dlock_fault_point point)
{
    say_point(s, process, point, "goes on from", "从断点继续");
    if (!service_release(service_at(s, process), dlock_fault_point_name(point)))
        stage_fail(s, "process %d does not go on", process + 1);
}

/* ---- clients ---- */

static int connect_to(int port)
{
    struct timeval limit = {.tv_sec = SCENARIO_STEP_MS / 1000};
    int fd = lab_connect(port);

    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return fd;
}

/* As the buyer of a request; as a client of the shop an actor has another number. */
static int64_t user_of(const struct actor *a)
{
    return a->stage->voucher * USERS_OF_A_VOUCHER + a->index;
}

static void print_request(const struct actor *a, const char *key, char *out, size_t size)
{
    const struct stage *s = a->stage;
    char path[FILES_PATH_MAX], token[TOKEN_LEN + 1];
    char why[TOKEN_WHY_MAX];
    struct token_keys keys;
    struct token_claim claim = {user_of(a),
                                token_now_s() + TOKEN_LIFETIME_S, TOKEN_BUYER};
    int n;

    files_join(path, s->lab->dir, "token.key");
    if (!token_keys_load(path, geteuid(), &keys, why))
        stage_fail(a->stage, "cannot use the token key file %s: %s", path, why);
    token_make(&keys, &claim, token);
    n = snprintf(out, size,
                 "POST /api/v1/vouchers/%" PRId64 "/orders HTTP/1.1\r\n"
                 "Host: 127.0.0.1\r\nauthorization: %s\r\n",
                 s->voucher, token);
    if (key != NULL)
        n += snprintf(out + n, size - (size_t)n, "Idempotency-Key: %" PRId64 "-%s\r\n",
                      s->voucher, key);
    snprintf(out + n, size - (size_t)n, "\r\n");
}

static void say(struct actor *a, const char *english, const char *chinese,
                const char *what)
{
    char texts[2][SCENARIO_LINE_MAX];

    snprintf(texts[0], sizeof texts[0], "%s %s%s", a->name, english, what);
    snprintf(texts[1], sizeof texts[1], "%s %s%s", stage_person(a, true), chinese, what);
    stage_say(a->stage, LINE_ACT, a->index, texts[0], texts[1]);
}

int actor_post(struct actor *a, int process, const char *key)
{
    struct stage *s = a->stage;
    char request[1024], where[96];
    size_t length;
    int fd;

    if (s->post_count == STAGE_POSTS_MAX)
        stage_fail(s, "a story has %d requests at most", STAGE_POSTS_MAX);
    print_request(a, key, request, sizeof request);
    length = strlen(request);
    fd = connect_to(service_port(service_at(s, process)));
    if (fd < 0 || send(fd, request, length, MSG_NOSIGNAL) != (ssize_t)length)
        stage_fail(s, "process %d takes no request of %s", process + 1, a->name);
    snprintf(where, sizeof where, "%d%s%s", process + 1,
             key != NULL ? ", Idempotency-Key " : "", key != NULL ? key : "");
    say(a, "posts an order to process ", "下单，发给进程 ", where);
    s->posts[s->post_count] = (struct stage_post){.actor = a, .fd = fd};
    return s->post_count++;
}

static struct stage_post *post_at(struct stage *s, int number)
{
    if (number < 0 || number >= s->post_count || s->posts[number].fd < 0)
        stage_fail(s, "there is no request number %d under way", number);
    return &s->posts[number];
}

static void hang_up(struct stage_post *post)
{
    close(post->fd);
    post->fd = -1;
}

const char *stage_answer(struct stage *s, int number)
{
    static const char header[] = "\r\nX-Outcome: ";
    struct stage_post *post = post_at(s, number);
    char head[HEAD_MAX] = "";
    const char *found = NULL;
    size_t used = 0;

    while (strstr(head, "\r\n\r\n") == NULL && used < sizeof head - 1) {
        ssize_t n = recv(post->fd, head + used, sizeof head - 1 - used, 0);

        if (n <= 0)
            break;
        used += (size_t)n;
        head[used] = '\0';
    }
    found = strstr(head, header);
    if (found == NULL)
        stage_fail(s, "%s has no answer", post->actor->name);
    found += sizeof header - 1;
    snprintf(post->outcome, sizeof post->outcome, "%.*s", (int)strcspn(found, "\r"),
             found);
    if (strcmp(post->outcome, "queued") == 0)
        stage_note_told(s, true, user_of(post->actor), "");
    hang_up(post);
    say(post->actor, "is told: ", "得到答复：", post->outcome);
    return post->outcome;
}

void stage_hang_up(struct stage *s, int number)
{
    struct stage_post *post = post_at(s, number);
    struct linger at_once = {.l_onoff = 1};

    setsockopt(post->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    hang_up(post);
    say(post->actor, "is gone: the connection is reset", "走了：连接被重置", "");
}
