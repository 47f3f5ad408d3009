/* SPDX-License-Identifier: MIT */
/* nodes.c -- reads and changes the ZooKeeper of a variant directly, without the
 * library. */
#include "tests/conformance/nodes.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define THREADED /* without it, zookeeper.h does not declare the synchronous calls */
#include <zookeeper/zookeeper.h>

#include "lock/stores/zookeeper_path.h"
#include "lock/stores/zookeeper_session.h"
#include "lock/system.h"
#include "tests/conformance/rig.h"

enum { SIDE_SESSION_MS = 20000, TEXT_SIZE = 65536, CHILDREN_MAX = 64 };

static zhandle_t *side;
static char own_root[48];

static void log_nothing(const char *message)
{
    (void)message;
}

static void ignore(zhandle_t *zh, int type, int state, const char *path, void *arg)
{
    (void)zh;
    (void)type;
    (void)state;
    (void)path;
    (void)arg;
}

static zhandle_t *connect_as(const clientid_t *identity)
{
    zhandle_t *zh = zookeeper_init2(getenv("SECKILL_ZOOKEEPER_URL"), ignore,
                                    SIDE_SESSION_MS, identity, NULL, 0, log_nothing);

    assert_non_null(zh);
    assert_comes(zoo_state(zh) == ZOO_CONNECTED_STATE ||
                 zoo_state(zh) == ZOO_EXPIRED_SESSION_STATE);
    return zh;
}

static zhandle_t *connected(void)
{
    if (side == NULL)
        side = connect_as(NULL);
    return side;
}

const char *nodes_path(const char *variant, const char *name)
{
    static char path[ZOOKEEPER_PATH_SIZE];

    zookeeper_path_of(path, rig_is(variant, "zk-seq") ? "seq" : "basic", name);
    return path;
}

bool nodes_exists(const char *path)
{
    int rc = zoo_exists(connected(), path, 0, NULL);

    assert_true(rc == ZOK || rc == ZNONODE);
    return rc == ZOK;
}

const char *nodes_data(const char *path)
{
    static char data[256];
    int len = sizeof(data) - 1;
    int rc = zoo_get(connected(), path, 0, data, &len, NULL);

    assert_true(rc == ZOK || rc == ZNONODE);
    data[rc == ZOK && len > 0 ? len : 0] = '\0';
    return data;
}

static int by_number(const void *a, const void *b)
{
    const char *left = *(char *const *)a;
    const char *right = *(char *const *)b;
    uint32_t first, second;

    if (!zookeeper_place_number(left, &first) || !zookeeper_place_number(right, &second))
        return strcmp(left, right);
    return first < second ? -1 : first > second;
}

/* Returns false if there is no such node. */
static bool list(const char *path, struct String_vector *found)
{
    int rc = zoo_get_children(connected(), path, 0, found);

    assert_true(rc == ZOK || rc == ZNONODE);
    if (rc == ZOK && found->count > 1)
        qsort(found->data, (size_t)found->count, sizeof(char *), by_number);
    return rc == ZOK;
}

const char *nodes_children(const char *path)
{
    static char names[4096];
    struct String_vector found = {0};
    size_t used = 0;

    names[0] = '\0';
    if (!list(path, &found))
        return names;
    for (int i = 0; i < found.count && used < sizeof(names); i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
                                 i > 0 ? " " : "", found.data[i]);
    deallocate_String_vector(&found);
    return names;
}

int nodes_count_of(const char *variant, const char *name)
{
    const char *path = nodes_path(variant, name);

    return rig_is(variant, "zk-seq") ? nodes_count_below(path) : nodes_exists(path);
}

int nodes_count_below(const char *path)
{
    struct String_vector found = {0};
    char child[ZOOKEEPER_PATH_SIZE];
    int count = 0;

    if (!list(path, &found))
        return 0;
    for (int i = 0; i < found.count; i++) {
        snprintf(child, sizeof(child), "%s/%s", strcmp(path, "/") == 0 ? "" : path,
                 found.data[i]);
        count += 1 + nodes_count_below(child);
    }
    deallocate_String_vector(&found);
    return count;
}

void nodes_delete(const char *path)
{
    assert_int_equal(ZOK, zoo_delete(connected(), path, -1));
}

void nodes_make(const char *path, const char *data, int len)
{
    assert_int_equal(ZOK, zoo_create(connected(), path, data, len, &ZOO_OPEN_ACL_UNSAFE,
                                     0, NULL, 0));
}

void nodes_write(const char *path, const char *data, int len)
{
    assert_int_equal(ZOK, zoo_set(connected(), path, data, len, -1));
}

void nodes_forbid(const char *path, int permissions)
{
    struct ACL acl = {ZOO_PERM_ALL & ~permissions, {"world", "anyone"}};
    struct ACL_vector all = {1, &acl};

    assert_int_equal(ZOK, zoo_set_acl(connected(), path, -1, &all));
}

