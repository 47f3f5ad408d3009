/* SPDX-License-Identifier: MIT */
/* fault.c -- arming, catching and releasing at the points of fault.h.
 *
 * A single mutex guards every point.  A thread that passes a point while nothing is
 * armed never touches the mutex. */
#include "lock/fault.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "lock/process.h"
#include "lock/record/faults.h"

atomic_int dlock_fault_armed_count;

static const char *const point_names[] = {
#define X(id, name, more, where) name,
    DLOCK_FAULT_POINTS(X)
#undef X
};
static const char *const point_places[] = {
#define X(id, name, more, where) where,
    DLOCK_FAULT_POINTS(X)
#undef X
};
static const unsigned point_actions[] = {
#define X(id, name, more, where) (more),
    DLOCK_FAULT_POINTS(X)
#undef X
};
static const char *const action_names[] = {
#define X(id, name, what) name,
    DLOCK_FAULT_ACTIONS(X)
#undef X
};

static struct dlock_fault_points *points_here(void)
{
    return &dlock_process_here()->faults;
}

/* The caller of these two holds the mutex. */
static void set_armed(struct dlock_fault_at *p, bool armed)
{
    if (p->armed != armed)
        atomic_fetch_add(&dlock_fault_armed_count, armed ? 1 : -1);
    p->armed = armed;
}

static bool fits(const struct dlock_fault_at *p, const char *key)
{
    return p->armed && (p->wanted[0] == '\0' || strcmp(p->wanted, key) == 0);
}

/* The assumption of a lease that an action at this point breaks.  NONE if the process
 * dies, or if only the order's connection to the database fails. */
static dlock_assumption broken_by(dlock_fault_point point, dlock_fault_action action)
{
    if (action == DLOCK_FAULT_KILL)
        return DLOCK_ASSUMES_NONE;
    if (action == DLOCK_FAULT_STOP)
        return DLOCK_ASSUMES_PROCESS;
    if (point == DLOCK_FAULT_WATCHDOG_TICK || point == DLOCK_FAULT_BEFORE_WATCH)
        return DLOCK_ASSUMES_WATCHDOG;
    if (action == DLOCK_FAULT_FAIL || action == DLOCK_FAULT_CUT)
        return point <= DLOCK_FAULT_BEFORE_RELEASE ? DLOCK_ASSUMES_NONE
                                                   : DLOCK_ASSUMES_NETWORK;
    if (point == DLOCK_FAULT_BEFORE_REQUEST || point == DLOCK_FAULT_AFTER_REPLY)
        return DLOCK_ASSUMES_NETWORK;
    if (point == DLOCK_FAULT_BETWEEN_CHECK_AND_DELETE)
        return DLOCK_ASSUMES_RELEASE;
    return DLOCK_ASSUMES_WORK;
}

static void record(dlock_fault_point point, dlock_fault_action action,
                   dlock_fault_phase phase)
{
    dlock_record_fault(point_names[point], phase, broken_by(point, action));
}

/* Wait until the point is released.  The caller holds the mutex. */
static void hold(struct dlock_fault_points *points, dlock_fault_point point)
{
    struct dlock_fault_at *p = &points->at[point];
    uint64_t releases_seen = p->releases;

    p->holding = true;
    record(point, DLOCK_FAULT_HOLD, DLOCK_FAULT_HAS_BEGUN);
    while (p->releases == releases_seen)
        dlock_condition_wait(&points->let_go, &points->mutex);
    record(point, DLOCK_FAULT_HOLD, DLOCK_FAULT_HAS_ENDED);
}

/* raise(), not kill(): this very thread must not run on until the signal arrives. */
static void signal_ourselves(dlock_fault_point point, dlock_fault_action action)
{
    record(point, action, DLOCK_FAULT_HAS_BEGUN);
    raise(action == DLOCK_FAULT_STOP ? SIGSTOP : SIGKILL);
    record(point, action, DLOCK_FAULT_HAS_ENDED);
}

static _Thread_local bool is_spared;

