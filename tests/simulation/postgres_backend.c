/* SPDX-License-Identifier: MIT */
/* postgres_backend.c -- the processes of the simulated PostgreSQL.
 *
 * A message takes some microseconds, a COMMIT as long as a write to a disk. A committed transaction
 * stays after any fault, even if its answer was lost. */
#include "tests/simulation/postgres_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEADLOCK_MS = 1000 };

/* ---- answers ---- */

static void add_answer(struct postgres_wire *wire, const struct postgres_answer *answer)
{
    struct postgres_answered *added = calloc(1, sizeof(*added));

    if (added == NULL)
        abort();
    added->answer = *answer;
    *wire->out_end = added;
    wire->out_end = &added->next;
}

static void send_answers(struct postgres_wire *wire)
{
    struct postgres_packet packet = {.kind = POSTGRES_PACKET_ANSWERS, .answers = wire->out};

    if (wire->out == NULL)
        return;
    wire->out = NULL;
    wire->out_end = &wire->out;
    postgres_network_send(wire, &wire->to_client, packet);
}

static void add_fatal(struct postgres_wire *wire, const char *state)
{
    struct postgres_answer answer = {.kind = POSTGRES_RESULT_ERROR, .ends_session = true};

    (void)snprintf(answer.state, sizeof(answer.state), "%s", state);
    (void)snprintf(answer.text, sizeof(answer.text),
                   "FATAL:  the server ends the session (%s)\n", state);
    add_answer(wire, &answer);
}

void postgres_backend_end(struct postgres_wire *wire, const char *state)
{
    struct model_session *session = wire->session;

    if (session == NULL)
        return;
    wire->session = NULL;
    event_drop(&wire->turn);
    event_drop(&wire->limit);
    model_session_end(&postgres_server.model, session);
    if (state != NULL)
        add_fatal(wire, state);
    send_answers(wire);
    postgres_network_send(wire, &wire->to_client,
                          (struct postgres_packet){.kind = POSTGRES_PACKET_END});
}

/* ---- limits of time ---- */

static void plan_limit(struct postgres_wire *wire, int64_t for_ms)
{
    event_plan(&wire->limit, world.now_ns + for_ms * MS);
}

static void plan_turn(struct postgres_wire *wire)
{
    const struct postgres_message *message = wire->session->first;
    int64_t for_ns = chance_between(5000, 60000) + postgres_server.slow_ns;

    if (message != NULL && message->kind == POSTGRES_EXECUTE &&
        strcmp(message->name, "order_commit") == 0)
        for_ns += chance_skewed(50000, chance_one_in(16) ? 40 * MS : 2 * MS);
    if (chance_one_in(64))
        for_ns += chance_skewed(1000, 5 * MS);
    event_plan(&wire->turn, world.now_ns + for_ns);
}

/* The backend checks for a deadlock once in each wait, and gives up at its timeouts. */
static const char *reason_to_refuse(const struct postgres_wire *wire)
{
    int64_t waited_ns = world.now_ns - wire->waits_since_ns;

    if (model_session_is_deadlocked(&postgres_server.model, wire->session))
        return "40P01";
    if (waited_ns >= wire->lock_timeout_ms * MS)
        return "55P03";
    return NULL;
}

static void reach_limit(void *arg)
{
    struct postgres_wire *wire = arg;
    struct postgres_answer answer;
    const char *state;

    if (wire->session == NULL)
        return;
    if (wire->session->waits_for == 0) {
        postgres_backend_end(wire, "25P03"); /* idle_in_transaction_session_timeout */
        return;
    }
    state = reason_to_refuse(wire);
    if (state == NULL) {
        plan_limit(wire, wire->lock_timeout_ms - DEADLOCK_MS);
        return;
    }
    tell("PostgreSQL: process %d gives up its wait: %s", wire->session->pid, state);
    model_session_refuse(&postgres_server.model, wire->session, state, &answer);
    wire->waits_since_ns = 0;
    add_answer(wire, &answer);
    plan_turn(wire);
}

/* ---- messages ---- */

static void note_message(const struct postgres_wire *wire,
                         const struct postgres_message *message)
{
    static const char *const kinds[] = {"prepare", "execute", "sync", "end"};

    if (message->kind == POSTGRES_EXECUTE)
        trace_bytes("postgres", wire->number, message->name, strlen(message->name));
    else
        trace("postgres", wire->number, message->kind);
    if (message->kind == POSTGRES_EXECUTE)
        tell("PostgreSQL: process %d: %s %s", wire->session->pid, kinds[message->kind],
             message->name);
}

