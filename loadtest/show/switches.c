/* SPDX-License-Identifier: MIT */
/* switches.c -- the settings of a sale: as flags, as JSON, as a command line. */
#include "loadtest/show/switches.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "db/guard.h"
#include "db/order_paths.h"
#include "loadtest/kit/name_list.h"

NAME_LIST(show_scope_at, [SHOW_SCOPE_USER] = "user", [SHOW_SCOPE_VOUCHER] = "voucher")
NAME_LIST(show_users_at, [SHOW_USERS_DIFFERENT] = "different",
          [SHOW_USERS_SAME] = "same")
NAME_LIST(show_on_off_at, "on", "off")

bool show_switches_same_user(const struct show_switches *switches)
{
    return strcmp(switches->users, show_users_at(SHOW_USERS_SAME)) == 0;
}

static int print_number(char *out, size_t size, const char *flag, int64_t value)
{
    return snprintf(out, size, "--%s=%" PRId64 "%s", flag, value,
                    strcmp(flag, "lock-lease") == 0 ? "ms" : "");
}

void show_flags_make(struct show_flags *out, const struct show_switches *switches)
{
    size_t n = 0;

#define X(field, flag, of_service, names)                                              \
    if (of_service)                                                                    \
        snprintf(out->text[n++], SHOW_FLAG_MAX, "--%s=%s", flag, switches->field);
    SHOW_CHOICES(X)
#undef X
#define X(field, flag, of_service, least, most)                                        \
    if (of_service)                                                                    \
        print_number(out->text[n++], SHOW_FLAG_MAX, flag, switches->field);
    SHOW_NUMBERS(X)
#undef X
    /* A client that is refused at once asks again at once, which takes all processors. */
    snprintf(out->text[n++], SHOW_FLAG_MAX, "--lock-wait=300ms");
    /* The page shows each lock's own release, as `seckill compare` does. */
    snprintf(out->text[n++], SHOW_FLAG_MAX, "--unlock=after-commit");
    /* By default PostgreSQL ends an idle transaction after 20 s.  A process that is frozen or
     * held for longer has to be able to write when it goes on. */
    snprintf(out->text[n++], SHOW_FLAG_MAX, "--idle-transaction-timeout=10m");
    for (size_t i = 0; i < n; i++)
        out->list[i] = out->text[i];
    out->list[n] = NULL;
}

void show_command_line(char out[SHOW_COMMAND_MAX], const struct show_switches *switches,
                       int64_t limit_ms, int lesson)
{
    size_t n = (size_t)snprintf(out, SHOW_COMMAND_MAX, "seckill show");

    /* The service has the flag --lock, and a command of the laboratory the flag --locks. */
#define X(field, flag, of_service, names)                                              \
    n += (size_t)snprintf(out + n, SHOW_COMMAND_MAX - n, " --%s=%s",                   \
                          strcmp(flag, "lock") == 0 ? "locks" : flag, switches->field);
    SHOW_CHOICES(X)
#undef X
#define X(field, flag, of_service, least, most)                                        \
    out[n++] = ' ';                                                                    \
    n += (size_t)print_number(out + n, SHOW_COMMAND_MAX - n, flag, switches->field);
    SHOW_NUMBERS(X)
#undef X
    n += (size_t)snprintf(out + n, SHOW_COMMAND_MAX - n, " --limit=%" PRId64 "ms", limit_ms);
    if (lesson > 0)
        snprintf(out + n, SHOW_COMMAND_MAX - n, " --lesson=%d", lesson);
}

static bool read_choice(const json_t *object, const char *name,
                        const char *(*name_at)(size_t), const char **out, char *why)
{
    const json_t *value = json_object_get(object, name);
    size_t place = SIZE_MAX;

    if (!value)
        return true;
    if (json_is_string(value))
        place = words_place(name_at, json_string_value(value));
    if (place != SIZE_MAX)
        *out = name_at(place);
    else
        why_say(why, "%s has no such value", name);
    return place != SIZE_MAX;
}

static bool read_number(const json_t *object, const char *name, int64_t least, int64_t most,
                        int64_t *out, char *why)
{
    const json_t *value = json_object_get(object, name);
    int64_t number = json_integer_value(value);

    if (!value)
        return true;
    if (!json_is_integer(value) || number < least || number > most) {
        why_say(why, "%s has to be from %" PRId64 " to %" PRId64, name, least, most);
        return false;
    }
    *out = number;
    return true;
}

static bool is_known(const char *name)
{
#define X(field, ...)                                                                  \
    if (strcmp(name, #field) == 0)                                                     \
        return true;
    SHOW_CHOICES(X)
    SHOW_NUMBERS(X)
#undef X
    return false;
}

bool show_switches_read(struct show_switches *switches, const json_t *object, char *why)
{
    struct show_switches read = *switches;
    const char *name;
    json_t *value;
    bool ok = true;

    json_object_foreach((json_t *)(uintptr_t)object, name, value) {
        if (!is_known(name)) {
            why_say(why, "there is no setting %.40s", name);
            return false;
        }
    }
#define X(field, flag, of_service, names)                                              \
    ok = ok && read_choice(object, #field, names, &read.field, why);
    SHOW_CHOICES(X)
#undef X
#define X(field, flag, of_service, least, most)                                        \
    ok = ok && read_number(object, #field, least, most, &read.field, why);
    SHOW_NUMBERS(X)
#undef X
    if (ok)
        *switches = read;
    return ok;
}

json_t *show_switches_json(const struct show_switches *switches)
{
    json_t *json = json_object();

#define X(field, flag, of_service, names)                                              \
    json_object_set_new(json, #field, json_string(switches->field));
    SHOW_CHOICES(X)
#undef X
#define X(field, flag, of_service, least, most)                                        \
    json_object_set_new(json, #field, json_integer(switches->field));
    SHOW_NUMBERS(X)
#undef X
    return json;
}

bool show_switches_equal(const struct show_switches *a, const struct show_switches *b)
{
#define X(field, flag, of_service, names)                                              \
    if (strcmp(a->field, b->field) != 0)                                               \
        return false;
    SHOW_CHOICES(X)
#undef X
#define X(field, flag, of_service, least, most)                                        \
    if (a->field != b->field)                                                          \
        return false;
    SHOW_NUMBERS(X)
#undef X
    return true;
}
