/* SPDX-License-Identifier: MIT */
/* test_redis_cluster.c -- the slots of keys, parsing CLUSTER NODES, and merging the
 * views of several nodes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "base/redis/cluster_map.h"
#include "base/redis/command.h"
#include "base/redis/sentinel.h"
#include "base/redis/sharded_text.h"
#include "base/redis/url.h"
#include "tests/registered.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define C "cccccccccccccccccccccccccccccccccccccccc"

static const struct redis_address ASKED = {.host = "10.0.0.9", .port = 6379};

static struct redis_cluster_view view;
static struct redis_cluster_map map;
static char why[160];

static bool read_view(const char *text)
{
    return redis_cluster_view_read(&view, text, strlen(text), &ASKED, why, sizeof(why));
}

static int forget_all(void **state)
{
    (void)state;
    memset(&map, 0, sizeof(map));
    return 0;
}

/* Merge a node's answer `text`, which came at that second. */
static bool hear(const char *text, int64_t second)
{
    assert_true(read_view(text));
    return redis_cluster_map_hear(&map, &view, second * 1000 * DLOCK_NS_PER_MS);
}

static int port_of(int slot)
{
    const struct redis_address *place = redis_cluster_map_address(&map, slot);

    return place != NULL ? place->port : 0;
}

TEST(a_slot_is_the_checksum_of_the_key_or_of_its_braces)
{
    assert_int_equal(12739, redis_slot_of("123456789"));
    assert_int_equal(redis_slot_of("lock:order:5"),
                     redis_slot_of("redisson_lock__channel:{lock:order:5}"));
    assert_int_equal(redis_slot_of("user"), redis_slot_of("a{user}b{other}"));
    assert_int_not_equal(redis_slot_of("a{}b"), redis_slot_of("a{}c"));
    assert_int_equal(redis_slot_of("{a"), redis_slot_of("{a"));
    assert_int_equal(0, redis_slot_of(""));
}

/* "a}b" and "{a}b}" are in the same slot only by chance, as any two keys may be. */
TEST(keys_share_a_slot_by_their_texts)
{
    assert_true(redis_slot_is_shared("a", "x:{a}"));
    assert_true(redis_slot_is_shared("{a}b", "x:{a}b"));
    assert_true(redis_slot_is_shared("{a", "x:{{a}"));
    assert_false(redis_slot_is_shared("{a}b", "x:{{a}b}"));
    assert_false(redis_slot_is_shared("a}b", "x:{a}b}"));
    assert_false(redis_slot_is_shared("a{b", "x:a{b"));
    assert_false(redis_slot_is_shared("a{}b", "x:a{}b"));
    assert_false(redis_slot_is_shared("a", "ab"));
}

TEST(a_command_is_for_the_slot_of_its_first_key)
{
    struct redis_command set = {3, {"SET", "k", "v"}, NULL};
    struct redis_command eval = {5, {"EVAL", "return 1", "1", "k", "v"}, NULL};
    struct redis_command without = {3, {"EVAL", "return 1", "0"}, NULL};
    struct redis_command load = {3, {"SCRIPT", "LOAD", "return 1"}, NULL};

    assert_string_equal("k", redis_command_key(&set));
    assert_string_equal("k", redis_command_key(&eval));
    assert_null(redis_command_key(&without));
    assert_null(redis_command_key(&load));
}

TEST(reads_what_a_node_says)
{
    assert_true(read_view(
        A " 10.0.0.1:7001@17001 myself,master - 0 0 3 connected 0-99 200 [300->-" B "]\n"
        B " 10.0.0.2:7002@17002,host.example slave " A " 0 1 3 connected\n"
        C " ::1:7003@17003 master,fail - 1 2 9 disconnected 16383\n"));
    assert_int_equal(3, view.node_count);
    assert_string_equal("10.0.0.1", view.nodes[0].place.host);
    assert_int_equal(7001, view.nodes[0].place.port);
    assert_int_equal(3, view.nodes[0].epoch);
    assert_true(view.nodes[0].is_master);
    assert_false(view.nodes[0].is_failed);
    assert_string_equal("", view.nodes[0].name);
    assert_string_equal("host.example", view.nodes[1].name);
    assert_string_equal(A, view.nodes[1].master_id);
    assert_false(view.nodes[1].is_master);
    assert_string_equal("::1", view.nodes[2].place.host);
    assert_true(view.nodes[2].is_failed);
    assert_int_equal(0, view.owners[0]);
    assert_int_equal(0, view.owners[99]);
    assert_int_equal(REDIS_NO_NODE, view.owners[100]);
    assert_int_equal(0, view.owners[200]);
    assert_int_equal(REDIS_NO_NODE, view.owners[300]);
    assert_int_equal(2, view.owners[16383]);
}