static void note_answer(const struct postgres_wire *wire, const struct postgres_answer *answer)
{
    const char *first = answer->rows * answer->columns > 0 ? answer->cells[0] : NULL;

    trace_bytes("answered", wire->number, answer->state, strlen(answer->state));
    if (first != NULL)
        trace_bytes("row", answer->rows, first, strlen(first));
    if (answer->kind == POSTGRES_RESULT_ERROR)
        tell("PostgreSQL: process %d refuses: %s %s", wire->session->pid, answer->state,
             answer->constraint);
    else if (answer->kind == POSTGRES_RESULT_ROWS)
        tell("PostgreSQL: process %d answers %s: %s", wire->session->pid, answer->tag,
             first != NULL ? first : "");
}

static void begin_wait(struct postgres_wire *wire)
{
    if (wire->waits_since_ns != 0)
        return;
    wire->waits_since_ns = world.now_ns;
    tell("PostgreSQL: process %d waits for transaction %llu", wire->session->pid,
         (unsigned long long)wire->session->waits_for);
    plan_limit(wire, DEADLOCK_MS);
}

static void finish_message(struct postgres_wire *wire, const struct postgres_answer *answer)
{
    bool is_sync = answer->kind == POSTGRES_RESULT_SYNC;

    world.account->commands++;
    wire->waits_since_ns = 0;
    event_drop(&wire->limit);
    note_answer(wire, answer);
    add_answer(wire, answer);
    if (is_sync || chance_one_in(32))
        send_answers(wire);
    if (is_sync && wire->session->is_in_block)
        plan_limit(wire, wire->idle_timeout_ms);
    if (wire->session->first != NULL)
        plan_turn(wire);
}

static void take_turn(void *arg)
{
    struct postgres_wire *wire = arg;
    struct postgres_answer answer;
    enum postgres_step step;

    if (wire->session == NULL || wire->session->first == NULL)
        return;
    if (postgres_server.site.stands_until_ns > world.now_ns) {
        event_plan(&wire->turn, postgres_server.site.stands_until_ns);
        return;
    }
    if (wire->session->first->kind == POSTGRES_END) {
        postgres_backend_end(wire, NULL);
        return;
    }
    if (!wire->session->has_waited)
        note_message(wire, wire->session->first);
    step = model_session_step(&postgres_server.model, wire->session, &answer);
    if (step == POSTGRES_WAITS)
        begin_wait(wire);
    else if (step == POSTGRES_DONE)
        finish_message(wire, &answer);
}

void postgres_backend_wake(struct model_session *session)
{
    struct postgres_wire *wire = session->owner;

    if (session->is_over && wire->session == session) {
        wire->session = NULL;
        event_drop(&wire->turn);
        event_drop(&wire->limit);
        add_fatal(wire, "57P01");
        send_answers(wire);
        postgres_network_send(wire, &wire->to_client,
                              (struct postgres_packet){.kind = POSTGRES_PACKET_END});
    } else if (wire->session == session) {
        event_plan(&wire->turn, world.now_ns + chance_between(1000, 60000));
    }
}

/* ---- a connection's life ---- */

void postgres_backend_open(struct postgres_wire *wire)
{
    if (postgres_server.is_down) {
        postgres_network_send(wire, &wire->to_client,
                              (struct postgres_packet){.kind = POSTGRES_PACKET_REFUSED});
        return;
    }
    wire->session = model_session_begin(&postgres_server.model, wire);
    wire->backend_pid = wire->session->pid;
    wire->turn = (struct event){.run = take_turn, .arg = wire};
    wire->limit = (struct event){.run = reach_limit, .arg = wire};
    postgres_network_send(wire, &wire->to_client,
                          (struct postgres_packet){.kind = POSTGRES_PACKET_OPENED});
}

void postgres_backend_give(struct postgres_wire *wire, struct postgres_message *messages)
{
    bool was_idle = wire->session != NULL && wire->session->first == NULL;

    while (messages != NULL) {
        struct postgres_message *message = messages;

        messages = message->next;
        if (wire->session != NULL)
            model_session_give(wire->session, message);
        else
            postgres_message_free(message);
    }
    if (!was_idle)
        return;
    event_drop(&wire->limit);
    plan_turn(wire);
}

void postgres_backend_hang_up(struct postgres_wire *wire)
{
    struct postgres_message *end;

    if (wire->session == NULL)
        return;
    end = calloc(1, sizeof(*end));
    if (end == NULL)
        abort();
    end->kind = POSTGRES_END;
    postgres_backend_give(wire, end);
}
