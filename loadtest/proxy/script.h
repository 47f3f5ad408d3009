/* SPDX-License-Identifier: MIT */
/* script.h -- the grammar of faults, and a fault that was read. */
#ifndef LOADTEST_PROXY_SCRIPT_H
#define LOADTEST_PROXY_SCRIPT_H

#include "loadtest/proxy/message.h"

/* The grammar, in the words of the help. */
#define PROXY_GRAMMAR                                                                  \
    "A fault is  ACTION DIRECTION [WHEN] [of connection K | of each connection]\n"     \
    "\n"                                                                               \
    "ACTION     hold         keep the bytes back until a release\n"                    \
    "           release      send the held bytes on, in their order\n"                 \
    "           drop:N       drop N messages, from the beginning of the next message;\n" \
    "                        drop:Nb drops N bytes, drop:all drops all later bytes\n"  \
    "           delay:20ms   send all later bytes on 20 ms later\n"                    \
    "           half-close   close this direction; the other direction stays open\n"   \
    "           cut          close both sides with a reset; cut:fin without a reset\n" \
    "DIRECTION  to-server or to-client\n"                                              \
    "WHEN       (nothing)             at once, on each connection, later ones included\n" \
    "           after byte N          when N bytes have passed\n"                      \
    "           after message N       when N messages have passed; with `byte B`: when B\n" \
    "                                 bytes of the next message have passed, too\n"    \
    "           at WORD               at the next message with WORD in its first 64 KiB\n" \
    "                                 (\"...\" if WORD has spaces); with `byte B`: when B\n" \
    "                                 bytes of this message have passed\n"             \
    "           Bytes, messages and words are those of the direction of the fault, unless\n" \
    "           the other direction follows `after` or `at`.  With Redis, a fault to-client\n" \
    "           at to-server WORD begins with the reply to that request; with another\n" \
    "           protocol it begins with the next bytes to the client.\n"               \
    "           A release with a WHEN releases the held bytes of every connection.\n"  \
    "K          the Kth connection since the start of the proxy.  Without K, a fault with\n" \
    "           a WHEN happens once, on the first connection that meets the condition.\n" \
    "Write ; or a new line between two faults.  # begins a comment."

#define PROXY_ACTIONS(X)                                                               \
    X(HOLD, "hold")                                                                    \
    X(RELEASE, "release")                                                              \
    X(DROP, "drop")                                                                    \
    X(DELAY, "delay")                                                                  \
    X(HALF_CLOSE, "half-close")                                                        \
    X(CUT, "cut")

enum proxy_action {
#define X(id, name) PROXY_##id,
    PROXY_ACTIONS(X)
#undef X
};

enum proxy_when { PROXY_AT_ONCE, PROXY_AFTER_BYTE, PROXY_AFTER_MESSAGE, PROXY_AT_WORD };
enum proxy_scope { PROXY_FIRST, PROXY_EACH, PROXY_NUMBER };

enum { PROXY_WORD_MAX = 127, PROXY_TEXT_MAX = 255, PROXY_WHY_MAX = 512 };

struct proxy_fault {
    char text[PROXY_TEXT_MAX + 1]; /* as it was written                               */
    enum proxy_action action;
    enum proxy_direction direction;
    int64_t delay_ms;
    uint64_t drop_count; /* UINT64_MAX: all                                           */
    bool drops_bytes;
    bool cuts_with_fin;
    enum proxy_when when;
    enum proxy_direction seen; /* where the counts and words are                      */
    uint64_t count;            /* of bytes or messages                                */
    uint64_t offset;           /* bytes of the message that pass first                */
    char word[PROXY_WORD_MAX + 1];
    enum proxy_scope scope;
    uint64_t connection;
};

/* Read one fault.  False: why (PROXY_WHY_MAX bytes) says what is wrong and what would
 * be right; *out is undefined. */
bool proxy_fault_parse(struct proxy_fault *out, enum proxy_protocol protocol,
                       const char *text, char *why);

/* Copy the next fault of a script to `out` (PROXY_TEXT_MAX + 1 bytes) and move *script
 * past it.  False: there is none, and then *why is empty, or one that is too long. */
bool proxy_script_next(const char **script, char *out, char *why);

#endif /* LOADTEST_PROXY_SCRIPT_H */
