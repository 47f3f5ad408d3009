/* SPDX-License-Identifier: MIT */
/* zookeeper_lies.c -- the wrong answers that ZooKeeper's client library can hand out. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#include "tests/liar/lies.h"
#include "tests/liar/zookeeper_server.h"

enum { LIES_MAX = 160, NAME_SIZE = 40, LONG_LEN = 1900, MANY = 5000 };

#define TOKEN "0123456789abcdef0123456789abcdef"
#define PLACE "c-" TOKEN "-"

static struct lie lies[LIES_MAX];
static struct zookeeper_lie told[LIES_MAX];
static char names[LIES_MAX][NAME_SIZE];
static char much[LONG_LEN + 1];
static size_t count;

static void add(const char *name, struct zookeeper_lie lie)
{
    snprintf(names[count], NAME_SIZE, "%s", name);
    told[count] = lie;
    lies[count] = (struct lie){names[count], (const char *)&told[count], 0, false};
    count++;
}

/* Each code for each request: of the server, and of the library itself, which may refuse to send
 * it. */
static void add_codes(void)
{
    static const int CODES[] = {
        ZNONODE, ZNODEEXISTS, ZNOTEMPTY, ZBADVERSION, ZCONNECTIONLOSS, ZOPERATIONTIMEOUT,
        ZSESSIONEXPIRED, ZSESSIONMOVED, ZCLOSING, ZSYSTEMERROR, ZRUNTIMEINCONSISTENCY,
        ZDATAINCONSISTENCY, ZMARSHALLINGERROR, ZUNIMPLEMENTED, ZBADARGUMENTS, ZINVALIDSTATE,
        ZAPIERROR, ZNOAUTH, ZNOCHILDRENFOREPHEMERALS, ZINVALIDCALLBACK, ZINVALIDACL, ZAUTHFAILED,
        ZNOTHING, 1, -1000, INT_MAX, INT_MIN};
    static const int AT_ONCE[] = {ZBADARGUMENTS, ZINVALIDSTATE, ZMARSHALLINGERROR,
                                  ZSESSIONEXPIRED, ZAUTHFAILED, 1};
    char name[NAME_SIZE];

    for (size_t i = 0; i < sizeof(CODES) / sizeof(CODES[0]); i++) {
        snprintf(name, sizeof(name), "code %d", CODES[i]);
        add(name, (struct zookeeper_lie){.rc = CODES[i]});
    }
    for (size_t i = 0; i < sizeof(AT_ONCE) / sizeof(AT_ONCE[0]); i++) {
        snprintf(name, sizeof(name), "at once %d", AT_ONCE[i]);
        add(name, (struct zookeeper_lie){.at_once = AT_ONCE[i]});
    }
    add("silence", (struct zookeeper_lie){.is_silent = true});
    add("nothing", (struct zookeeper_lie){.rc = ZOK});
}

#define MADE_IN(transaction, ...)                                                                  \
    (struct zookeeper_lie)                                                                         \
    {                                                                                              \
        .has_stat = true, .czxid = transaction, __VA_ARGS__                                        \
    }

/* Only the first of these is the path of the node that was to be made. */
static void add_paths(void)
{
    static const char *const OTHERS[] = {
        "", "/", "x", "/dlock", "/dlock/basic", "/dlock/basic/other", "/dlock/seq/other",
        "/dlock/seq/other/" PLACE "0000000000", "/dlock/seq/" PLACE "0000000000",
        "/dlock/basic/a\r\nb\033[31m", much};
    static const char *const BEHIND[] = {
        "x", "/", "/x", "0", "0000000001", "-0000000001", "-000000001", "/" PLACE "0000000001",
        "/../" PLACE "0000000001", "\r\n", much};
    char name[NAME_SIZE];

    add("made", MADE_IN(7, .keeps_path = true, .path = ""));
    add("made without a transaction", (struct zookeeper_lie){.keeps_path = true, .path = ""});
    add("made in 0", MADE_IN(0, .keeps_path = true, .path = ""));
    add("made in -1", MADE_IN(-1, .keeps_path = true, .path = ""));
    add("made in the least", MADE_IN(INT64_MIN, .keeps_path = true, .path = ""));
    for (size_t i = 0; i < sizeof(OTHERS) / sizeof(OTHERS[0]); i++) {
        snprintf(name, sizeof(name), "another path %zu", i);
        add(name, MADE_IN(7, .path = OTHERS[i]));
    }
    for (size_t i = 0; i < sizeof(BEHIND) / sizeof(BEHIND[0]); i++) {
        snprintf(name, sizeof(name), "a longer path %zu", i);
        add(name, MADE_IN(7, .keeps_path = true, .path = BEHIND[i]));
    }
}

