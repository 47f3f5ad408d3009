/* SPDX-License-Identifier: MIT */
/* wish.c -- reads the POST requests of browsers. */
#include "loadtest/show/wish.h"

#include <stdio.h>
#include <string.h>

#include "loadtest/show/lesson_wish.h"
#include "loadtest/show/trouble.h"

enum { BRACKETS_MAX = 8, FIELDS_MAX = 4 };

/* The paths, with the fields that a body may have.  Settings are checked where they are read, and
 * the kinds of the lessons by lesson_wish.c. */
static const struct post {
    const char *path;
    enum show_wish_kind kind;
    const char *fields[FIELDS_MAX];
} POSTS[] = {
    {"/api/run", SHOW_WISH_RUN, {NULL}},
    {"/api/offer", SHOW_WISH_OFFER, {NULL}},
    {"/api/run/stop", SHOW_WISH_STOP, {NULL}},
    {"/api/fault", SHOW_WISH_FAULT, {"name", "target", "server", "by_ms"}},
    {"/api/heal", SHOW_WISH_HEAL, {NULL}},
    {"/api/lesson", SHOW_WISH_LESSON, {"number"}},
    {"/api/lesson/predict", SHOW_WISH_PREDICT, {"answer"}},
    {"/api/lesson/run", SHOW_WISH_LESSON_RUN, {NULL}},
};

static const struct post *find(const char *path)
{
    for (size_t i = 0; i < sizeof POSTS / sizeof POSTS[0]; i++)
        if (strcmp(path, POSTS[i].path) == 0)
            return &POSTS[i];
    return NULL;
}

bool wish_is_path(const char *path)
{
    return find(path) != NULL;
}

/* jansson calls itself once a level, so that brackets alone would use up the stack of a thread; no
 * body needs more than one. */
json_t *wish_body(const char *text, size_t size, const char **wrong)
{
    json_t *body;
    int brackets = 0;

    for (size_t i = 0; i < size; i++)
        brackets += text[i] == '[' || text[i] == '{';
    if (brackets > BRACKETS_MAX) {
        *wrong = "the body has more brackets than any request needs";
        return NULL;
    }
    body = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    if (json_is_object(body))
        return body;
    *wrong = "the body is no JSON object, or names a field twice";
    json_decref(body);
    return NULL;
}

/* Has the body only fields that are read?  A request with another field would be carried out only
 * in part. */
static bool has_only(const json_t *body, const struct post *post, char *why)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)body, name, value) {
        bool is_known = false;

        for (size_t i = 0; i < FIELDS_MAX && post->fields[i]; i++)
            is_known = is_known || strcmp(name, post->fields[i]) == 0;
        if (!is_known) {
            why_say(why, "%s takes no field %.40s", post->path, name);
            return false;
        }
    }
    return true;
}

/* The value of a field; NULL: it is missing, or null. */
static const json_t *given(const json_t *body, const char *name)
{
    const json_t *value = json_object_get(body, name);

    return json_is_null(value) ? NULL : value;
}

/* A fault or its end: {"name": "freeze", "target": 1}, {"name": "clock", "server": "redis",
 * "by_ms": 30000}; all but the name may be missing. */
static const char *read_fault(const json_t *body, struct show_wish *wish)
{
    const char *name = json_string_value(json_object_get(body, "name"));
    const json_t *in = given(body, "server"), *target = given(body, "target");
    const json_t *by = given(body, "by_ms");
    const char *server = in ? json_string_value(in) : "";

    if (!name || trouble_find(name) < 0)
        return "name has to be one of the faults that GET /api/catalog names";
    if (by && !json_is_integer(by))
        return "by_ms has to be a whole number of milliseconds";
    if (!server || strlen(server) >= sizeof wish->server)
        return "server has to be the name of a server of the lab";
    if (target && (!json_is_integer(target) || json_integer_value(target) < 1 ||
                   json_integer_value(target) > wish->switches.processes))
        return "target has to be the number of a process";
    snprintf(wish->fault, sizeof wish->fault, "%s", name);
    snprintf(wish->server, sizeof wish->server, "%s", server);
    wish->by_ms = json_integer_value(by);
    wish->target = target ? (int)json_integer_value(target) - 1 : -1;
    return NULL;
}

const char *wish_read(const char *path, const json_t *body, struct show_wish *wish,
                      char why[WHY_MAX])
{
    const struct post *post = find(path);

    wish->kind = post->kind;
    wish->base = wish->switches;
    if (post->kind == SHOW_WISH_RUN || post->kind == SHOW_WISH_OFFER)
        return show_switches_read(&wish->switches, body, why) ? NULL : why;
    if (!has_only(body, post, why))
        return why;
    return post->kind == SHOW_WISH_FAULT ? read_fault(body, wish)
                                         : lesson_wish_read(body, wish);
}
