/* SPDX-License-Identifier: MIT */
/* config_addresses.c -- the settings that name stores of locks. */
#include "app/config_addresses.h"

#include <stdio.h>
#include <string.h>

#include "base/redis/outcome.h"
#include "base/redis/url.h"
#include "lock/stores/etcd_address.h"
#include "lock/stores/zookeeper_path.h"

enum { SAID_SIZE = 512, URL_MAX = 2048 };

/* NULL: the program has no such setting. */
static const struct setting_origin *origin_of(const struct settings *s, const char *name)
{
    const struct setting_program *program = s->program;

    for (size_t i = 0; i < program->count; i++)
        if (strcmp(program->settings[i].name, name) == 0)
            return &s->origins[i];
    return NULL;
}

const char *config_source(const struct settings *s, const char *name)
{
    const struct setting_origin *origin = origin_of(s, name);

    return origin != NULL ? origin->source : "default";
}

static bool read_redis(const char *text, char said[SAID_SIZE])
{
    struct redis_url url;
    char why[REDIS_WHY_SIZE];
    bool is_good = redis_url_parse(text, &url, why, sizeof(why));

    if (!is_good)
        (void)snprintf(said, SAID_SIZE, "the Redis URL cannot be read, %s; it has to be %s", why,
                       redis_url_form(text));
    explicit_bzero(&url, sizeof(url));
    return is_good;
}

static bool read_redis_list(const char *text, char said[SAID_SIZE])
{
    for (int number = 1;; number++) {
        size_t len = strcspn(text, ",");
        char one[URL_MAX], why[SAID_SIZE];
        bool is_good;

        if (len >= sizeof(one)) {
            (void)snprintf(said, SAID_SIZE, "URL %d of the list is over %d bytes", number,
                           (int)URL_MAX - 1);
            return false;
        }
        (void)snprintf(one, sizeof(one), "%.*s", (int)len, text);
        is_good = read_redis(one, why);
        explicit_bzero(one, sizeof(one));
        if (!is_good) {
            (void)snprintf(said, SAID_SIZE, "in URL %d of the list: %.440s", number, why);
            return false;
        }
        if (text[len] == '\0')
            return true;
        text += len + 1;
    }
}

static bool read_etcd(const char *text, char said[SAID_SIZE])
{
    struct etcd_address address;
    char why[ETCD_WHY_SIZE];
    bool is_good = etcd_address_read(text, &address, why);

    if (!is_good)
        (void)snprintf(said, SAID_SIZE, "the URL of the etcd cannot be read, %s", why);
    explicit_bzero(&address, sizeof(address));
    return is_good;
}

static bool read_zookeeper(const char *text, char said[SAID_SIZE])
{
    bool is_good = zookeeper_url_check(text) == DLOCK_OK;

    if (!is_good)
        (void)snprintf(said, SAID_SIZE, "%s", dlock_error());
    return is_good;
}

bool config_addresses_are_good(const struct settings *s)
{
    static const struct {
        const char *name;
        bool (*read)(const char *text, char said[SAID_SIZE]);
    } ADDRESSES[] = {{"redis-url", read_redis},
                     {"redlock-urls", read_redis_list},
                     {"zookeeper-url", read_zookeeper},
                     {"etcd-url", read_etcd}};
    char said[SAID_SIZE];

    for (size_t i = 0; i < sizeof(ADDRESSES) / sizeof(ADDRESSES[0]); i++) {
        const struct setting_origin *origin = origin_of(s, ADDRESSES[i].name);

        if (origin == NULL || origin->text == NULL || ADDRESSES[i].read(origin->text, said))
            continue;
        fprintf(stderr, "seckilld: --%s (%s): %s\n", ADDRESSES[i].name, origin->source, said);
        return false;
    }
    return true;
}
