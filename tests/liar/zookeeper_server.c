/* SPDX-License-Identifier: MIT */
/* zookeeper_server.c -- a ZooKeeper in this process, in place of the client library.
 *
 * The client library parses the server's bytes itself, so a lie is what its C interface can hand
 * out: these functions replace those of the library.  Every request is executed, and then answered
 * in the thread of its handle, in the order of the requests, by the honest answer or by a lie. */
#include "tests/liar/zookeeper_server.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "tests/liar/lies.h"
#include "tests/liar/servers.h"

enum { GRANTED_MS = 30000, LINE_SIZE = 400 };

#define LIAR "127.0.0.1:1"
#define BEAT "/dlock/beat"

struct node {
    char *path, *data;
    int version, next_number; /* of a sequential child */
    int64_t czxid;
    const zhandle_t *owner; /* of an ephemeral node */
    struct node *next;
};

/* A watch of one node, which fires once. */
struct guard {
    zhandle_t *zh;
    char *path;
    watcher_fn fn;
    void *arg;
    struct guard *next;
};

enum kind { DONE, STAT, TEXT, CREATED, DATA, LIST, EVENT };

/* Something that the thread of a handle has to call. */
struct item {
    enum kind kind;
    bool is_held; /* until the handle is closed: no answer comes */
    int rc;
    char *text;       /* a path, or data; NULL: none */
    int len;          /* of data */
    bool has_stat;
    struct Stat stat;
    struct String_vector names;
    union {
        void_completion_t done;
        stat_completion_t stat;
        string_completion_t text;
        string_stat_completion_t created;
        data_completion_t data;
        strings_completion_t list;
        watcher_fn event;
    } call;
    const void *arg;
    int type, state; /* of an EVENT */
    struct item *next;
};

struct _zhandle {
    bool is_liar, is_closing;
    watcher_fn on_event;
    void *context;
    clientid_t id;
    pthread_t thread;
    struct item *items; /* in order */
    zhandle_t *next;
};

static struct {
    pthread_mutex_t mutex; /* guards all of this file, and is not held during calls */
    pthread_cond_t changed;
    struct node *nodes;
    struct guard *guards;
    zhandle_t *handles;
    int64_t zxid;
    long beat_count;
    struct zookeeper_session_lie session;
} tree = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* ---- the thread of a handle ---- */

static void free_item(struct item *item)
{
    for (int i = 0; i < item->names.count; i++)
        free(item->names.data[i]);
    free(item->names.data);
    free(item->text);
    free(item);
}

static void call_back(zhandle_t *zh, struct item *item)
{
    const struct Stat *stat = item->has_stat ? &item->stat : NULL;

    switch (item->kind) {
    case DONE:
        item->call.done(item->rc, item->arg);
        break;
    case STAT:
        item->call.stat(item->rc, stat, item->arg);
        break;
    case TEXT:
        item->call.text(item->rc, item->text, item->arg);
        break;
    case CREATED:
        item->call.created(item->rc, item->text, stat, item->arg);
        break;
    case DATA:
        item->call.data(item->rc, item->text, item->len, stat, item->arg);
        break;
    case LIST:
        item->call.list(item->rc, item->rc == ZOK ? &item->names : NULL, item->arg);
        break;
    case EVENT:
        item->call.event(zh, item->type, item->state, item->text,
                         (void *)(uintptr_t)item->arg);
    }
}

/* Take the next item: while the handle is open, one that is not held. */
static struct item *take_item(zhandle_t *zh)
{
    struct item **at = &zh->items, *item;

    while (*at != NULL && (*at)->is_held && !zh->is_closing)
        at = &(*at)->next;
    item = *at;
    if (item != NULL)
        *at = item->next;
    return item;
}

/* After the closing each request that is under way ends with ZCLOSING, and no event comes. */
static void *run_handle(void *arg)
{
    zhandle_t *zh = arg;
    struct item *item = NULL;

    pthread_mutex_lock(&tree.mutex);
    while ((item = take_item(zh)) != NULL || !zh->is_closing) {
        bool is_closing = zh->is_closing;

        if (item == NULL) {
            pthread_cond_wait(&tree.changed, &tree.mutex);
            continue;
        }
        pthread_mutex_unlock(&tree.mutex);
        if (is_closing)
            item->rc = ZCLOSING;
        if (!is_closing || item->kind != EVENT)
            call_back(zh, item);
        free_item(item);
        pthread_mutex_lock(&tree.mutex);
    }
    pthread_mutex_unlock(&tree.mutex);
    return NULL;
}

static void put_item(zhandle_t *zh, struct item *item)
{
    struct item **at = &zh->items;

    while (*at != NULL)
        at = &(*at)->next;
    *at = item;
    pthread_cond_broadcast(&tree.changed);
}

