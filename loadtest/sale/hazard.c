/* SPDX-License-Identifier: MIT */
/* hazard.c -- the steps that hazards share. */
#include "loadtest/sale/hazard.h"

#include <stdio.h>
#include <string.h>

#include "base/text/duration.h"
#include "loadtest/kit/http_client.h"

/* The number of all orders under the target's lock; -1: the database does not answer. */
static int64_t count_orders(const struct hazard_scene *scene)
{
    struct audit_db_filter filter = {.first_voucher = scene->first_voucher,
                                     .last_voucher = scene->last_voucher,
                                     .user = scene->user};
    int64_t count = 0;

    return audit_db_count(scene->db, &filter, &count) ? count : -1;
}

bool hazard_lay_in_wait(struct hazard_scene *scene, const char *point)
{
    for (int i = 0; i < scene->service_count; i++) {
        if (!service_arm(&scene->services[i], point, "hold", scene->key)) {
            snprintf(scene->note, sizeof scene->note, "%s could not be armed", point);
            return false;
        }
    }
    scene->aims = true;
    return true;
}

/* Ask any service but `not_this` for the lock. */
static bool look_at_lock(const struct hazard_scene *scene, const struct service *not_this,
                         struct service_lock *out)
{
    for (int i = 0; i < scene->service_count; i++)
        if (&scene->services[i] != not_this &&
            service_look_lock_within(&scene->services[i], scene->key,
                                     HTTP_CLIENT_TIMEOUT_MS, out))
            return true;
    return false;
}

/* The thread that was just caught holds the lock.  Its lease was counted before it was
 * asked for, so it ends no earlier than that. */
static void look_at_hold(struct hazard_scene *scene)
{
    int64_t now_ns = monotonic_ns();

    if (!look_at_lock(scene, NULL, &scene->hold))
        scene->hold = (struct service_lock){.left_ms = -1};
    scene->hold_ends_ns =
        scene->hold.left_ms < 0 ? 0 : now_ns + scene->hold.left_ms * 1000000;
}

enum hazard_state hazard_caught(struct hazard_scene *scene, const char *point,
                                const struct service **where)
{
    *where = NULL;
    for (int i = 0; i < scene->service_count && !*where; i++) {
        bool held = false;

        service_is_holding(&scene->services[i], point, &held);
        if (held)
            *where = &scene->services[i];
    }
    for (int i = 0; i < scene->service_count && *where; i++) {
        if (&scene->services[i] != *where)
            service_release(&scene->services[i], point);
    }
    if (*where) {
        look_at_hold(scene);
        return HAZARD_OVER;
    }
    /* A user who has bought every voucher sends no further order. */
    if (hazard_stage_ms(scene) > HAZARD_CATCH_MS ||
        (scene->user != 0 && hazard_others_sold(scene, 0))) {
        snprintf(scene->note, sizeof scene->note, "nobody was caught at %s", point);
        return HAZARD_MISSED;
    }
    return HAZARD_GOING;
}

void hazard_let_go(const struct hazard_scene *scene, const char *point)
{
    for (int i = 0; i < scene->service_count; i++)
        service_release(&scene->services[i], point);
}

bool hazard_arm(const struct hazard *hazard, struct hazard_scene *scene)
{
    return !hazard->point || (hazard->needs_gap && !scene->has_gap) ||
           hazard_lay_in_wait(scene, hazard->point);
}

/* Undo the hazard before the points: a stopped process cannot execute the order to release a
 * point. */
void hazard_undo(const struct hazard *hazard, struct hazard_scene *scene)
{
    if (hazard->undo)
        hazard->undo(scene);
    if (hazard->point)
        hazard_let_go(scene, hazard->point);
}

void hazard_contend(struct hazard_scene *scene)
{
    if (!scene->contends && scene->control)
        control_begin_era(scene->control);
    scene->contends = true;
}

int64_t hazard_tried(const struct hazard_scene *scene)
{
    return scene->contends && scene->control ? control_tried(scene->control) : 0;
}

bool hazard_stays_out(const struct hazard_scene *scene, const struct service *not_this)
{
    struct service_lock now;

    /* Count by orders: a process that held the lock and released it has left one. */
    return hazard_tried(scene) >= HAZARD_TRIES && scene->hold.is_locked &&
           look_at_lock(scene, not_this, &now) && now.is_locked &&
           strcmp(now.owner, scene->hold.owner) == 0 &&
           scene->baseline >= 0 && count_orders(scene) == scene->baseline;
}

void hazard_next(struct hazard_scene *scene)
{
    scene->contends = false;
    scene->stage++;
    scene->stage_ns = monotonic_ns();
    scene->baseline = count_orders(scene);
}

int64_t hazard_stage_ms(const struct hazard_scene *scene)
{
    return (monotonic_ns() - scene->stage_ns) / 1000000;
}

bool hazard_others_sold(const struct hazard_scene *scene, int64_t count)
{
    int64_t orders = count_orders(scene);

    if (scene->user != 0)
        return orders > scene->last_voucher - scene->first_voucher;
    return scene->baseline >= 0 && orders >= scene->baseline + count;
}