static void add_data(void)
{
    static const char *const DATA[] = {
        "", " ", "x", "a 1", "a 2", "a 0", "a -1", "a 99999999999999999999", "a 1x", "a " TOKEN,
        " 1", "a\r\nb\033[31m 1", "\302\233 1", "\377\377 1", much};
    static const int LENGTHS[] = {-1, INT_MIN, 0};
    static const int VERSIONS[] = {-1, INT_MIN, INT_MAX, 1};
    char name[NAME_SIZE];

    for (size_t i = 0; i < sizeof(DATA) / sizeof(DATA[0]); i++) {
        snprintf(name, sizeof(name), "data %zu", i);
        add(name, MADE_IN(7, .data = DATA[i], .len = (int)strlen(DATA[i])));
    }
    for (size_t i = 0; i < sizeof(LENGTHS) / sizeof(LENGTHS[0]); i++) {
        snprintf(name, sizeof(name), "data of length %d", LENGTHS[i]);
        add(name, MADE_IN(7, .data = "a 1", .len = LENGTHS[i]));
    }
    for (size_t i = 0; i < sizeof(VERSIONS) / sizeof(VERSIONS[0]); i++) {
        snprintf(name, sizeof(name), "version %d", VERSIONS[i]);
        add(name, MADE_IN(7, .data = "a 1", .len = 3, .version = VERSIONS[i]));
    }
    add("data in -1", MADE_IN(-1, .data = "a 1", .len = 3));
    add("data without a stat", (struct zookeeper_lie){.data = "a 1", .len = 3});
}

static void add_list(const char *name, const char *const *listed, int listed_count)
{
    add(name, (struct zookeeper_lie){.names = listed, .name_count = listed_count});
}

static void add_lists(void)
{
    static const char *const ALONE[] = {
        NULL, "", "x", ".", "..", "a/b", "c-", PLACE, PLACE "1", PLACE "0000000000",
        PLACE "00000000000", PLACE "-0000000001", PLACE "-000000001", PLACE "-2147483648",
        PLACE "9999999999", PLACE "2147483647", PLACE "000000000x", PLACE "0000000000/x",
        "c-" TOKEN TOKEN "-0000000000", "a\r\nb\033[31m", much};
    static const char *const TWICE[] = {PLACE "0000000000", PLACE "0000000000"};
    static const char *const MIXED[] = {PLACE "0000000002", PLACE "-000000001",
                                        PLACE "0000000000", "x"};
    static const char *many[MANY];
    char name[NAME_SIZE];

    for (size_t i = 0; i < sizeof(ALONE) / sizeof(ALONE[0]); i++) {
        snprintf(name, sizeof(name), "a list of %zu", i);
        add_list(name, &ALONE[i], 1);
    }
    for (size_t i = 0; i < MANY; i++)
        many[i] = PLACE "0000000000";
    add_list("a list of two", TWICE, 2);
    add_list("a mixed list", MIXED, 4);
    add_list("a long list", many, MANY);
}

size_t zookeeper_lies(const struct lie **out)
{
    if (count == 0) {
        memset(much, 'x', LONG_LEN);
        add_codes();
        add_paths();
        add_data();
        add_lists();
    }
    *out = lies;
    return count;
}

/* The node that was asked for is made, in a transaction.  In a queue this is no grant, since the
 * list decides. */
bool zookeeper_is_grant(const struct lie *lie, const char *asked)
{
    return strncmp(asked, "create ", 7) == 0 && strcmp(lie->name, "made") == 0;
}