static struct item *new_item(enum kind kind, int rc, const void *arg)
{
    struct item *item = calloc(1, sizeof(*item));

    if (item == NULL)
        abort();
    item->kind = kind;
    item->rc = rc;
    item->arg = arg;
    return item;
}

/* ---- the tree; the mutex is locked ---- */

static struct node **find_node(const char *path)
{
    struct node **at = &tree.nodes;

    while (*at != NULL && strcmp((*at)->path, path) != 0)
        at = &(*at)->next;
    return at;
}

/* The name of a child of `dir`; NULL: the node is none. */
static const char *child_name(const struct node *node, const char *dir)
{
    size_t len = strlen(dir);

    return strncmp(node->path, dir, len) == 0 && node->path[len] == '/' &&
                   strchr(node->path + len + 1, '/') == NULL
               ? node->path + len + 1
               : NULL;
}

static void fire(const char *path, int type)
{
    struct guard **at = &tree.guards, *guard;

    while ((guard = *at) != NULL) {
        struct item *item;

        if (strcmp(guard->path, path) != 0) {
            at = &guard->next;
            continue;
        }
        item = new_item(EVENT, ZOK, guard->arg);
        item->type = guard->zh->is_liar && tree.session.watch_type != 0 ? tree.session.watch_type
                                                                        : type;
        item->state = ZOO_CONNECTED_STATE;
        item->text = strdup(path);
        item->call.event = guard->fn;
        put_item(guard->zh, item);
        if (item->type == ZOO_SESSION_EVENT) { /* the library keeps the watch then */
            at = &guard->next;
            continue;
        }
        *at = guard->next;
        free(guard->path);
        free(guard);
    }
}

static void remove_node(struct node **at)
{
    struct node *node = *at;

    *at = node->next;
    fire(node->path, ZOO_DELETED_EVENT);
    free(node->path);
    free(node->data);
    free(node);
}

static int delete_node(const char *path, int version)
{
    struct node **at = find_node(path);

    if (*at == NULL)
        return ZNONODE;
    for (const struct node *node = tree.nodes; node != NULL; node = node->next)
        if (child_name(node, path) != NULL)
            return ZNOTEMPTY;
    if (version != -1 && version != (*at)->version)
        return ZBADVERSION;
    remove_node(at);
    return ZOK;
}

static int create_node(const zhandle_t *zh, char path[LINE_SIZE], const char *data, int len,
                       int flags)
{
    bool is_place = flags == ZOO_EPHEMERAL_SEQUENTIAL;
    const char *slash = strrchr(path, '/');
    struct node *node, *parent;
    char dir[LINE_SIZE];

    snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
    parent = *find_node(dir);
    if (slash > path && parent == NULL)
        return ZNONODE;
    if (is_place)
        snprintf(path + strlen(path), LINE_SIZE - strlen(path), "%010d", parent->next_number++);
    if (*find_node(path) != NULL)
        return ZNODEEXISTS;
    node = calloc(1, sizeof(*node));
    if (node == NULL)
        abort();
    node->path = strdup(path);
    node->data = strndup(data, (size_t)len);
    node->czxid = ++tree.zxid;
    node->owner = is_place || flags == ZOO_EPHEMERAL ? zh : NULL;
    node->next = tree.nodes;
    tree.nodes = node;
    return ZOK;
}

static struct String_vector list_nodes(const char *dir)
{
    struct String_vector names = {0, NULL};

    for (const struct node *node = tree.nodes; node != NULL; node = node->next) {
        const char *name = child_name(node, dir);

        if (name == NULL)
            continue;
        names.data = realloc(names.data, ((size_t)names.count + 1) * sizeof(char *));
        names.data[names.count++] = strdup(name);
    }
    return names;
}

/* ---- answers ---- */

/* Replace the honest answer. */
static void lie_about(struct item *item, const char *path, const struct zookeeper_lie *lie)
{
    char text[2000];

    item->is_held = lie->is_silent;
    item->rc = lie->rc;
    if (item->kind == CREATED || item->kind == TEXT) {
        snprintf(text, sizeof(text), "%s%s", lie->keeps_path ? path : "",
                 lie->path != NULL ? lie->path : "");
        free(item->text);
        item->text = lie->rc == ZOK && lie->path != NULL ? strdup(text) : NULL;
    } else if (item->kind == DATA) {
        free(item->text);
        item->text = lie->data != NULL ? strdup(lie->data) : NULL;
        item->len = lie->len;
    }
    item->has_stat = lie->has_stat;
    item->stat = (struct Stat){.czxid = lie->czxid, .version = lie->version};
    if (item->kind != LIST)
        return;
    for (int i = 0; i < item->names.count; i++)
        free(item->names.data[i]);
    free(item->names.data);
    item->names = (struct String_vector){lie->name_count, NULL};
    item->names.data = calloc((size_t)lie->name_count + 1, sizeof(char *));
    for (int i = 0; item->names.data != NULL && i < lie->name_count; i++)
        item->names.data[i] = lie->names[i] != NULL ? strdup(lie->names[i]) : NULL;
}

