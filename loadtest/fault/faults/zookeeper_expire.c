/* SPDX-License-Identifier: MIT */
/* zookeeper_expire.c -- the server ends the session that holds a lock, while its client
 * lives and does not know.
 *
 * A client that connects with the name and password of a session takes the session over,
 * and may close it.  The server shows the name with its ephemeral nodes.  The server does
 * not store the password: it computes the password from the name, with Java's generator
 * and a constant (ZooKeeperServer.generatePasswd), and this file does the same.  The
 * client reconnects at once and takes its session back, so the fault may need several
 * attempts.
 *
 * The fault does not work with a ZooKeeper that makes its passwords in another way: then
 * every attempt is refused, and the fault reports it. */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "loadtest/fault/server_fault.h"
#include "loadtest/kit/interrupt.h"
#include "lock/dlock.h"
#include "lock/stores/zookeeper_path.h"

enum {
    PASSWORD_BYTES = 16,
    SECRET = 0xB3415C00,
    DUMP_BYTES = 1 << 20,
    PATH_MAX_BYTES = 512,
    TRIES = 200,
    PAUSE_MS = 5,
    ANSWER_MS = 1000,
    CLOSE_SESSION = -11, /* the type of the request */
};

/* java.util.Random(seed).nextBytes() */
static void java_bytes(uint64_t seed, uint8_t *out, size_t count)
{
    const uint64_t mask = (UINT64_C(1) << 48) - 1, factor = UINT64_C(0x5DEECE66D);
    uint64_t state = (seed ^ factor) & mask;

    for (size_t i = 0; i < count; i++) {
        if (i % 4 == 0)
            state = (state * factor + 0xB) & mask;
        out[i] = (uint8_t)(state >> 16 >> 8 * (i % 4));
    }
}

struct __attribute__((packed)) connect_request {
    uint32_t length;
    uint32_t protocol;
    uint64_t last_zxid;
    uint32_t timeout_ms;
    uint64_t session;
    uint32_t password_length;
    uint8_t password[PASSWORD_BYTES];
};

struct __attribute__((packed)) connect_answer {
    uint32_t length;
    uint32_t protocol;
    uint32_t timeout_ms; /* 0: no such session, or the wrong password */
    uint64_t session;
};

struct __attribute__((packed)) close_request {
    uint32_t length;
    uint32_t number;
    uint32_t type;
};

/* Take the session over and close it.  False: refused, or the connection was cut. */
static bool close_as(int port, uint64_t session)
{
    struct connect_request hello = {
        .length = htobe32(sizeof hello - sizeof hello.length),
        .timeout_ms = htobe32(ANSWER_MS),
        .session = htobe64(session),
        .password_length = htobe32(PASSWORD_BYTES),
    };
    struct close_request bye = {.length = htobe32(sizeof bye - sizeof bye.length),
                                .number = htobe32(1),
                                .type = htobe32((uint32_t)CLOSE_SESSION)};
    struct timeval limit = {.tv_sec = ANSWER_MS / 1000};
    struct connect_answer answer;
    int fd = lab_connect(port);
    char rest[64];
    bool ok;

    if (fd < 0)
        return false;
    java_bytes(session ^ SECRET, hello.password, PASSWORD_BYTES);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ok = send(fd, &hello, sizeof hello, MSG_NOSIGNAL) == sizeof hello &&
         recv(fd, &answer, sizeof answer, MSG_WAITALL) == sizeof answer &&
         answer.timeout_ms != 0 &&
         send(fd, &bye, sizeof bye, MSG_NOSIGNAL) == sizeof bye;
    while (ok && recv(fd, rest, sizeof rest, 0) > 0)
        ; /* until the server closes the connection, as it does after it has closed the
           * session */
    close(fd);
    return ok;
}

/* The number that the server gave the node, which orders a queue; 0: it is in none. */
static uint32_t number_of(const char *path)
{
    const char *node = strrchr(path, '/');
    uint32_t number = 0;

    if (node != NULL)
        (void)zookeeper_place_number(node + 1, &number);
    return number;
}

