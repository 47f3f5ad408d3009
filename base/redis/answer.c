/* SPDX-License-Identifier: MIT */
/* answer.c -- the answer of a server to one command.
 *
 * The parts of a reply come one by one from reader.c.  Of an array only its element is
 * kept, if that is one integer, because no command here has another array. */
#include "base/redis/answer.h"

#include <stdio.h>
#include <string.h>

#include "base/os/refusal.h"
#include "base/redis/reader.h"

/* Does an error begin with these words? */
static bool begins_with(const char *text, size_t len, const char *words)
{
    size_t words_len = strlen(words);

    return len >= words_len && memcmp(text, words, words_len) == 0;
}

/* The outcome of an error of the server.  A server that refuses for now has not executed
 * the command, and counts like a server that cannot be reached.  An EXEC that is refused
 * has the reason behind words of its own. */
static enum redis_outcome outcome_of_error(const char *said)
{
    static const char EXEC[] = "EXECABORT Transaction discarded because of: ";

    if (strncmp(said, EXEC, sizeof(EXEC) - 1) == 0)
        said += sizeof(EXEC) - 1;
    switch (refusal_of_text(REFUSAL_REDIS, said)) {
    case REFUSAL_PASSES:
        return REDIS_NOT_DONE;
    case REFUSAL_UNDECIDED:
        return REDIS_UNKNOWN;
    default:
        return REDIS_PROTOCOL;
    }
}

static enum redis_redirect redirect_of(const char *text, size_t len)
{
    static const struct {
        const char *beginning;
        enum redis_redirect redirect;
    } REDIRECTS[] = {{"MOVED ", REDIS_MOVED},
                     {"ASK ", REDIS_ASK},
                     {"TRYAGAIN ", REDIS_TRY_AGAIN},
                     {"CLUSTERDOWN ", REDIS_CLUSTER_DOWN}};

    for (size_t i = 0; i < sizeof(REDIRECTS) / sizeof(REDIRECTS[0]); i++)
        if (begins_with(text, len, REDIRECTS[i].beginning))
            return REDIRECTS[i].redirect;
    return REDIS_NO_REDIRECT;
}

static void take_text(struct redis_answer *answer, enum redis_kind kind,
                      const struct redis_part *part)
{
    size_t len = part->len;

    answer->kind = kind;
    answer->len = len;
    if (len >= sizeof(answer->text))
        len = sizeof(answer->text) - 1;
    memcpy(answer->text, part->text, len);
    answer->text[len] = '\0';
}

/* Copy a BULK into the caller's larger buffer.  A text that does not fit is cut, and
 * the answer's `len` shows that. */
static void take_whole_text(struct redis_reading *reading, const struct redis_part *part)
{
    size_t len = part->len;

    if (reading->whole == NULL)
        return;
    if (len >= reading->whole_size)
        len = reading->whole_size - 1;
    memcpy(reading->whole, part->text, len);
    reading->whole[len] = '\0';
}

static void take_error(struct redis_reading *reading, const struct redis_part *part)
{
    struct redis_answer *answer = &reading->answer;
    char said[REDIS_TEXT_SIZE];

    snprintf(said, sizeof(said), "%.*s",
             part->len < REDIS_TEXT_SIZE ? (int)part->len : REDIS_TEXT_SIZE, part->text);
    answer->outcome = outcome_of_error(said);
    answer->not_master = begins_with(part->text, part->len, "READONLY ");
    answer->lacks_script = begins_with(part->text, part->len, "NOSCRIPT ");
    answer->redirect = redirect_of(part->text, part->len);
    snprintf(answer->text, sizeof(answer->text), "%.60s: %.*s", reading->label,
             part->len < REDIS_TEXT_SIZE ? (int)part->len : REDIS_TEXT_SIZE, part->text);
}

static void take_whole(struct redis_reading *reading, const struct redis_part *part)
{
    struct redis_answer *answer = &reading->answer;

    switch (part->kind) {
    case REDIS_PART_ERROR:
        take_error(reading, part);
        break;
    case REDIS_PART_STATUS:
        take_text(answer, REDIS_STATUS, part);
        break;
    case REDIS_PART_BULK:
        take_text(answer, REDIS_BULK, part);
        take_whole_text(reading, part);
        break;
    case REDIS_PART_INTEGER:
        answer->kind = REDIS_INTEGER;
        answer->integer = part->integer;
        break;
    case REDIS_PART_NIL:
        answer->kind = REDIS_NIL;
        break;
    case REDIS_PART_NIL_ARRAY:
        answer->kind = REDIS_NIL_ARRAY;
        break;
    case REDIS_PART_OTHER: /* a type of RESP3, which this client does not use */
        break;
    }
}

void redis_reading_part(void *arg, const struct redis_part *part)
{
    struct redis_reading *reading = arg;

    if (part->depth == 0) {
        take_whole(reading, part);
    } else if (part->depth == 1 && part->count == 1 && part->kind == REDIS_PART_INTEGER) {
        reading->answer.kind = REDIS_SINGLE;
        reading->answer.integer = part->integer;
    }
}

static void clear(struct redis_answer *answer)
{
    answer->outcome = REDIS_ANSWERED;
    answer->kind = REDIS_OTHER;
    answer->integer = 0;
    answer->len = 0;
    answer->not_master = false;
    answer->lacks_script = false;
    answer->redirect = REDIS_NO_REDIRECT;
    answer->text[0] = '\0';
}

void redis_reading_begin(struct redis_reading *reading, const char *label)
{
    reading->label = label;
    reading->whole = NULL;
    reading->whole_size = 0;
    clear(&reading->answer);
}

void redis_reading_take(struct redis_reading *reading, struct redis_answer *out)
{
    *out = reading->answer;
    clear(&reading->answer);
}

bool redis_answer_is(const struct redis_answer *answer, const char *text)
{
    size_t len = strlen(text);

    return answer->len == len && len < sizeof(answer->text) &&
           memcmp(answer->text, text, len) == 0;
}

void redis_answer_fail(struct redis_answer *answer, enum redis_outcome outcome,
                       const char *why)
{
    answer->outcome = outcome;
    answer->kind = REDIS_OTHER;
    answer->not_master = false;
    answer->lacks_script = false;
    answer->redirect = REDIS_NO_REDIRECT;
    snprintf(answer->text, sizeof(answer->text), "%s", why);
}

void redis_message_part(void *arg, const struct redis_part *part)
{
    struct redis_message *message = arg;

    if (part->kind == REDIS_PART_ERROR && part->depth == 0)
        message->is_error = true;
    if (part->kind != REDIS_PART_BULK || part->depth != 1 ||
        part->index >= REDIS_MESSAGE_PARTS || part->len >= REDIS_MESSAGE_PART_SIZE ||
        memchr(part->text, '\0', part->len) != NULL)
        return;
    memcpy(message->texts[part->index], part->text, part->len);
    message->texts[part->index][part->len] = '\0';
    message->parts[part->index] = message->texts[part->index];
}

void redis_message_clear(struct redis_message *message)
{
    memset(message->parts, 0, sizeof(message->parts));
    message->is_error = false;
}
