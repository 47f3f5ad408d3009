/* SPDX-License-Identifier: MIT */
/* telling.c -- the sentences for the words of the trace. A word without a sentence is printed with
 * its numbers. */
#include "tests/simulation/telling.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/simulation/world.h"

enum { SHOWN_MAX = 200, LINE_MAX_ = 320 };

/* The text of an enum packet_kind. */
static const char *packet_text(int64_t kind)
{
    static const char *const texts[] = {"a request to connect", "an accepted connection",
                                        "a refusal", "data", "an end", "a reset"};

    return kind >= 0 && kind < (int64_t)(sizeof(texts) / sizeof(texts[0])) ? texts[kind] : "?";
}

void telling_numbers(const char *what, int64_t a, int64_t b)
{
    if (strcmp(what, "run") == 0 || strcmp(what, "answer") == 0 || strcmp(what, "fault") == 0)
        return; /* another function has printed a better sentence */
    if (strcmp(what, "to-server") == 0)
        tell("connection %" PRId64 ": the server gets %s", a, packet_text(b));
    else if (strcmp(what, "to-client") == 0)
        tell("connection %" PRId64 ": the client gets %s", a, packet_text(b));
    else if (strcmp(what, "receive") == 0)
        tell("connection %" PRId64 ": the client reads %" PRId64 " bytes", a, b);
    else if (strcmp(what, "cut") == 0)
        tell("FAULT connection %" PRId64 " is cut, %s", a,
             b != 0 ? "after its requests were executed" : "and its requests are lost");
    else
        tell("%s %" PRId64 " %" PRId64, what, a, b);
}

/* The words of a command or a reply, without the protocol's lengths and line ends. */
static void strip(char out[LINE_MAX_], const char *bytes, size_t len)
{
    size_t to = 0;
    bool is_begun = true;

    for (size_t i = 0; i < len && to < SHOWN_MAX; i++) {
        if (is_begun && (bytes[i] == '*' || bytes[i] == '$') && i + 1 < len &&
            isdigit((unsigned char)bytes[i + 1])) {
            while (i < len && bytes[i] != '\n')
                i++;
            continue;
        }
        is_begun = bytes[i] == '\n';
        if (bytes[i] == '\r')
            continue;
        out[to++] = bytes[i] == '\n' ? ' ' : isprint((unsigned char)bytes[i]) ? bytes[i] : '.';
    }
    while (to > 0 && out[to - 1] == ' ')
        to--;
    (void)snprintf(out + to, LINE_MAX_ - to, "%s", to >= SHOWN_MAX ? " ..." : "");
}

void telling_bytes(const char *what, int64_t a, const char *bytes, size_t len)
{
    char text[LINE_MAX_];

    strip(text, bytes, len);
    if (strcmp(what, "send") == 0)
        tell("connection %" PRId64 ": the client sends %s", a, text);
    else if (strcmp(what, "ask") == 0)
        tell("connection %" PRId64 ": the server executes %s", a, text);
    else if (strcmp(what, "reply") == 0)
        tell("connection %" PRId64 ": the server replies %s", a, text);
    else
        tell("%s %" PRId64 " %s", what, a, text);
}
