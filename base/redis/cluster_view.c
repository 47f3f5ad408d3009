/* SPDX-License-Identifier: MIT */
/* cluster_view.c -- parses one node's description of a Redis Cluster.
 *
 * A line is "id host:port@bus[,name] flags master ping pong epoch link slot slot ...".  A slot is
 * "n" or "n-m"; "[n->-id]" and "[n-<-id]" tell of a slot that is moving, which still is where
 * it was. */
#include "base/redis/cluster_view.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { PORT_MAX = 65535, FIELDS_BEFORE_SLOTS = 8 };

/* A word of the text. */
struct word {
    const char *at;
    size_t len;
};

/* Take the next word of [*at, end).  Its len is 0 where there is none. */
static struct word next_word(const char **at, const char *end)
{
    struct word word;

    while (*at < end && **at == ' ')
        ++*at;
    word.at = *at;
    while (*at < end && **at != ' ')
        ++*at;
    word.len = (size_t)(*at - word.at);
    return word;
}

static bool read_count(const char *text, size_t len, int64_t max, int64_t *out)
{
    int64_t number = 0;

    if (len == 0 || len > 18)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        number = number * 10 + (text[i] - '0');
    }
    *out = number;
    return number <= max;
}

/* Is `flag` one of the flags, which are separated by commas? */
static bool has_flag(const struct word *flags, const char *flag)
{
    size_t flag_len = strlen(flag);
    const char *end = flags->at + flags->len;

    for (const char *at = flags->at; at < end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        size_t len = (size_t)((comma != NULL ? comma : end) - at);

        if (len == flag_len && memcmp(at, flag, len) == 0)
            return true;
        at += len + 1;
    }
    return false;
}

bool redis_host_is_valid(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!(isascii(text[i]) && isalnum((unsigned char)text[i])) &&
            (text[i] == '\0' || strchr(i == 0 ? ":_" : ":_.-%", text[i]) == NULL))
            return false;
    return len > 0 && len <= REDIS_HOST_MAX;
}

bool redis_address_read(struct redis_address *out, const char *text, size_t len,
                        const struct redis_address *asked)
{
    size_t address_len = 0;
    const char *colon = NULL;
    bool is_left_out;
    size_t host_len;
    int64_t port;

    while (address_len < len && text[address_len] != '@' && text[address_len] != ',') {
        if (text[address_len] == ':')
            colon = text + address_len;
        address_len++;
    }
    if (colon == NULL)
        return false;
    host_len = (size_t)(colon - text);
    is_left_out = host_len == 0 || (host_len == 1 && text[0] == '?');
    if ((!is_left_out && !redis_host_is_valid(text, host_len)) ||
        !read_count(colon + 1, address_len - host_len - 1, PORT_MAX, &port))
        return false;
    memset(out, 0, sizeof(*out));
    if (is_left_out)
        memcpy(out->host, asked->host, sizeof(out->host));
    else
        memcpy(out->host, text, host_len);
    out->port = (int)port;
    return true;
}

/* Read the name after the first comma of the address; "" if there is none. */
static void read_name(struct redis_view_node *out, const struct word *address)
{
    const char *end = address->at + address->len;
    const char *comma = memchr(address->at, ',', address->len);
    const char *next = comma != NULL ? memchr(comma + 1, ',', (size_t)(end - comma - 1)) : NULL;
    size_t len = comma != NULL ? (size_t)((next != NULL ? next : end) - comma - 1) : 0;

    if (len > 0 && redis_host_is_valid(comma + 1, len))
        memcpy(out->name, comma + 1, len);
}

static bool read_id(char out[REDIS_NODE_ID_SIZE], const struct word *word)
{
    if (word->len != REDIS_NODE_ID_SIZE - 1)
        return false;
    memcpy(out, word->at, word->len);
    out[word->len] = '\0';
    return true;
}

/* Read "n" or "n-m", of at most *left slots.  If two nodes claim a slot, the node with the
 * higher epoch has it. */
static bool take_slots(struct redis_cluster_view *view, const struct word *word, int number,
                       int64_t *left)
{
    const char *dash = memchr(word->at, '-', word->len);
    size_t first_len = dash != NULL ? (size_t)(dash - word->at) : word->len;
    int64_t first;
    int64_t last;

    if (word->at[0] == '[')
        return true;
    if (!read_count(word->at, first_len, REDIS_SLOT_COUNT - 1, &first))
        return false;
    last = first;
    if (dash != NULL &&
        !read_count(dash + 1, word->len - first_len - 1, REDIS_SLOT_COUNT - 1, &last))
        return false;
    *left -= last - first + 1;
    for (int64_t slot = first; slot <= last && *left >= 0; slot++)
        if (view->owners[slot] == REDIS_NO_NODE ||
            view->nodes[number].epoch >= view->nodes[view->owners[slot]].epoch)
            view->owners[slot] = (int16_t)number;
    return *left >= 0;
}

/* Read the line [at, end). */
static bool read_node(struct redis_cluster_view *view, const char *at, const char *end,
                      const struct redis_address *asked)
{
    struct redis_view_node *node = &view->nodes[view->node_count];
    struct word words[FIELDS_BEFORE_SLOTS];
    int64_t left = REDIS_SLOT_COUNT; /* a long line could name a slot again and again */

    for (int i = 0; i < FIELDS_BEFORE_SLOTS; i++) {
        words[i] = next_word(&at, end);
        if (words[i].len == 0)
            return false;
    }
    memset(node, 0, sizeof(*node));
    if (!read_id(node->id, &words[0]) ||
        !redis_address_read(&node->place, words[1].at, words[1].len, asked) ||
        !read_count(words[6].at, words[6].len, INT64_MAX, &node->epoch))
        return false;
    read_name(node, &words[1]);
    node->is_master = has_flag(&words[2], "master");
    node->is_failed = has_flag(&words[2], "fail") || has_flag(&words[2], "fail?");
    if (has_flag(&words[2], "noaddr"))
        node->place.port = 0;
    if (!node->is_master && !read_id(node->master_id, &words[3]))
        node->master_id[0] = '\0';
    for (;;) {
        struct word slots = next_word(&at, end);

        if (slots.len == 0)
            break;
        if (!take_slots(view, &slots, view->node_count, &left))
            return false;
    }
    view->node_count++;
    return true;
}

bool redis_cluster_view_read(struct redis_cluster_view *out, const char *text, size_t len,
                             const struct redis_address *asked, char *why, size_t why_size)
{
    const char *end = text + len;
    int line_count = 0;

    out->node_count = 0;
    for (int slot = 0; slot < REDIS_SLOT_COUNT; slot++)
        out->owners[slot] = REDIS_NO_NODE;
    for (const char *at = text; at < end;) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));

        if (line_end == NULL)
            line_end = end;
        line_count++;
        if (out->node_count == REDIS_CLUSTER_NODES_MAX) {
            snprintf(why, why_size, "the cluster has more than %d nodes",
                     (int)REDIS_CLUSTER_NODES_MAX);
            return false;
        }
        if (line_end > at && !read_node(out, at, line_end, asked)) {
            snprintf(why, why_size, "line %d of its CLUSTER NODES cannot be read", line_count);
            return false;
        }
        at = line_end + 1;
    }
    if (out->node_count > 0)
        return true;
    snprintf(why, why_size, "its CLUSTER NODES names no node");
    return false;
}

const struct redis_view_node *redis_cluster_view_find(const struct redis_cluster_view *view,
                                                      const char *id)
{
    for (int i = 0; i < view->node_count; i++)
        if (strcmp(view->nodes[i].id, id) == 0)
            return &view->nodes[i];
    return NULL;
}
