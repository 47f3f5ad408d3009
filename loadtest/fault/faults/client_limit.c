/* SPDX-License-Identifier: MIT */
/* client_limit.c -- the server has reached its limit of clients: open connections stay,
 * and new ones are refused.
 *
 * Redis counts all clients (maxclients), PostgreSQL those of the service's role
 * (CONNECTION LIMIT).  Both check the limit only when a client connects, so the limit is
 * set below the present number.  A full Redis refuses the laboratory as well, so the limit
 * is lifted over the connection that set it.  If that connection is lost, only a restart
 * of the server lifts the limit. */
#include <inttypes.h>
#include <string.h>

#include "db/backend.h"
#include "loadtest/fault/redis.h"

enum {
    REDIS_LEAST = 1,    /* the least that Redis accepts */
    POSTGRES_LEAST = 0, /* -1 would be no limit                                       */
    URL_MAX = 256,
    ERROR_MAX = 256,
};

struct client_limit {
    bool is_set;
    int64_t before;
    struct redis_side *side; /* NULL: not of a Redis                                  */
};

static bool is_redis(const struct fault_scene *scene)
{
    return lab_server_kind(scene->server) == LAB_IS_REDIS;
}

/* ---- Redis ---- */

static bool set_redis(struct fault_scene *scene, struct redis_side *side, int64_t limit)
{
    if (redis_side_ask(side, "CONFIG SET maxclients %lld", (long long)limit) !=
        REDIS_SAID)
        return fault_redis_complain(scene, side, "CONFIG SET maxclients");
    return redis_side_info_number(side, "maxclients") == limit ||
           server_fault_complain(scene, "its maxclients is not what it was set to");
}

/* Whether Redis refuses a new client, by its own count of refused connections. */
static bool refuses_redis(struct fault_scene *scene, struct redis_side *side)
{
    int64_t before = redis_side_info_number(side, "rejected_connections"), after;
    struct redis_side *other = redis_side_open(scene->lab, scene->server, REDIS_SIDE_MS);
    bool is_in = redis_side_ask(other, "PING") != REDIS_SILENT;

    redis_side_close(other);
    after = redis_side_info_number(side, "rejected_connections");
    if (is_in || before < 0 || after <= before)
        return server_fault_complain(scene, "it lets others in, though it is full");
    server_fault_note(scene,
                      "%s: maxclients:%d with connected_clients:%" PRId64
                      ", and rejected_connections +%" PRId64,
                      scene->server->name, REDIS_LEAST,
                      redis_side_info_number(side, "connected_clients"), after - before);
    return true;
}

static bool fill_redis(struct fault_scene *scene, struct client_limit *limit)
{
    limit->side = fault_redis_open(scene);
    scene->side = NULL;
    if (!limit->side)
        return false;
    limit->before = redis_side_info_number(limit->side, "maxclients");
    if (limit->before < 0)
        return server_fault_complain(
            scene, "it does not say its maxclients; that takes Redis 7");
    limit->is_set = true;
    return set_redis(scene, limit->side, REDIS_LEAST) &&
           refuses_redis(scene, limit->side);
}

static bool lift_redis(struct fault_scene *scene, struct client_limit *limit)
{
    if (redis_side_ask(limit->side, "PING") == REDIS_SILENT) {
        redis_side_close(limit->side); /* a server that was restarted has no limit any
                                        * more */
        limit->side = fault_redis_open(scene);
        scene->side = NULL;
    }
    if (!limit->side || !set_redis(scene, limit->side, limit->before))
        return server_fault_complain(scene, "it stays full\n"
                                            "  restart it: seckill lab restart %s",
                                     scene->server->name);
    if (!fault_redis_open(scene))
        return false;
    server_fault_note(scene, "%s: maxclients:%" PRId64 ", and others are let in",
                      scene->server->name, limit->before);
    return true;
}

/* ---- PostgreSQL ---- */

static bool set_postgres(const struct fault_scene *scene, lab_db *db, int limit)
{
    int now;

    if (!db_limit_service(db, limit) || !db_service_limit(db, &now))
        return server_fault_complain(scene, "%s", lab_db_error(db));
    return now == limit ||
           server_fault_complain(scene, "the limit of its role is not what it was set to");
}

/* Connect as the service does.  False: why not. */
static bool enters_postgres(const struct fault_scene *scene, char error[ERROR_MAX])
{
    char url[URL_MAX];
    lab_db *db;
    bool ok;

    lab_service_url(scene->lab, lab_port(scene->lab, LAB_POSTGRES, 0), url, sizeof url);
    ok = lab_db_open(&db, url, error, ERROR_MAX);
    if (ok)
        lab_db_close(db);
    return ok;
}

static bool refuses_postgres(struct fault_scene *scene)
{
    char error[ERROR_MAX] = "";
    const char *said;

    if (enters_postgres(scene, error))
        return server_fault_complain(scene, "it lets the service in, though it is full");
    said = strstr(error, "too many connections");
    if (!said)
        return server_fault_complain(scene, "the service is refused for another reason: %s",
                                     error);
    server_fault_note(scene, "%s: rolconnlimit is %d, and the service is told: %.*s",
                      scene->server->name, POSTGRES_LEAST, (int)strcspn(said, "\n"),
                      said);
    return true;
}

static bool fill_postgres(struct fault_scene *scene, struct client_limit *limit)
{
    lab_db *db = server_fault_database(scene);
    int before;

    if (!db)
        return false;
    if (!db_service_limit(db, &before))
        return server_fault_complain(scene, "%s", lab_db_error(db));
    limit->before = before;
    limit->is_set = true;
    return set_postgres(scene, db, POSTGRES_LEAST) && refuses_postgres(scene);
}

static bool lift_postgres(struct fault_scene *scene, const struct client_limit *limit)
{
    lab_db *db = server_fault_database(scene);
    char error[ERROR_MAX] = "";

    if (!db || !set_postgres(scene, db, (int)limit->before))
        return false;
    if (!enters_postgres(scene, error))
        return server_fault_complain(scene, "%s", error);
    server_fault_note(scene, "%s: rolconnlimit is %" PRId64 ", and the service is let in",
                      scene->server->name, limit->before);
    return true;
}

/* ---- both ---- */

static bool begin(struct fault_scene *scene)
{
    struct client_limit *limit = server_fault_state(scene, sizeof *limit);

    return is_redis(scene) ? fill_redis(scene, limit) : fill_postgres(scene, limit);
}

static bool end(struct fault_scene *scene)
{
    struct client_limit *limit = server_fault_state(scene, sizeof *limit);

    if (!limit->is_set)
        return true;
    limit->is_set =
        !(is_redis(scene) ? lift_redis(scene, limit) : lift_postgres(scene, limit));
    return !limit->is_set;
}

static bool disarm(struct fault_scene *scene)
{
    struct client_limit *limit = server_fault_state(scene, sizeof *limit);

    redis_side_close(limit->side);
    limit->side = NULL;
    return true;
}

const struct server_fault fault_client_limit = {
    .name = "client-limit",
    .does = "the server is full: it refuses new connections and keeps those it has",
    .servers = FAULT_ON(LAB_IS_REDIS) | FAULT_ON(LAB_IS_POSTGRES),
    .breaks = {[LAB_IS_REDIS] = DLOCK_ASSUMES_NETWORK,
               [LAB_IS_POSTGRES] = DLOCK_ASSUMES_NETWORK},
    .begin = begin,
    .end = end,
    .disarm = disarm,
};