/* Answer a request, which was executed.  The library keeps its watch, if it has one, only after a
 * good answer.  The mutex is unlocked. */
static int answer(zhandle_t *zh, const char *verb, const char *path, struct item *item,
                  struct guard *guard)
{
    char asked[LINE_SIZE];
    const struct lie *due = NULL;
    const struct zookeeper_lie *lie;
    int rc = ZOK;

    snprintf(asked, sizeof(asked), "%s %.300s", verb, path);
    if (zh->is_liar && strcmp(path, BEAT) == 0)
        tree.beat_count++;
    else if (zh->is_liar)
        due = script_next(asked);
    lie = due != NULL ? (const struct zookeeper_lie *)(const void *)due->bytes : NULL;
    if (lie != NULL && lie->at_once != ZOK)
        rc = lie->at_once;
    else if (lie != NULL)
        lie_about(item, path, lie);
    if (guard != NULL && rc == ZOK && item->rc == ZOK && !item->is_held) {
        guard->next = tree.guards;
        tree.guards = guard;
    } else if (guard != NULL) {
        free(guard->path);
        free(guard);
    }
    if (rc == ZOK)
        put_item(zh, item);
    else
        free_item(item);
    pthread_mutex_unlock(&tree.mutex);
    return rc;
}

static void copy_node(struct item *item, const struct node *node)
{
    if (node == NULL)
        return;
    item->text = strdup(node->data);
    item->len = (int)strlen(node->data);
    item->has_stat = true;
    item->stat = (struct Stat){.czxid = node->czxid, .version = node->version};
}

/* ---- the client library's functions ---- */

int zoo_acreate2(zhandle_t *zh, const char *given, const char *value, int len,
                 const struct ACL_vector *acl, int flags, string_stat_completion_t completion,
                 const void *arg)
{
    struct item *item;
    char path[LINE_SIZE];

    (void)acl;
    snprintf(path, sizeof(path), "%s", given);
    pthread_mutex_lock(&tree.mutex);
    item = new_item(CREATED, create_node(zh, path, value, len, flags), arg);
    item->call.created = completion;
    if (item->rc == ZOK) {
        copy_node(item, *find_node(path));
        free(item->text);
        item->text = strdup(path);
    }
    return answer(zh, "create", path, item, NULL);
}

int zoo_adelete(zhandle_t *zh, const char *path, int version, void_completion_t completion,
                const void *arg)
{
    struct item *item;

    pthread_mutex_lock(&tree.mutex);
    item = new_item(DONE, delete_node(path, version), arg);
    item->call.done = completion;
    return answer(zh, "delete", path, item, NULL);
}

static int get(zhandle_t *zh, const char *path, data_completion_t completion, const void *arg,
               struct guard *guard)
{
    struct item *item = new_item(DATA, ZOK, arg);

    pthread_mutex_lock(&tree.mutex);
    item->call.data = completion;
    item->rc = *find_node(path) != NULL ? ZOK : ZNONODE;
    copy_node(item, *find_node(path));
    return answer(zh, guard != NULL ? "watch" : "get", path, item, guard);
}

int zoo_aget(zhandle_t *zh, const char *path, int watch, data_completion_t completion,
             const void *arg)
{
    (void)watch;
    return get(zh, path, completion, arg, NULL);
}

int zoo_awget(zhandle_t *zh, const char *path, watcher_fn watcher, void *watcher_arg,
              data_completion_t completion, const void *arg)
{
    struct guard *guard = calloc(1, sizeof(*guard));

    if (guard == NULL)
        abort();
    *guard = (struct guard){zh, strdup(path), watcher, watcher_arg, NULL};
    return get(zh, path, completion, arg, guard);
}

int zoo_aset(zhandle_t *zh, const char *path, const char *value, int len, int version,
             stat_completion_t completion, const void *arg)
{
    struct item *item = new_item(STAT, ZNONODE, arg);
    struct node *node;

    (void)version;
    pthread_mutex_lock(&tree.mutex);
    item->call.stat = completion;
    node = *find_node(path);
    if (node != NULL) {
        free(node->data);
        node->data = strndup(value, (size_t)len);
        node->version++;
        item->rc = ZOK;
        copy_node(item, node);
        fire(path, ZOO_CHANGED_EVENT);
    }
    return answer(zh, "set", path, item, NULL);
}