void nodes_remove(const char *variant, const char *name)
{
    char path[ZOOKEEPER_PATH_SIZE];
    char *end;

    snprintf(path, sizeof(path), "%s", nodes_path(variant, name));
    end = path + strlen(path);
    if (rig_is(variant, "zk-seq"))
        snprintf(end, sizeof(path) - (size_t)(end - path), "/%s", nodes_children(path));
    end = strchr(path, ' ');
    if (end != NULL) /* list only the first of the nodes */
        *end = '\0';
    nodes_delete(path);
}

/* The server's answer to a command of four letters. */
static const char *command(const char *four_letters)
{
    static char text[TEXT_SIZE];
    const char *url = getenv("SECKILL_ZOOKEEPER_URL");
    const char *colon = url != NULL ? strrchr(url, ':') : NULL;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    size_t used = 0;
    ssize_t got;

    assert(colon != NULL); /* the servers have been started */
    address.sin_port = htons((uint16_t)atoi(colon + 1));
    assert_int_equal(0, connect(fd, (struct sockaddr *)&address, sizeof(address)));
    assert_int_equal(4, send(fd, four_letters, 4, MSG_NOSIGNAL));
    while ((got = recv(fd, text + used, sizeof(text) - 1 - used, 0)) > 0)
        used += (size_t)got;
    close(fd);
    text[used] = '\0';
    return text;
}

/* "wchp" lists paths, each with its sessions behind tabs below it. */
static int count_watchers(const char *text, const char *path)
{
    size_t len = strlen(path);
    int count = 0;

    while (*text != '\0') {
        const char *next = strchr(text, '\n');
        bool is_it = strncmp(text, path, len) == 0 && text[len] == '\n';

        if (next == NULL)
            return 0;
        text = next + 1;
        while (is_it && *text == '\t') {
            count++;
            next = strchr(text, '\n');
            text = next != NULL ? next + 1 : text + strlen(text);
        }
        if (is_it)
            return count;
    }
    return 0;
}

int nodes_watchers(const char *path)
{
    return count_watchers(command("wchp"), path);
}

void nodes_child_watchers(const char *path, int *most, int *sum)
{
    struct String_vector found = {0};
    char child[ZOOKEEPER_PATH_SIZE];
    const char *text;

    *most = *sum = 0;
    if (!list(path, &found))
        return;
    text = command("wchp");
    for (int i = 0; i < found.count; i++) {
        int count;

        snprintf(child, sizeof(child), "%s/%s", path, found.data[i]);
        count = count_watchers(text, child);
        *sum += count;
        *most = count > *most ? count : *most;
    }
    deallocate_String_vector(&found);
}

const char *nodes_make_root(void)
{
    snprintf(own_root, sizeof(own_root), "/conformance-%d", (int)getpid());
    assert_int_equal(ZOK, zoo_create(connected(), own_root, "", 0,
                                     &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0));
    return own_root;
}

static void delete_below(const char *path)
{
    struct String_vector found = {0};
    char child[ZOOKEEPER_PATH_SIZE];

    if (!list(path, &found))
        return;
    for (int i = 0; i < found.count; i++) {
        snprintf(child, sizeof(child), "%s/%s", path, found.data[i]);
        delete_below(child);
        zoo_delete(side, child, -1);
    }
    deallocate_String_vector(&found);
}

/* Both ZooKeeper variants have a state that is a session, or begins with a session. */
static struct zookeeper_session *session_of(dlock_system *sys)
{
    return rig_is(sys->variant->info.name, "zk-seq")
               ? *(struct zookeeper_session **)sys->state
               : sys->state;
}

int64_t nodes_session(dlock_system *sys)
{
    char password[16];
    int64_t id = 0;

    assert_comes(zookeeper_session_identity(session_of(sys), &id, password));
    return id;
}

bool nodes_has_session(int64_t id)
{
    char want[24];

    snprintf(want, sizeof(want), "\t0x%llx\n", (unsigned long long)id);
    return strstr(command("dump"), want) != NULL;
}

void nodes_expire(dlock_system *sys)
{
    struct zookeeper_session *session = session_of(sys);
    clientid_t first;
    clientid_t now;

    assert_true(zookeeper_session_identity(session, &first.client_id, first.passwd));
    now = first;
    /* The library connects again to the session that this client took over, and so disconnects this
     * client; the loop goes on until this client was the faster one. */
    while (now.client_id == first.client_id) {
        zookeeper_close(connect_as(&first));
        rig_pause_ms(10);
        assert_comes(
            zookeeper_session_identity(session, &now.client_id, now.passwd));
    }
}

void nodes_stop(void)
{
    if (own_root[0] != '\0') {
        delete_below(own_root);
        zoo_delete(side, own_root, -1);
        own_root[0] = '\0';
    }
    if (side != NULL)
        zookeeper_close(side);
    side = NULL;
}
