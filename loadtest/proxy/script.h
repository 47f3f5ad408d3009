/* SPDX-License-Identifier: MIT */
/* script.h -- faults as text: the grammar, and what it says. */
#ifndef LOADTEST_PROXY_SCRIPT_H
#define LOADTEST_PROXY_SCRIPT_H

#include "loadtest/proxy/message.h"

/* The grammar, in the words of the help. */
#define PROXY_GRAMMAR                                                                  \
    "A fault is  ACTION DIRECTION [WHEN] [of connection K | of each connection]\n"     \
    "\n"                                                                               \
    "ACTION     hold         keep what comes, until it is released\n"                  \
    "           release      let what is held go on, in order\n"                       \
    "           drop:N       swallow N messages, from the next beginning of one;\n" \
    "                        drop:Nb N bytes; drop:all the rest\n"                    \
    "           delay:20ms   let everything from there on arrive so much later\n"      \
    "           half-close   end this direction; the other one goes on\n"              \
    "           cut          close both sides with a reset; cut:fin without one\n"     \
    "DIRECTION  to-server or to-client\n"                                              \
    "WHEN       (nothing)             at once, on each connection, also later ones\n"  \
    "           after byte N          N bytes have passed\n"                           \
    "           after message N       N messages have passed; with byte B also the\n"  \
    "                                 first B bytes of the next one\n"                 \
    "           at WORD               the next message with WORD in its first 64 KiB\n" \
    "                                 (\"...\" if it has spaces); with byte B after\n" \
    "                                 B bytes of it\n"                                 \
    "           The counts and words are those of the fault's own direction, unless\n" \
    "           another stands after `after` or `at`.  Redis: a fault to-client at\n"  \
    "           to-server WORD begins with the reply to that very request; elsewhere\n" \
    "           with what comes next.\n"                                               \
    "           A release with a WHEN lets go what is held on every connection.\n" \
    "K          the Kth connection since the proxy began.  Without it, one with a\n"   \
    "           WHEN strikes the first connection that gets there, and only once.\n"   \
    "Several stand in one text with ; or new lines between; # begins a comment."

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
