/* SPDX-License-Identifier: MIT */
/* reshard.c -- slots of a Redis Cluster move to another master, with their keys, while clients
 * use these keys; at the end the slots move back. */
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/redis/slot.h"
#include "loadtest/fault/leader.h"

enum { ANSWER_MAX = 65536, ID_SIZE = 41, SLOTS_MAX = 64, MOVE_MS = 20000, MIGRATE_MS = 5000 };

struct reshard {
    const struct lab_server *other;
    int slots[SLOTS_MAX];
    int slot_count;
    int moved_count; /* of the slots, how many the other has now */
};

/* Ask that server; what it answers with an error is said. */
static bool ask(struct fault_scene *scene, const struct lab_server *server, const char *command,
                char answer[ANSWER_MAX])
{
    if (!lab_redis_ask(scene->lab, server->port, command, answer, ANSWER_MAX))
        return server_fault_complain(scene, "%s does not answer %s", server->name, command);
    return answer[0] != '-' ||
           server_fault_complain(scene, "%s answers %s with %.*s", server->name, command,
                                 (int)strcspn(answer, "\r"), answer + 1);
}

/* The next text of an array of texts, cut out of the answer; NULL: there are no more. */
static char *next_text(char **at)
{
    char *text;

    if (**at == '*')
        *at += strcspn(*at, "\n") + 1;
    if (**at != '$')
        return NULL;
    *at += strcspn(*at, "\n") + 1;
    text = *at;
    *at += strcspn(*at, "\r");
    if (**at == '\r')
        *(*at)++ = '\0';
    *at += **at == '\n';
    return text;
}

/* The id of the node.  False: it was not answered, which is said. */
static bool ask_id(struct fault_scene *scene, const struct lab_server *server, char id[ID_SIZE])
{
    char answer[ANSWER_MAX], *at = answer;
    const char *text;

    if (!ask(scene, server, "CLUSTER MYID", answer))
        return false;
    text = next_text(&at);
    if (text == NULL || strlen(text) != ID_SIZE - 1)
        return server_fault_complain(scene, "%s answers CLUSTER MYID with no id", server->name);
    memcpy(id, text, ID_SIZE);
    return true;
}

/* Another master; NULL: none answers, which is said. */
static const struct lab_server *find_other(struct fault_scene *scene)
{
    char answer[ANSWER_MAX];

    for (int i = 0; i < scene->lab->server_count; i++) {
        const struct lab_server *server = &scene->lab->servers[i];

        if (server->role == LAB_CLUSTER && server != scene->server &&
            lab_redis_ask(scene->lab, server->port, "INFO replication", answer, ANSWER_MAX) &&
            strstr(answer, "role:master\r\n") != NULL)
            return server;
    }
    server_fault_complain(scene, "no other master answers");
    return NULL;
}

static void add_slot(struct reshard *reshard, int slot)
{
    for (int i = 0; i < reshard->slot_count; i++)
        if (reshard->slots[i] == slot)
            return;
    if (reshard->slot_count < SLOTS_MAX)
        reshard->slots[reshard->slot_count++] = slot;
}

/* The slot that makes the server the leader, and those in which it has keys. */
static bool choose_slots(struct fault_scene *scene, struct reshard *reshard)
{
    char answer[ANSWER_MAX], *at = answer;
    const char *key;

    if (!ask(scene, scene->server, "KEYS *", answer))
        return false;
    add_slot(reshard, redis_slot_of(LAB_CLUSTER_KEY));
    while ((key = next_text(&at)) != NULL)
        add_slot(reshard, redis_slot_of(key));
    return true;
}

/* Move the keys, until the server has none in that slot.  NOKEY: a key has ended meanwhile. */
static bool move_keys(struct fault_scene *scene, int slot, const struct lab_server *from,
                      const struct lab_server *to)
{
    int64_t end_ns = dlock_clock_after(dlock_clock_ns(), MOVE_MS);
    char question[LAB_WHY_MAX + 200], answer[ANSWER_MAX], keys[ANSWER_MAX];

    snprintf(question, sizeof question, "CLUSTER GETKEYSINSLOT %d 100", slot);
    while (ask(scene, from, question, keys)) {
        char *at = keys;
        const char *key = next_text(&at);

        if (key == NULL)
            return true;
        if (dlock_clock_ns() > end_ns)
            return server_fault_complain(scene, "slot %d still has keys after %d s", slot,
                                         MOVE_MS / 1000);
        for (; key != NULL; key = next_text(&at)) {
            char migrate[sizeof question];

            snprintf(migrate, sizeof migrate, "MIGRATE 127.0.0.1 %d \"%s\" 0 %d AUTH %s", to->port,
                     key, MIGRATE_MS, scene->lab->redis_password);
            if (!ask(scene, from, migrate, answer))
                return false;
        }
    }
    return false;
}

static bool set_slot(struct fault_scene *scene, const struct lab_server *server, int slot,
                     const char *state, const char *id)
{
    char question[120], answer[ANSWER_MAX];

    snprintf(question, sizeof question, "CLUSTER SETSLOT %d %s %s", slot, state, id);
    return ask(scene, server, question, answer);
}

static bool move_slot(struct fault_scene *scene, int slot, const struct lab_server *from,
                      const struct lab_server *to)
{
    char from_id[ID_SIZE], to_id[ID_SIZE];

    return ask_id(scene, from, from_id) && ask_id(scene, to, to_id) &&
           set_slot(scene, to, slot, "IMPORTING", from_id) &&
           set_slot(scene, from, slot, "MIGRATING", to_id) &&
           move_keys(scene, slot, from, to) && set_slot(scene, to, slot, "NODE", to_id) &&
           set_slot(scene, from, slot, "NODE", to_id);
}

static bool begin(struct fault_scene *scene)
{
    struct reshard *reshard = server_fault_state(scene, sizeof *reshard);
    int64_t since_ns = dlock_clock_ns();

    if (!fault_leader_is_it(scene))
        return false;
    reshard->other = find_other(scene);
    if (reshard->other == NULL || !choose_slots(scene, reshard))
        return false;
    for (int i = 0; i < reshard->slot_count; i++) {
        if (!move_slot(scene, reshard->slots[i], scene->server, reshard->other))
            return false;
        reshard->moved_count = i + 1;
    }
    server_fault_note(scene, "%s: %d of its slots move, with their keys", scene->server->name,
                      reshard->slot_count);
    return fault_leader_await_other(scene, since_ns);
}

static bool end(struct fault_scene *scene)
{
    struct reshard *reshard = server_fault_state(scene, sizeof *reshard);
    bool ok = true;
    int count = reshard->moved_count;

    while (ok && reshard->moved_count > 0) {
        ok = move_slot(scene, reshard->slots[reshard->moved_count - 1], reshard->other,
                       scene->server);
        reshard->moved_count -= ok;
    }
    if (ok && count > 0)
        server_fault_note(scene, "%s: the slots are back", scene->server->name);
    return ok && (count == 0 || fault_leader_await_whole(scene));
}

const struct server_fault fault_reshard = {
    .name = "reshard",
    .does = "slots of the leader move to another master with their keys, and later back",
    .needs = "a lab with --cluster",
    .servers = FAULT_ON(LAB_IS_REDIS),
    .topologies = LAB_WITH(CLUSTER),
    .begin = begin,
    .end = end,
    .disarm = end,
};
