/* SPDX-License-Identifier: MIT */
/* wires.c -- the wires of actors: a proxy for each server that they talk to. */
#include "loadtest/scenario/servers/wires.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/os/clock.h"
#include "loadtest/proxy/wire_text.h"
#include "loadtest/scenario/result.h"
#include "loadtest/scenario/stage.h"

enum { LOOK_MS = 20, FAULT_SIZE = 96 };

/* Redis answers requests in their order, so a reply has the number of its request. */
static bool is_of_left_out(const struct stage_wire *wire,
                           const struct proxy_glimpse *glimpse)
{
    for (int i = 0; i < STAGE_LEFT_OUT_MAX; i++)
        if (wire->left_out[i].connection == glimpse->connection &&
            wire->left_out[i].number == glimpse->number)
            return true;
    return false;
}

static void leave_out(struct stage_wire *wire, const struct proxy_glimpse *glimpse)
{
    unsigned at = wire->left_out_next++ % STAGE_LEFT_OUT_MAX;

    wire->left_out[at].connection = glimpse->connection;
    wire->left_out[at].number = glimpse->number;
}

/* In the proxy's thread. */
static void on_message(const struct proxy_glimpse *glimpse, void *arg)
{
    static const char *const arrows[] = {"->", "<-"};
    struct stage_wire *wire = arg;
    bool is_redis = wire->protocol == PROXY_REDIS;
    char text[SCENARIO_LINE_MAX - 100], line[SCENARIO_LINE_MAX];

    if (is_redis && glimpse->direction == PROXY_TO_CLIENT &&
        is_of_left_out(wire, glimpse))
        return;
    if (!wire_text(glimpse, wire->protocol, text, sizeof text)) {
        if (is_redis && glimpse->direction == PROXY_TO_SERVER)
            leave_out(wire, glimpse);
        return;
    }
    snprintf(line, sizeof line, "%s %s: %s%s", arrows[glimpse->direction], wire->server,
             text, glimpse->is_dropped ? "  (dropped on its way)" : "");
    stage_add_line(wire->stage, LINE_WIRE, glimpse->at_ns, wire->actor, line, line);
}

/* A release ends the fault that a hold begins; the others are done when they have struck.
 * */
static void record_strike(const struct stage_wire *wire, const char *action)
{
    struct stage *s = wire->stage;
    bool holds = strcmp(action, "hold") == 0, ends = strcmp(action, "release") == 0;
    char name[64];

    snprintf(name, sizeof name, "wire-%s %s", ends ? "hold" : action, wire->server);
    stage_fault(s, name,
                holds  ? DLOCK_FAULT_HAS_BEGUN
                : ends ? DLOCK_FAULT_HAS_ENDED
                       : DLOCK_FAULT_HAPPENED,
                DLOCK_ASSUMES_NETWORK, actor_pid(&s->actors[wire->actor]));
}

/* In the proxy's thread too. */
static void on_strike(const struct proxy_strike *strike, void *arg)
{
    const struct stage_wire *wire = arg;
    char action[16], line[SCENARIO_LINE_MAX];

    snprintf(action, sizeof action, "%.*s", (int)strcspn(strike->text, " :"),
             strike->text);
    record_strike(wire, action);
    snprintf(line, sizeof line, "-- %s: %s", wire->server, strike->text);
    stage_add_line(wire->stage, LINE_WIRE, strike->last_ns, wire->actor, line, line);
}

static void open_wire(struct stage *s, struct stage_wire *wire, int actor,
                      const struct lab_server *server, enum proxy_protocol protocol)
{
    bool is_told = actor != STAGE_NOBODY;
    char target[32], why[PROXY_WHY_MAX];
    struct proxy_options options = {.target = target,
                                    .protocol = protocol,
                                    .on_strike = is_told ? on_strike : NULL,
                                    .on_message = is_told ? on_message : NULL,
                                    .arg = wire};

    *wire = (struct stage_wire){
        .stage = s, .actor = actor, .protocol = protocol, .last_fault = -1};
    snprintf(wire->server, sizeof wire->server, "%s", server->name);
    snprintf(target, sizeof target, "127.0.0.1:%d", server->port);
    wire->port = server->port;
    if (scenario_is_measured(s->setup->scenario))
        return;
    if (!proxy_open(&wire->proxy, &options, why))
        stage_fail(s, "no wire to %s: %s", wire->server, why);
    wire->port = proxy_port(wire->proxy);
}

