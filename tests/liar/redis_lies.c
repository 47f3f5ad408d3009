/* SPDX-License-Identifier: MIT */
/* redis_lies.c -- the wrong answers of a lying Redis. */
#include <string.h>

#include "tests/liar/lies.h"

#define LIE(bytes) {bytes, bytes, sizeof(bytes) - 1, false}
#define CUT(bytes) {bytes, bytes, sizeof(bytes) - 1, true} /* and close the connection */

static const struct lie LIES[] = {
    LIE("+OK\r\n"), LIE("+QUEUED\r\n"), LIE("+\r\n"), LIE("+abc\r\n"), LIE("+OK\0more\r\n"),
    LIE("-ERR no\r\n"), LIE("-NOSCRIPT No\r\n"), LIE("-READONLY no\r\n"),
    LIE("-MOVED 1 127.0.0.1:1\r\n"), LIE("-LOADING wait\r\n"), LIE("-BUSY script\r\n"),
    LIE("-OOM no\r\n"), LIE("-WRONGTYPE no\r\n"), LIE("-\r\n"),
    LIE(":0\r\n"), LIE(":1\r\n"), LIE(":2\r\n"), LIE(":-1\r\n"), LIE(":-2\r\n"),
    LIE(":-3\r\n"), LIE(":-4\r\n"), LIE(":-5\r\n"), LIE(":9223372036854775807\r\n"),
    LIE(":-9223372036854775808\r\n"), LIE(":99999999999999999999\r\n"), LIE(":1x\r\n"),
    LIE("$-1\r\n"), LIE("$0\r\n\r\n"), LIE("$1\r\n0\r\n"), LIE("$1\r\n7\r\n"),
    LIE("$20\r\n18446744073709551615\r\n"), LIE("$3\r\nabc\r\n"), LIE("$3\r\n1\0002\r\n"),
    LIE("$-7\r\n"), LIE("*0\r\n"), LIE("*-1\r\n"), LIE("*1\r\n:1\r\n"), LIE("*1\r\n$-1\r\n"),
    LIE("*2\r\n:1\r\n:1\r\n"), LIE("*1\r\n*1\r\n*1\r\n:1\r\n"), LIE("*-7\r\n"),
    LIE("_\r\n"), LIE("#t\r\n"), LIE(",1.5\r\n"), LIE("%0\r\n"), LIE("HTTP/1.1 200 OK\r\n\r\n"),
    LIE("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\n0\r\n"), LIE("$-1\r\n$-1\r\n"),
    LIE("+OK\r\n+OK\r\n"), LIE(":1\r\n:1\r\n"),
    LIE("-ERR a\033[31mb\007\302\233\r\n"), LIE("-NOSCRIPT a\033[31mb\n\r\n"),
    LIE("$23\r\n1 5000 1 -1 0 0 a\033[31mb\r\n"),
    CUT(""), CUT("$-"), CUT("$100\r\nab"), CUT("*2\r\n:1\r\n"), CUT("$536870911\r\nx"),
    CUT("*2147483647\r\n"),
};

size_t redis_lies(const struct lie **lies)
{
    *lies = LIES;
    return sizeof(LIES) / sizeof(LIES[0]);
}

bool redis_is_grant(const struct lie *lie, const char *verb)
{
    if (strncmp(verb, "EVAL", 4) == 0)
        return strncmp(lie->bytes, "$-1\r\n", 5) == 0 ||
               strcmp(lie->bytes, "$1\r\n7\r\n") == 0;
    if (strcmp(verb, "SET") == 0)
        return strncmp(lie->bytes, "+OK\r\n", 5) == 0;
    return strncmp(lie->bytes, ":1\r\n", 4) == 0; /* SETNX */
}
