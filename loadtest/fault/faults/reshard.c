/* SPDX-License-Identifier: MIT */
/* reshard.c -- slots of a Redis Cluster move to another master, with their keys, while clients
 * use these keys; at the end the slots move back. */
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/redis/slot.h"
#include "loadtest/fault/leader.h"
#include "loadtest/fault/server_fault.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/shell.h"

/* ---- the slots ---- */

/* A move has several steps.  A signal that asks the program to end waits until the slot has moved;
 * a second signal, or SIGKILL, leaves the move open, and fault_slots_finish() ends it later. */

/* While a slot moves, the answer to CLUSTER NODES has "[slot->-id]" in the line of the old master,
 * which migrates the slot, and "[slot-<-id]" in the line of the new one, which imports it. */

enum { FAULT_SLOTS_MAX = 64 };

enum { ANSWER_MAX = 65536, ID_SIZE = 41, MOVE_MS = 20000, MIGRATE_MS = 5000, POLL_MS = 10 };

/* Ask that server.  False: no answer, or an error, which is said. */
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
    *at += strcspn(*at, "\n");
    *at += **at == '\n';
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

static void add_slot(int slots[FAULT_SLOTS_MAX], int *count, int slot)
{
    for (int i = 0; i < *count; i++)
        if (slots[i] == slot)
            return;
    if (*count < FAULT_SLOTS_MAX)
        slots[(*count)++] = slot;
}

/* The slot that makes the server the leader, and those in which the scene's server has keys, at
 * most FAULT_SLOTS_MAX.  False: said why. */