/* The protocol on the way to a store that has a server. */
static enum proxy_protocol protocol_of(enum dlock_store store)
{
    static const enum proxy_protocol protocols[DLOCK_STORE_COUNT] = {
#define LOCAL_STORE(id, name) PROXY_RAW,
#define STORE(id, name, product, field, flag, environment, timeout, server, protocol,  \
              question)                                                                \
    PROXY_##protocol,
#include "lock/stores.def"
#undef LOCAL_STORE
#undef STORE
    };

    return protocols[store];
}

static void open_lock_wires(struct stage *s, struct stage_process *p, int actor)
{
    enum dlock_store store = stage_store(s);
    enum lab_role role = stage_lock_role(s);
    int ports[SCENARIO_NODES_MAX];
    const struct lab_route route = {.ports = ports};
    char *url = lab_url_of(&p->part.urls, store);

    if (role == LAB_ROLE_COUNT)
        return;
    /* A client of such a topology asks the servers for their ports, so no proxy can be between. */
    if (lab_topology_address(s->lab, s->setup->scenario->topology, url))
        return;
    for (int i = 0; i < lab_role_count(role); i++) {
        struct stage_wire *wire = &p->lock_wires[p->lock_wire_count++];

        open_wire(s, wire, actor, lab_server(s->lab, role, stage_node(s, role, i)),
                  protocol_of(store));
        ports[i] = wire->port;
    }
    lab_role_url(s->lab, role, &route, url);
}

static bool moves_database(const struct stage *s)
{
    enum lab_topology topology = s->setup->scenario->topology;

    return topology == LAB_TOPOLOGY_STANDBY || topology == LAB_TOPOLOGY_SYNCED;
}

void stage_open_wires(struct stage *s, struct stage_process *p, int actor)
{
    open_lock_wires(s, p, actor);
    if (actor == STAGE_NOBODY)
        return;
    open_wire(s, &p->sale_wire, actor, lab_server(s->lab, LAB_POSTGRES, 0),
              PROXY_POSTGRES);
    /* The shop follows a promotion by an address with both servers. */
    lab_service_url(s->lab,
                    moves_database(s) ? lab_port(s->lab, LAB_POSTGRES, 0) : p->sale_wire.port,
                    p->part.sale_url, LAB_URL_MAX);
    if (s->setup->scenario->has_fence_epochs && stage_store(s) == DLOCK_STORE_REDIS)
        lab_service_url(s->lab, p->sale_wire.port, p->part.urls.database_url,
                        LAB_URL_MAX);
}

void stage_close_wires(struct stage_process *p)
{
    for (int i = 0; i < p->lock_wire_count; i++)
        proxy_close(p->lock_wires[i].proxy);
    p->lock_wire_count = 0;
    proxy_close(p->sale_wire.proxy);
    p->sale_wire.proxy = NULL;
}

/* ---- faults of connections, for play() ---- */

static struct stage_wire *wire_at(struct actor *a, enum actor_wire wire, int node)
{
    return wire == WIRE_SHOP ? &a->process->sale_wire : &a->process->lock_wires[node];
}

static int wire_count(const struct actor *a, enum actor_wire wire)
{
    return wire == WIRE_SHOP ? 1 : a->process->lock_wire_count;
}

bool actor_has_wire(const struct actor *a, enum actor_wire wire)
{
    const struct stage_process *p = a->process;

    return wire_count(a, wire) > 0 &&
           (wire == WIRE_SHOP ? &p->sale_wire : &p->lock_wires[0])->proxy != NULL;
}

static void arm(struct actor *a, struct stage_wire *wire, const char *fault)
{
    char why[PROXY_WHY_MAX];

    wire->last_fault = proxy_arm(wire->proxy, fault, why);
    if (wire->last_fault < 0)
        stage_fail(a->stage, "the wire of %s to %s: %s", a->name, wire->server, why);
}