void dlock_fault_spare_thread(void)
{
    is_spared = true;
}

dlock_fault_action dlock_fault_reach(dlock_fault_point point, const char *key)
{
    struct dlock_fault_points *points = points_here();
    struct dlock_fault_at *p = &points->at[point];
    dlock_fault_action action = DLOCK_FAULT_NOTHING;

    if (is_spared)
        return DLOCK_FAULT_NOTHING;
    if (key == NULL)
        key = "";
    dlock_mutex_lock(&points->mutex);
    if (fits(p, key)) {
        set_armed(p, false);
        p->caught++;
        snprintf(p->key, sizeof(p->key), "%s", key);
        action = p->action;
        if (action == DLOCK_FAULT_HOLD)
            hold(points, point);
    }
    dlock_mutex_unlock(&points->mutex);
    switch (action) {
    case DLOCK_FAULT_STOP:
    case DLOCK_FAULT_KILL:
        signal_ourselves(point, action);
        return DLOCK_FAULT_NOTHING;
    case DLOCK_FAULT_FAIL:
    case DLOCK_FAULT_CUT:
        record(point, action, DLOCK_FAULT_HAPPENED);
        return action;
    default:
        return DLOCK_FAULT_NOTHING;
    }
}

bool dlock_fault_can(dlock_fault_point point, dlock_fault_action action)
{
    return (action != DLOCK_FAULT_FAIL && action != DLOCK_FAULT_CUT) ||
           (point_actions[point] & 1u << action);
}

void dlock_fault_allow(void)
{
    atomic_store(&points_here()->allowed, true);
}

bool dlock_fault_is_allowed(void)
{
    return atomic_load(&points_here()->allowed);
}

bool dlock_fault_arm(dlock_fault_point point, dlock_fault_action action,
                     const char *key)
{
    struct dlock_fault_points *points = points_here();
    struct dlock_fault_at *p = &points->at[point];
    bool done = false;

    if (key == NULL)
        key = "";
    if (!dlock_fault_is_allowed() || strlen(key) > DLOCK_FAULT_KEY_MAX ||
        !dlock_fault_can(point, action))
        return false;
    dlock_mutex_lock(&points->mutex);
    if (!p->armed && !p->holding) {
        p->action = action;
        snprintf(p->wanted, sizeof(p->wanted), "%s", key);
        set_armed(p, true);
        done = true;
    }
    dlock_mutex_unlock(&points->mutex);
    return done;
}

bool dlock_fault_release(dlock_fault_point point)
{
    struct dlock_fault_points *points = points_here();
    struct dlock_fault_at *p = &points->at[point];
    bool done;

    dlock_mutex_lock(&points->mutex);
    done = p->armed || p->holding;
    set_armed(p, false);
    p->holding = false;
    p->releases++;
    dlock_condition_broadcast(&points->let_go);
    dlock_mutex_unlock(&points->mutex);
    return done;
}

void dlock_fault_look(dlock_fault_point point, dlock_fault_state *out)
{
    struct dlock_fault_points *points = points_here();
    const struct dlock_fault_at *p = &points->at[point];

    dlock_mutex_lock(&points->mutex);
    out->armed = p->armed;
    out->holding = p->holding;
    out->caught = p->caught;
    memcpy(out->key, p->key, sizeof(out->key));
    dlock_mutex_unlock(&points->mutex);
}

static int find(const char *const *names, int count, const char *name)
{
    for (int i = 0; name != NULL && i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

const char *dlock_fault_point_name(dlock_fault_point point)
{
    return point_names[point];
}

const char *dlock_fault_point_where(dlock_fault_point point)
{
    return point_places[point];
}

int dlock_fault_point_find(const char *name)
{
    return find(point_names, DLOCK_FAULT_POINT_COUNT, name);
}

const char *dlock_fault_action_name(dlock_fault_action action)
{
    return action_names[action];
}

int dlock_fault_action_find(const char *name)
{
    return find(action_names, DLOCK_FAULT_ACTION_COUNT, name);
}