TEST(a_node_without_an_address_is_the_one_that_was_asked)
{
    assert_true(read_view(A " :7001@17001 myself,master - 0 0 1 connected 0-16383\n"));
    assert_string_equal("10.0.0.9", view.nodes[0].place.host);
    assert_int_equal(7001, view.nodes[0].place.port);
    assert_true(read_view(A " :0@0 master,noaddr - 0 0 1 disconnected 5\n"));
    assert_int_equal(0, view.nodes[0].place.port);
}

TEST(a_node_names_each_slot_once)
{
    assert_false(read_view(A " h:1@1 master - 0 0 1 connected 0-16383 0-1\n"));
    assert_false(read_view(A " h:1@1 master - 0 0 1 connected 5 0-16383\n"));
}

/* A host reaches the resolver, a handshake of TLS, and messages. */
TEST(a_host_has_the_bytes_of_a_host)
{
    static const char *const RIGHT[] = {"a", "redis-1.example", "10.0.0.1", "::1", "fe80::1%eth0",
                                        "_redis._tcp", "A9"};
    static const char *const WRONG[] = {"",           ".example", "-a",          "a b",   "a\r\nb",
                                        "a/b",        "a@b",      "a\x1b[31m",   "a\x7f", "a\"b",
                                        "k\xc3\xa4se", "[::1]",    "a\xc2\x9b", "%eth0"};
    struct redis_address place;
    char text[64];

    for (size_t i = 0; i < sizeof(RIGHT) / sizeof(RIGHT[0]); i++) {
        snprintf(text, sizeof(text), "%s:7001@17001", RIGHT[i]);
        assert_true(redis_address_read(&place, text, strlen(text), &ASKED));
        assert_string_equal(RIGHT[i], place.host);
    }
    for (size_t i = 1; i < sizeof(WRONG) / sizeof(WRONG[0]); i++) {
        snprintf(text, sizeof(text), "%s:7001@17001", WRONG[i]);
        if (redis_address_read(&place, text, strlen(text), &ASKED))
            fail_msg("\"%s\" is read as %s", WRONG[i], place.host);
    }
    for (size_t i = 0; i < sizeof(WRONG) / sizeof(WRONG[0]); i++) {
        struct redis_said said = {.parts = {WRONG[i], "6379"}};

        if (redis_said_address(&said, &place))
            fail_msg("a Sentinel names \"%s\"", WRONG[i]);
    }
    assert_false(redis_host_is_valid("a\0b", 3));
}

TEST(a_sentinel_names_a_port)
{
    static const char *const WRONG[] = {"", "0", "65536", "-1", "+7", " 7", "7 ", "07", "x",
                                        "99999999999999999999"};
    struct redis_address place;
    struct redis_said said = {.parts = {"::1", "65535"}};

    assert_true(redis_said_address(&said, &place));
    assert_string_equal("::1", place.host);
    assert_int_equal(65535, place.port);
    for (size_t i = 0; i < sizeof(WRONG) / sizeof(WRONG[0]); i++) {
        said.parts[1] = WRONG[i];
        if (redis_said_address(&said, &place))
            fail_msg("\"%s\" is read as %d", WRONG[i], place.port);
    }
}