static bool fault_slots_choose(struct fault_scene *scene, int slots[FAULT_SLOTS_MAX], int *count)
{
    char answer[ANSWER_MAX], *at = answer;
    const char *key;

    if (!ask(scene, scene->server, "KEYS *", answer))
        return false;
    add_slot(slots, count, redis_slot_of(LAB_CLUSTER_KEY));
    while ((key = next_text(&at)) != NULL)
        add_slot(slots, count, redis_slot_of(key));
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

/* The last step: the new owner, and then the old one, are told. */
static bool give(struct fault_scene *scene, int slot, const struct lab_server *from,
                 const struct lab_server *to, const char *to_id)
{
    return set_slot(scene, to, slot, "NODE", to_id) && set_slot(scene, from, slot, "NODE", to_id);
}

static bool move(struct fault_scene *scene, int slot, const struct lab_server *from,
                 const struct lab_server *to)
{
    char from_id[ID_SIZE], to_id[ID_SIZE];

    return ask_id(scene, from, from_id) && ask_id(scene, to, to_id) &&
           set_slot(scene, to, slot, "IMPORTING", from_id) &&
           set_slot(scene, from, slot, "MIGRATING", to_id) && move_keys(scene, slot, from, to) &&
           give(scene, slot, from, to, to_id);
}

/* Let the slot move.  False: said why; the move may be open. */
static bool fault_slot_move(struct fault_scene *scene, int slot, const struct lab_server *from,
                            const struct lab_server *to)
{
    bool ok;

    interrupt_defer(true);
    ok = move(scene, slot, from, to);
    interrupt_defer(false);
    return ok;
}

/* ---- moves that were left open ---- */

struct open_move {
    int slot;
    const struct lab_server *from, *to;
};

/* Ask the server for CLUSTER NODES, and cut the slots of its own line out of `answer`, with its
 * open moves behind them.  NULL: it does not answer, or the answer has no line of its own. */
static char *ask_slots(struct fault_scene *scene, const struct lab_server *server,
                       char answer[ANSWER_MAX])
{
    char *at;

    if (!lab_redis_ask(scene->lab, server->port, "CLUSTER NODES", answer, ANSWER_MAX))
        return NULL;
    at = strstr(answer, "myself");
    if (at == NULL)
        return NULL;
    at[strcspn(at, "\r\n")] = '\0';
    at = strstr(at, "connected ");
    return at != NULL ? at : strchr(answer, '\0');
}

/* Has the server the slot, by its own answer? */
static bool has_slot(struct fault_scene *scene, const struct lab_server *server, int slot)
{
    char answer[ANSWER_MAX], *rest = NULL;
    char *slots = ask_slots(scene, server, answer);

    for (char *word = slots != NULL ? strtok_r(slots, " ", &rest) : NULL; word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        char *dash = NULL;
        long first = strtol(word, &dash, 10);
        long last = *dash == '-' ? strtol(dash + 1, NULL, 10) : first;

        if (dash != word && first <= slot && slot <= last)
            return true;
    }
    return false;
}

/* The node of the lab with that id; NULL: none answers so. */
static const struct lab_server *find_node(struct fault_scene *scene, const char *id)
{
    char answer[ANSWER_MAX];

    for (int i = 0; i < scene->lab->server_count; i++) {
        const struct lab_server *server = &scene->lab->servers[i];

        if (server->role == LAB_CLUSTER &&
            lab_redis_ask(scene->lab, server->port, "CLUSTER MYID", answer, ANSWER_MAX) &&
            strlen(id) == ID_SIZE - 1 && strstr(answer, id) != NULL)
            return server;
    }
    return NULL;
}

/* Read "[slot->-id]" or "[slot-<-id]", which `server` says.  False: it is none. */
static bool read_open(struct fault_scene *scene, const struct lab_server *server, char *word,
                      struct open_move *out)
{
    char *dash = NULL;
    const struct lab_server *other;

    if (word[0] != '[')
        return false;
    out->slot = (int)strtol(word + 1, &dash, 10);
    if (dash[0] != '-' || (dash[1] != '>' && dash[1] != '<') || dash[2] != '-')
        return false;
    dash[3 + strcspn(dash + 3, "]")] = '\0';
    other = find_node(scene, dash + 3);
    out->from = dash[1] == '>' ? server : other;
    out->to = dash[1] == '>' ? other : server;
    return true;
}

/* A move of which `server` tells; the slot is -1: there is none. */
static struct open_move find_open(struct fault_scene *scene, const struct lab_server *server)
{
    struct open_move found = {.slot = -1};
    char answer[ANSWER_MAX], *rest = NULL;
    char *slots = ask_slots(scene, server, answer);

    for (char *word = slots != NULL ? strtok_r(slots, " ", &rest) : NULL; word != NULL;
         word = strtok_r(NULL, " ", &rest))
        if (read_open(scene, server, word, &found))
            return found;
    found.slot = -1;
    return found;
}

static bool await_leader(struct fault_scene *scene, const struct lab_server *leader)
{
    int64_t end_ns = dlock_clock_after(dlock_clock_ns(), FAULT_LEADER_OTHER_MS);

    while (lab_topology_leader(scene->lab, LAB_TOPOLOGY_CLUSTER) != leader)
        if (dlock_clock_ns() >= end_ns || !interrupt_sleep_ms(POLL_MS))
            return server_fault_complain(scene, "the other nodes do not know yet that %s has slot "
                                         "%d", leader->name, redis_slot_of(LAB_CLUSTER_KEY));
    return true;
}

static bool finish(struct fault_scene *scene, const struct open_move *open)
{
    char to_id[ID_SIZE], dir[SHELL_WORD_MAX];
    bool ok = false;

    if (open->from != NULL && open->to != NULL && has_slot(scene, open->to, open->slot))
        ok = ask_id(scene, open->to, to_id) &&
             give(scene, open->slot, open->from, open->to, to_id);
    else if (open->from != NULL && open->to != NULL)
        ok = move(scene, open->slot, open->from, open->to);
    if (!ok)
        return server_fault_complain(
            scene, "an earlier program left slot %d open between %s and %s, and its move cannot be "
                   "ended\n  start the lab anew: seckill lab down --dir=%s", open->slot,
            open->from != NULL ? open->from->name : "a node that does not answer",
            open->to != NULL ? open->to->name : "a node that does not answer",
            shell_word(dir, scene->lab->dir));
    server_fault_note(scene, "%sslot %d, whose move an earlier program left open, is at %s now",
                      scene->note[0] != '\0' ? "; " : "", open->slot, open->to->name);
    return open->slot != redis_slot_of(LAB_CLUSTER_KEY) || await_leader(scene, open->to);
}

/* End the moves that were left open: each slot comes to the master to which it was moving.  Add
 * each to the note, and count them in *count.  False: the slot that could not be moved is named,
 * with a remedy. */
static bool fault_slots_finish(struct fault_scene *scene, int *count)
{
    bool ok = true;

    *count = 0;
    interrupt_defer(true);
    for (int i = 0; ok && i < scene->lab->server_count; i++) {
        const struct lab_server *server = &scene->lab->servers[i];
        struct open_move open;

        if (server->role != LAB_CLUSTER)
            continue;
        for (open = find_open(scene, server); ok && open.slot >= 0;
             open = find_open(scene, server)) {
            ok = finish(scene, &open);
            *count += ok;
        }
    }
    interrupt_defer(false);
    return ok;
}

struct reshard {
    const struct lab_server *other;
    int slots[FAULT_SLOTS_MAX];
    int slot_count;
    int moved_count; /* of the slots, how many the other has now */
    bool is_open;    /* the next one was on its way when its move failed */
};

/* An earlier program may have left the move of a slot open.  If that is the leader's, the end of
 * the move makes another server the leader. */
static bool arm(struct fault_scene *scene)
{
    bool was_leader = lab_topology_leader(scene->lab, LAB_TOPOLOGY_CLUSTER) == scene->server;
    struct lab_server *leader;
    int count;

    if (!fault_slots_finish(scene, &count))
        return false;
    leader = count > 0 && was_leader ? lab_topology_leader(scene->lab, LAB_TOPOLOGY_CLUSTER) : NULL;
    if (leader != NULL)
        scene->server = leader;
    return true;
}

static bool begin(struct fault_scene *scene)
{
    struct reshard *reshard = server_fault_state(scene, sizeof *reshard);
    int64_t since_ns = dlock_clock_ns();

    if (!fault_leader_is_it(scene))
        return false;
    reshard->other = fault_leader_find(scene, "role:master\r\n");
    if (reshard->other == NULL)
        return server_fault_complain(scene, "no other master answers");
    if (!fault_slots_choose(scene, reshard->slots, &reshard->slot_count))
        return false;
    for (int i = 0; i < reshard->slot_count; i++) {
        if (interrupted())
            return server_fault_complain(scene, "%d of %d slots have moved, and move back, since "
                                         "the program is to end", i, reshard->slot_count);
        reshard->is_open = true;
        if (!fault_slot_move(scene, reshard->slots[i], scene->server, reshard->other))
            return false;
        reshard->is_open = false;
        reshard->moved_count = i + 1;
    }
    server_fault_note(scene, "%s: %d of its slots move, with their keys", scene->server->name,
                      reshard->slot_count);
    return fault_leader_await_other(scene, since_ns);
}

static bool end(struct fault_scene *scene)
{
    struct reshard *reshard = server_fault_state(scene, sizeof *reshard);
    int count = 0;
    bool ok = !reshard->is_open || fault_slots_finish(scene, &count);

    if (ok && reshard->is_open) {
        reshard->is_open = false;
        reshard->moved_count++;
    }
    count = reshard->moved_count;
    while (ok && reshard->moved_count > 0) {
        ok = fault_slot_move(scene, reshard->slots[reshard->moved_count - 1], reshard->other,
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
    .arm = arm,
    .begin = begin,
    .end = end,
    .disarm = end,
};
