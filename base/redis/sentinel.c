/* SPDX-License-Identifier: MIT */
/* sentinel.c -- the questions to a Sentinel about a master, and its answers. */
#include "base/redis/sentinel.h"

#include <stdio.h>
#include <string.h>

#include "base/os/number.h"
#include "base/redis/cluster_view.h"

enum { PORT_MAX = 65535 };

/* Read a text at depth 1 as a number that is not negative; 0: it is none. */
static int64_t read_count(const struct redis_part *part)
{
    int64_t number = 0;

    if (part->len > 18)
        return 0;
    for (size_t i = 0; i < part->len; i++) {
        if (part->text[i] < '0' || part->text[i] > '9')
            return 0;
        number = number * 10 + (part->text[i] - '0');
    }
    return number;
}

static void take_element(struct redis_said *said, const struct redis_part *part)
{
    static const char key[] = "config-epoch";

    if (said->is_epoch_next)
        said->epoch = read_count(part);
    said->is_epoch_next = part->index % 2 == 0 && part->len == sizeof(key) - 1 &&
                          memcmp(part->text, key, part->len) == 0;
    if (part->index >= 2 || part->len > REDIS_HOST_MAX ||
        memchr(part->text, '\0', part->len) != NULL)
        return;
    memcpy(said->texts[part->index], part->text, part->len);
    said->texts[part->index][part->len] = '\0';
    said->parts[part->index] = said->texts[part->index];
}

void redis_said_part(void *arg, const struct redis_part *part)
{
    struct redis_said *said = arg;
    size_t len = part->len;

    if (part->depth == 0 && part->kind == REDIS_PART_ERROR) {
        if (len >= sizeof(said->error))
            len = sizeof(said->error) - 1;
        memcpy(said->error, part->text, len);
        said->error[len] = '\0';
    } else if (part->depth == 1 && part->kind == REDIS_PART_BULK) {
        take_element(said, part);
    }
}

struct redis_command redis_ask_epoch(const char *name)
{
    return (struct redis_command){3, {"SENTINEL", "MASTER", name}, REDIS_SHAPE_ANY};
}

struct redis_command redis_ask_address(const char *name)
{
    return (struct redis_command){
        3, {"SENTINEL", "get-master-addr-by-name", name}, REDIS_SHAPE_ANY};
}

void redis_url_go_to(struct redis_url *url, const struct redis_address *place)
{
    memcpy(url->host, place->host, sizeof(url->host));
    url->port = place->port;
    snprintf(url->label, sizeof(url->label),
             strchr(url->host, ':') != NULL ? "[%s]:%d" : "%s:%d", url->host, url->port);
}

void redis_sentinel_url(const struct redis_url *url, int number, struct redis_url *out)
{
    memset(out, 0, sizeof(*out));
    memcpy(out->user, url->sentinel_user, sizeof(out->user));
    memcpy(out->password, url->sentinel_password, sizeof(out->password));
    out->is_encrypted = url->is_encrypted;
    memcpy(out->server_name, url->server_name, sizeof(out->server_name));
    out->tls = url->tls;
    redis_url_go_to(out, &url->sentinels[number]);
}

bool redis_said_address(const struct redis_said *said, struct redis_address *out)
{
    int64_t port;

    if (said->parts[0] == NULL || said->parts[1] == NULL ||
        !redis_host_is_valid(said->parts[0], strlen(said->parts[0])) ||
        !dlock_number_read(said->parts[1], strlen(said->parts[1]), 1, PORT_MAX, &port))
        return false;
    memset(out, 0, sizeof(*out));
    snprintf(out->host, sizeof(out->host), "%s", said->parts[0]);
    out->port = (int)port;
    return true;
}

const char *redis_said_why(const struct redis_said *said)
{
    return said->error[0] != '\0' ? said->error : "the Sentinel names no address";
}