static void say_armed(struct actor *a, const char *where, const char *fault)
{
    char english[SCENARIO_LINE_MAX], chinese[SCENARIO_LINE_MAX];

    snprintf(english, sizeof english, "the wire of %s to %s: %s", a->name, where, fault);
    snprintf(chinese, sizeof chinese, "%s 到 %s 的线路：%s", stage_person(a, true), where,
             fault);
    stage_say(a->stage, LINE_FAULT, a->index, english, chinese);
}

void actor_wire(struct actor *a, enum actor_wire wire, const char *fault)
{
    if (!actor_has_wire(a, wire))
        stage_fail(a->stage, "the lock %s has no wire", a->stage->setup->lock->name);
    say_armed(a, wire == WIRE_SHOP ? "the shop" : a->stage->setup->lock->store, fault);
    for (int i = 0; i < wire_count(a, wire); i++)
        arm(a, wire_at(a, wire, i), fault);
}

/* The name of the lock begins with that of the scenario; in etcd's JSON it is in base64. */
void actor_wire_asking(struct actor *a, const char *fault)
{
    const char *words = stage_store(a->stage) == DLOCK_STORE_ETCD
                            ? "request_put"
                            : a->stage->setup->scenario->name;
    char text[FAULT_SIZE];

    snprintf(text, sizeof text, "%s at to-server %s", fault, words);
    actor_wire(a, WIRE_LOCK, text);
}

void actor_wire_node(struct actor *a, int node, const char *fault)
{
    if (node < 0 || node >= a->process->lock_wire_count)
        stage_fail(a->stage, "the lock %s has no server number %d",
                   a->stage->setup->lock->name, node);
    say_armed(a, a->process->lock_wires[node].server, fault);
    arm(a, &a->process->lock_wires[node], fault);
}

/* Wait until the last fault of the wire has struck.  A call whose lease is over may end without a
 * request, so that the fault never strikes. */
static void await_strike(struct actor *a, const struct stage_wire *w)
{
    int64_t by_ns = dlock_clock_after(dlock_clock_ns(), SCENARIO_STEP_MS);

    while (!proxy_wait(w->proxy, w->last_fault, LOOK_MS)) {
        if (a->is_busy && actor_has_ended(a) && !proxy_wait(w->proxy, w->last_fault, 0))
            stage_need_in_time(a->stage, false, "it ended before its wire could fail");
        if (dlock_clock_ns() >= by_ns)
            stage_fail(a->stage, "what was to go wrong between %s and %s did not",
                       a->name, w->server);
    }
}

void actor_await_wire(struct actor *a, enum actor_wire wire)
{
    for (int i = 0; i < wire_count(a, wire); i++)
        if (wire_at(a, wire, i)->last_fault >= 0)
            await_strike(a, wire_at(a, wire, i));
}

void actor_cut_wire(struct actor *a, enum actor_wire wire)
{
    for (int i = 0; i < wire_count(a, wire); i++) {
        struct stage_wire *w = wire_at(a, wire, i);
        struct proxy_strike strike;
        char fault[64];

        if (!proxy_look(w->proxy, w->last_fault, &strike) || strike.strikes == 0)
            stage_fail(a->stage, "nothing has struck between %s and %s", a->name,
                       w->server);
        snprintf(fault, sizeof fault, "cut to-client of connection %" PRIu64,
                 strike.connection);
        say_armed(a, w->server, fault);
        arm(a, w, fault);
    }
}

/* Note the end of a hold that stopped a message, as a release would. */
static void mend(struct stage_wire *w)
{
    for (int i = w->mended_count; i <= w->last_fault; i++) {
        struct proxy_strike strike;

        if (proxy_look(w->proxy, i, &strike) && strike.strikes > 0 &&
            strncmp(strike.text, "hold", 4) == 0)
            record_strike(w, "release");
        proxy_disarm(w->proxy, i);
    }
    w->mended_count = w->last_fault + 1;
}

void actor_wire_mend(struct actor *a, enum actor_wire wire)
{
    say_armed(a, wire == WIRE_SHOP ? "the shop" : a->stage->setup->lock->store, "mended");
    for (int i = 0; i < wire_count(a, wire); i++)
        mend(wire_at(a, wire, i));
}