/* Whether the path is a node of that lock: /dlock/KIND/NAME, or one below. */
static bool is_of_lock(const char *path, const char *key)
{
    char prefix[ZOOKEEPER_PATH_SIZE];
    const char *kind = strncmp(path, ZOOKEEPER_ROOT "/", sizeof ZOOKEEPER_ROOT) == 0
                           ? path + sizeof ZOOKEEPER_ROOT
                           : "";
    size_t length;

    zookeeper_path_of(prefix, "", key); /* ROOT//NAME */
    kind += strcspn(kind, "/");
    length = strlen(prefix + sizeof ZOOKEEPER_ROOT);
    return strncmp(kind, prefix + sizeof ZOOKEEPER_ROOT, length) == 0 &&
           (kind[length] == '\0' || kind[length] == '/');
}

/* The answer to "dump" has a line with a session, "0x1000:", and then its nodes, each
 * after a tab.  The session of the node with the least number holds the lock; 0: no
 * session does. */
static uint64_t find_holder(char *dump, const char *key, char path[PATH_MAX_BYTES])
{
    uint64_t session = 0, holder = 0;
    char *rest = NULL;

    for (char *line = strtok_r(dump, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        if (strncmp(line, "0x", 2) == 0)
            session = strtoull(line, NULL, 16);
        if (*line != '\t' || !is_of_lock(line + 1, key))
            continue;
        if (holder == 0 || number_of(line + 1) < number_of(path)) {
            holder = session;
            snprintf(path, PATH_MAX_BYTES, "%s", line + 1);
        }
    }
    return holder;
}

static bool dump_of(struct fault_scene *scene, char *dump)
{
    return lab_zookeeper_ask(scene->server->port, "dump", dump, DUMP_BYTES) ||
           server_fault_complain(scene, "it does not say which sessions it has");
}

/* Is that a line of "dump", after its tab? */
static bool has_line(const char *dump, const char *text)
{
    char line[PATH_MAX_BYTES + 3];

    snprintf(line, sizeof line, "\t%s\n", text);
    return strstr(dump, line) != NULL;
}

/* Every session stands there once. */
static bool is_known(const char *dump, uint64_t session)
{
    char number[32];

    snprintf(number, sizeof number, "0x%" PRIx64, session);
    return has_line(dump, number);
}

static bool begin(struct fault_scene *scene)
{
    static char dump[DUMP_BYTES];
    char path[PATH_MAX_BYTES] = "";
    uint64_t session;
    bool was_ours = false;

    if (!dump_of(scene, dump))
        return false;
    session = find_holder(dump, scene->key, path);
    if (session == 0)
        return server_fault_complain(scene,
                                     "no session holds %s\n  take the lock first",
                                     scene->key);
    for (int i = 0; i < TRIES; i++) {
        was_ours = close_as(scene->server->port, session) || was_ours;
        if (!dump_of(scene, dump))
            return false;
        if (!is_known(dump, session))
            break;
        if (!interrupt_sleep_ms(PAUSE_MS))
            return false;
    }
    if (!was_ours)
        return server_fault_complain(
            scene, "it did not let us into session 0x%" PRIx64
                   ": it makes passwords in another way than ZooKeeper 3.8",
            session);
    if (is_known(dump, session) || has_line(dump, path))
        return server_fault_complain(scene, "it still knows session 0x%" PRIx64, session);
    server_fault_note(scene,
                      "%s: session 0x%" PRIx64 ", which held %s, is known no more, and "
                      "the node is gone",
                      scene->server->name, session, path);
    return true;
}

const struct server_fault fault_zookeeper_expire = {
    .name = "zookeeper-expire",
    .does = "the session that holds the lock ends, and its client does not know of it",
    .servers = FAULT_ON(LAB_IS_ZOOKEEPER),
    .breaks = {[LAB_IS_ZOOKEEPER] = DLOCK_ASSUMES_SESSION},
    .needs_key = true,
    .begin = begin,
};