int zoo_aget_children(zhandle_t *zh, const char *path, int watch,
                      strings_completion_t completion, const void *arg)
{
    struct item *item = new_item(LIST, ZOK, arg);

    (void)watch;
    pthread_mutex_lock(&tree.mutex);
    item->call.list = completion;
    item->rc = *find_node(path) != NULL ? ZOK : ZNONODE;
    item->names = list_nodes(path);
    return answer(zh, "list", path, item, NULL);
}

int zoo_async(zhandle_t *zh, const char *path, string_completion_t completion, const void *arg)
{
    struct item *item = new_item(TEXT, ZOK, arg);

    pthread_mutex_lock(&tree.mutex);
    item->call.text = completion;
    item->text = strdup(path);
    return answer(zh, "sync", path, item, NULL);
}

/* With the mutex locked. */
static void put_event(zhandle_t *zh, int state)
{
    struct item *item = new_item(EVENT, ZOK, zh->context);

    item->type = ZOO_SESSION_EVENT;
    item->state = state;
    item->call.event = zh->on_event;
    put_item(zh, item);
}

zhandle_t *zookeeper_init2(const char *host, watcher_fn fn, int timeout_ms,
                           const clientid_t *id, void *context, int flags,
                           log_callback_fn log)
{
    zhandle_t *zh = calloc(1, sizeof(*zh));

    (void)timeout_ms, (void)id, (void)flags, (void)log;
    if (zh == NULL)
        abort();
    pthread_mutex_lock(&tree.mutex);
    zh->is_liar = strcmp(host, LIAR) == 0;
    if (zh->is_liar && tree.session.fails_to_open) {
        pthread_mutex_unlock(&tree.mutex);
        free(zh);
        return NULL;
    }
    zh->on_event = fn;
    zh->context = context;
    zh->id.client_id = ++tree.zxid;
    zh->next = tree.handles;
    tree.handles = zh;
    put_event(zh, zh->is_liar && tree.session.first_state != 0 ? tree.session.first_state
                                                               : ZOO_CONNECTED_STATE);
    if (pthread_create(&zh->thread, NULL, run_handle, zh) != 0)
        abort();
    pthread_mutex_unlock(&tree.mutex);
    return zh;
}

/* Forget the watches and the ephemeral nodes of a handle. */
static void forget(const zhandle_t *zh)
{
    for (struct guard **at = &tree.guards, *guard; (guard = *at) != NULL;) {
        if (guard->zh != zh) {
            at = &guard->next;
            continue;
        }
        *at = guard->next;
        free(guard->path);
        free(guard);
    }
    for (struct node **at = &tree.nodes; *at != NULL;) {
        if ((*at)->owner == zh)
            remove_node(at);
        else
            at = &(*at)->next;
    }
}

int zookeeper_close(zhandle_t *zh)
{
    zhandle_t **at = &tree.handles;
    struct item *item;

    pthread_mutex_lock(&tree.mutex);
    zh->is_closing = true;
    pthread_cond_broadcast(&tree.changed);
    pthread_mutex_unlock(&tree.mutex);
    pthread_join(zh->thread, NULL);
    pthread_mutex_lock(&tree.mutex);
    forget(zh);
    while (*at != zh)
        at = &(*at)->next;
    *at = zh->next;
    while ((item = take_item(zh)) != NULL)
        free_item(item); /* an event, which came after the end */
    pthread_mutex_unlock(&tree.mutex);
    free(zh);
    return ZOK;
}

int zoo_recv_timeout(zhandle_t *zh)
{
    int ms = GRANTED_MS;

    pthread_mutex_lock(&tree.mutex);
    if (zh->is_liar && tree.session.grants_other_time)
        ms = tree.session.granted_ms;
    pthread_mutex_unlock(&tree.mutex);
    return ms;
}

const clientid_t *zoo_client_id(zhandle_t *zh)
{
    return &zh->id;
}

int zoo_set_servers_resolution_delay(zhandle_t *zh, int delay_ms)
{
    (void)zh, (void)delay_ms;
    return ZOK;
}

/* ---- for the tests ---- */

const char *zookeeper_server_start(const char *url)
{
    (void)url;
    return LIAR;
}

void zookeeper_server_stop(void)
{
}

void zookeeper_server_be(const struct zookeeper_session_lie *lie)
{
    pthread_mutex_lock(&tree.mutex);
    tree.session = *lie;
    tree.beat_count = 0;
    pthread_mutex_unlock(&tree.mutex);
}

void zookeeper_server_tell(int state)
{
    pthread_mutex_lock(&tree.mutex);
    for (zhandle_t *zh = tree.handles; zh != NULL; zh = zh->next)
        if (zh->is_liar && !zh->is_closing)
            put_event(zh, state);
    pthread_mutex_unlock(&tree.mutex);
}

long zookeeper_server_beats(void)
{
    long count;

    pthread_mutex_lock(&tree.mutex);
    count = tree.beat_count;
    pthread_mutex_unlock(&tree.mutex);
    return count;
}
