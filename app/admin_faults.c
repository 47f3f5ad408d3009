/* SPDX-License-Identifier: MIT */
/* admin_faults.c -- arming and releasing fault points over HTTP, with
 * --allow-faults. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "app/handlers.h"
#include "lock/fault.h"

enum { NAME_MAX_BYTES = 64, LIST_MAX_BYTES = 400 };

static void write_points(struct answer *an)
{
    an->outcome = OUTCOME_ACCEPTED;
    answer_json(an, 200);
    text_add(an->body, "{\"points\":{");
    for (int i = 0; i < DLOCK_FAULT_POINT_COUNT; i++) {
        dlock_fault_state state;

        dlock_fault_look((dlock_fault_point)i, &state);
        text_add(an->body,
                 "%s\"%s\":{\"armed\":%s,\"holding\":%s,\"caught\":%" PRIu64
                 ",\"key\":",
                 i > 0 ? "," : "", dlock_fault_point_name((dlock_fault_point)i),
                 state.armed ? "true" : "false", state.holding ? "true" : "false",
                 state.caught);
        text_add_json(an->body, state.key);
        text_add(an->body, "}");
    }
    text_add(an->body, "}}\n");
}

void admin_faults(const struct request *rq, struct answer *an)
{
    (void)rq;
    write_points(an);
}

static const char *point_name(int i)
{
    return dlock_fault_point_name((dlock_fault_point)i);
}

static const char *action_name(int i)
{
    return dlock_fault_action_name((dlock_fault_action)i);
}

/* Refuse an unknown name, and list the known names. */
static int refuse_name(const struct request *rq, struct answer *an, const char *what,
                       int count, const char *(*name_of)(int))
{
    char detail[LIST_MAX_BYTES];
    size_t n = (size_t)snprintf(detail, sizeof(detail), "%s must be one of", what);

    for (int i = 0; i < count && n < sizeof(detail); i++)
        n += (size_t)snprintf(detail + n, sizeof(detail) - n, "%s %s", i > 0 ? "," : "",
                              name_of(i));
    answer_outcome(rq, an, FACE_API, OUTCOME_BAD_REQUEST, detail);
    return -1;
}

static int read_point(const struct request *rq, struct answer *an)
{
    char name[NAME_MAX_BYTES];
    int point = request_query(rq, "point", name, sizeof(name))
                    ? dlock_fault_point_find(name)
                    : -1;

    return point >= 0
               ? point
               : refuse_name(rq, an, "point", DLOCK_FAULT_POINT_COUNT, point_name);
}

static int read_action(const struct request *rq, struct answer *an)
{
    char name[NAME_MAX_BYTES];
    int action = request_query(rq, "action", name, sizeof(name))
                     ? dlock_fault_action_find(name)
                     : -1;

    return action >= 0
               ? action
               : refuse_name(rq, an, "action", DLOCK_FAULT_ACTION_COUNT, action_name);
}

void admin_fault_arm(const struct request *rq, struct answer *an)
{
    char key[DLOCK_FAULT_KEY_MAX + 1];
    int point = read_point(rq, an);
    int action = point >= 0 ? read_action(rq, an) : -1;

    if (action < 0)
        return;
    if (!request_query(rq, "key", key, sizeof(key)) &&
        strstr(rq->head->query, "key=") != NULL) {
        answer_outcome(rq, an, FACE_API, OUTCOME_BAD_REQUEST,
                       "key is not a lock's name");
        return;
    }
    if (!dlock_fault_can((dlock_fault_point)point, (dlock_fault_action)action)) {
        char detail[LIST_MAX_BYTES];

        (void)snprintf(detail, sizeof(detail), "%s cannot %s; it can hold, stop%s",
                       point_name(point), action_name(action),
                       dlock_fault_can((dlock_fault_point)point, DLOCK_FAULT_FAIL)
                           ? ", kill and fail"
                           : " and kill");
        answer_outcome(rq, an, FACE_API, OUTCOME_BAD_REQUEST, detail);
        return;
    }
    if (dlock_fault_arm((dlock_fault_point)point, (dlock_fault_action)action, key))
        write_points(an);
    else
        answer_status(rq, an, FACE_API, OUTCOME_CONFLICT, 409,
                      "the fault point is armed already, or holds a thread");
}

void admin_fault_release(const struct request *rq, struct answer *an)
{
    int point = read_point(rq, an);

    if (point < 0)
        return;
    if (dlock_fault_release((dlock_fault_point)point))
        write_points(an);
    else
        answer_status(rq, an, FACE_API, OUTCOME_CONFLICT, 409,
                      "the fault point was not armed, and holds no thread");
}