TEST(reads_the_name_that_a_node_announces)
{
    char longest[REDIS_HOST_MAX + 1], text[600];

    assert_true(read_view(
        A " 10.0.0.1:7001@17001,a.example,tls-port=0,shard-id=1 master - 0 0 1 connected 5\n" B
          " 10.0.0.2:7001@17001,,tls-port=0 master - 0 0 1 connected 6\n" C
          " 10.0.0.3:7001@17001,shard-id=1 master - 0 0 1 connected 7\n"));
    assert_string_equal("a.example", view.nodes[0].name);
    assert_string_equal("", view.nodes[1].name);
    assert_string_equal("", view.nodes[2].name);
    memset(longest, 'n', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    snprintf(text, sizeof(text), A " :1@2,%s master - 0 0 1 connected 5\n", longest);
    assert_true(read_view(text));
    assert_string_equal(longest, view.nodes[0].name);
    snprintf(text, sizeof(text), A " :1@2,%sn master - 0 0 1 connected 5\n", longest);
    assert_true(read_view(text));
    assert_string_equal("", view.nodes[0].name); /* the name is too long */
}

TEST(refuses_what_is_no_list_of_nodes)
{
    static const char *const texts[] = {
        "", "\n\n", "hello\n", A " 10.0.0.1 master - 0 0 1 connected 0\n",
        A " 10.0.0.1:70000@1 master - 0 0 1 connected 0\n",
        "short 10.0.0.1:7001@1 master - 0 0 1 connected 0\n",
        A " 10.0.0.1:7001@1 master - 0 0 x connected 0\n",
        A " 10.0.0.1:7001@1 master - 0 0 1\n",
        A " 10.0.0.1:7001@1 master - 0 0 1 connected 16384\n",
        A " 10.0.0.1:7001@1 master - 0 0 1 connected 5-x\n",
        A " 10.0.\t1:7001@1 master - 0 0 1 connected 5\n",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        why[0] = '\0';
        if (read_view(texts[i]))
            fail_msg("read \"%s\"", texts[i]);
        assert_true(why[0] != '\0');
    }
}

TEST(a_slot_that_two_claim_is_that_of_the_higher_epoch)
{
    assert_true(read_view(A " h:1@1 master - 0 0 2 connected 0-9\n"
                          B " h:2@2 master - 0 0 1 connected 0-19\n"));
    assert_int_equal(0, view.owners[5]);
    assert_int_equal(1, view.owners[15]);
    assert_true(read_view(A " h:1@1 master - 0 0 2 connected 0-9\n"
                          B " h:2@2 master - 0 0 3 connected 0-19\n"));
    assert_int_equal(1, view.owners[5]);
}

#define AT_A A " h:1@1 master - 0 0 1 connected 0-16383\n"
#define B_FOLLOWS B " h:2@2 slave " A " 0 0 1 connected\n"

TEST_WITH(forget_all, NULL, a_promotion_begins_a_new_era_of_its_slots)
{
    assert_true(hear(A " h:1@1 master - 0 0 1 connected 0-99\n" B_FOLLOWS
                     C " h:3@3 master - 0 0 2 connected 100-16383\n", 1));
    assert_int_equal(1, map.era);
    assert_true(hear(A " h:1@1 master,fail - 0 0 1 disconnected\n"
                     B " h:2@2 master - 0 0 3 connected 0-99\n"
                     C " h:3@3 master - 0 0 2 connected 100-16383\n", 2));
    assert_int_equal(2, port_of(50));
    assert_int_equal(2, map.era);
    assert_int_equal(2, map.eras[50]);
    assert_int_equal(1, map.eras[100]);
}

TEST_WITH(forget_all, NULL, a_slot_that_moves_keeps_its_era)
{
    (void)hear(A " h:1@1 master - 0 0 1 connected 0-99\n"
               C " h:3@3 master - 0 0 2 connected 100-16383\n", 1);
    assert_true(hear(A " h:1@1 master - 0 0 1 connected 0-49\n"
                     C " h:3@3 master - 0 0 3 connected 50-16383\n", 2));
    assert_int_equal(3, port_of(60));
    assert_int_equal(1, map.eras[60]);
    /* The master that gave its last slot away becomes a replica of the new master. */
    assert_true(hear(A " h:1@1 slave " C " 0 0 4 connected\n"
                     C " h:3@3 master - 0 0 4 connected 0-16383\n", 3));
    assert_int_equal(3, port_of(0));
    assert_int_equal(1, map.eras[0]);
    assert_int_equal(1, map.era);
}

#define B_IS_EMPTY B " h:2@2 master - 0 0 0 connected\n"
#define C_HAS_REST C " h:3@3 master - 0 0 2 connected 100-16383\n"

/* The map knows the node from a time when it was a master without slots. Since then it has become a
 * replica and taken its master's place, which the view tells in one of these ways. */
TEST_WITH(forget_all, NULL, an_empty_master_that_has_all_slots_of_another_was_promoted)
{
    static const char *const AFTER[] = {
        A " h:1@1 slave " B " 0 0 3 connected\n", A " h:1@1 master - 0 0 1 connected\n",
        A " h:1@1 master,fail - 0 0 1 disconnected\n", "",
    };

    for (size_t i = 0; i < sizeof(AFTER) / sizeof(AFTER[0]); i++) {
        char text[512];

        memset(&map, 0, sizeof(map));
        (void)hear(A " h:1@1 master - 0 0 1 connected 0-99\n" B_IS_EMPTY C_HAS_REST, 1);
        assert_int_equal(1, map.era);
        snprintf(text, sizeof(text), "%s" B " h:2@2 master - 0 0 3 connected 0-99\n" C_HAS_REST,
                 AFTER[i]);
        assert_true(hear(text, 2));
        assert_int_equal(2, port_of(50));
        assert_int_equal(2, map.era);
        assert_int_equal(2, map.eras[50]);
        assert_int_equal(1, map.eras[100]);
    }
}

/* The node had slots, gave them to another master, and became a replica, between two looks. */
TEST_WITH(forget_all, NULL, a_master_that_keeps_no_slot_may_be_promoted)
{
    (void)hear(A " h:1@1 master - 0 0 1 connected 0-49\n"
               B " h:2@2 master - 0 0 3 connected 50-99\n" C_HAS_REST, 1);
    assert_true(hear(A " h:1@1 slave " B " 0 0 5 connected\n"
                     B " h:2@2 master - 0 0 5 connected 0-49\n"
                     C " h:3@3 master - 0 0 4 connected 50-16383\n", 2));
    assert_int_equal(2, map.eras[10]);
    assert_int_equal(1, map.eras[60]); /* moved to a master that kept its slots */
    assert_int_equal(1, map.eras[100]);
}

TEST_WITH(forget_all, NULL, slots_that_move_to_an_empty_master_in_steps_keep_their_era)
{
    (void)hear(A " h:1@1 master - 0 0 1 connected 0-99\n" B_IS_EMPTY C_HAS_REST, 1);
    assert_true(hear(A " h:1@1 master - 0 0 1 connected 1-99\n"
                     B " h:2@2 master - 0 0 3 connected 0\n" C_HAS_REST, 2));
    assert_true(hear(A " h:1@1 master - 0 0 1 connected 99\n"
                     B " h:2@2 master - 0 0 3 connected 0-98\n" C_HAS_REST, 3));
    assert_true(hear(A " h:1@1 slave " B " 0 0 3 connected\n"
                     B " h:2@2 master - 0 0 3 connected 0-99\n" C_HAS_REST, 4));
    assert_int_equal(2, port_of(99));
    assert_int_equal(1, map.era);
    for (int slot = 0; slot < 100; slot++)
        assert_int_equal(1, map.eras[slot]);
}

TEST_WITH(forget_all, NULL, a_slot_that_comes_to_an_unknown_node_cannot_be_vouched_for)
{
    (void)hear(AT_A, 1);
    assert_true(hear(A " h:1@1 master - 0 0 1 connected 1-16383\n"
                     B " h:2@2 master - 0 0 2 connected 0\n", 2));
    assert_int_equal(2, map.eras[0]);
    assert_int_equal(1, map.eras[1]);
}

TEST_WITH(forget_all, NULL, an_older_view_is_not_believed)
{
    (void)hear(AT_A B_FOLLOWS, 1);
    assert_true(hear(A " h:1@1 master,fail - 0 0 1 disconnected\n"
                     B " h:2@2 master - 0 0 2 connected 0-16383\n", 2));
    assert_false(hear(AT_A B_FOLLOWS, 3));
    assert_int_equal(2, port_of(7));
    assert_int_equal(2, map.era);
}

TEST_WITH(forget_all, NULL, a_cluster_that_was_made_anew_is_believed_in_the_end)
{
    (void)hear(A " h:1@1 master - 0 0 9 connected 0-16383\n", 1);
    assert_false(hear(C " h:3@3 master - 0 0 1 connected 0-16383\n", 2));
    assert_true(hear(C " h:3@3 master - 0 0 1 connected 0-16383\n",
                     2 + REDIS_MAP_FORGET_MS / 1000));
    assert_int_equal(3, port_of(7));
    assert_int_equal(2, map.eras[7]);
}

TEST_WITH(forget_all, NULL, a_slot_that_no_node_has_stays_with_its_last_owner)
{
    (void)hear(AT_A, 1);
    assert_false(hear(A " h:1@1 master - 0 0 1 connected 1-16383\n", 2));
    assert_int_equal(1, port_of(0));
    memset(&map, 0, sizeof(map));
    (void)hear(A " h:1@1 master - 0 0 1 connected 1-16383\n", 1);
    assert_int_equal(0, port_of(0));
}

TEST_WITH(forget_all, NULL, a_node_that_moves_house_is_found_again)
{
    (void)hear(AT_A, 1);
    assert_true(hear(A " h:5@5 master - 0 0 1 connected 0-16383\n", 2));
    assert_int_equal(5, port_of(0));
    assert_int_equal(1, map.eras[0]);
}

/* Merge a list with `count` replicas that no earlier list has named. */
static void hear_of_others(int round, int count, const char *owner, int64_t second)
{
    static char text[REDIS_CLUSTER_NODES_MAX * 128];
    int len = snprintf(text, sizeof(text), "%s", owner);

    for (int i = 0; i < count; i++)
        len += snprintf(text + len, sizeof(text) - (size_t)len,
                        "%040d h:9@9 slave " A " 0 0 1 connected\n", 1000 * round + i);
    (void)hear(text, second);
}

/* The nodes of a cluster are replaced again and again; the map keeps room for the present nodes. */
TEST_WITH(forget_all, NULL, nodes_that_are_gone_make_room)
{
    (void)hear(AT_A, 1);
    for (int round = 0; round < 5; round++)
        hear_of_others(round, REDIS_CLUSTER_NODES_MAX - 1, AT_A, 2 + round);
    assert_int_equal(1, port_of(7));
    assert_int_equal(1, map.eras[7]);
    hear_of_others(9, REDIS_CLUSTER_NODES_MAX - 2,
                   A " h:1@1 master - 0 0 1 connected 8-16383\n"
                   B " h:2@2 master - 0 0 2 connected 0-7\n", 8);
    assert_int_equal(2, port_of(7));
    assert_int_equal(1, port_of(8));
}

TEST(scripts_publish_to_the_shard)
{
    struct redis_sharded_texts texts;
    static const char plain[] = "redis.call('PUBLISH', a) 'PUBSUB', 'NUMSUB' 'publish'";
    const char *sharded;

    redis_sharded_texts_init(&texts);
    sharded = redis_sharded_text(&texts, plain);
    assert_string_equal("redis.call('SPUBLISH', a) 'PUBSUB', 'SHARDNUMSUB' 'publish'", sharded);
    assert_ptr_equal(sharded, redis_sharded_text(&texts, plain));
    redis_sharded_texts_destroy(&texts);
}

TEST(reads_the_address_of_a_cluster)
{
    struct redis_url url;

    assert_true(redis_url_parse("redis-cluster://me:s%40@a,b:7,[::1]:8", &url, why, sizeof(why)));
    assert_int_equal(3, url.seed_count);
    assert_string_equal("a", url.seeds[0].host);
    assert_int_equal(REDIS_DEFAULT_PORT, url.seeds[0].port);
    assert_int_equal(7, url.seeds[1].port);
    assert_string_equal("::1", url.seeds[2].host);
    assert_string_equal("s@", url.password);
    assert_int_equal(0, url.sentinel_count);
}

TEST(refuses_an_address_of_a_cluster_that_is_nearly_right)
{
    static const char *const texts[] = {
        "redis-cluster://", "redis-cluster://a,", "redis-cluster://a:0", "redis-cluster://a/1",
        "redis-cluster://a?db=1", "redis-cluster://me@a", "redis-cluster://me:p@q@a",
        "redis-cluster://a,b,c,d,e,f,g,h",
    };
    struct redis_url url;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (redis_url_parse(texts[i], &url, why, sizeof(why)))
            fail_msg("read \"%s\"", texts[i]);
}
