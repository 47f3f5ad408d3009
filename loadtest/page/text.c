/* SPDX-License-Identifier: MIT */
/* text.c -- the texts of the page, in which every "<" is escaped. */
#include <inttypes.h>
#include <string.h>

#include "loadtest/page/scene.h"
#include "loadtest/page/words.h"
#include "base/os/clock.h"
#include "lock/record/recorder.h"

void page_both(FILE *out, const char *english, const char *chinese)
{
    fputs("<span class=\"en\" lang=\"en\">", out);
    page_text(out, english);
    fputs("</span><span class=\"zh\" lang=\"zh-CN\">", out);
    page_text(out, chinese);
    fputs("</span>", out);
}

static const char *whole(char out[PAGE_TIME_MAX], uint64_t value)
{
    snprintf(out, PAGE_TIME_MAX, "%" PRIu64, value);
    return out;
}

static void print_token(FILE *out, const struct history_call *call)
{
    static const uint8_t none[DLOCK_RECORD_TOKEN_SIZE];
    char token[2 * DLOCK_RECORD_TOKEN_SIZE + 1];

    if (memcmp(call->token, none, sizeof(none)) == 0)
        return;
    for (size_t i = 0; i < sizeof(none); i++)
        snprintf(token + 2 * i, 3, "%02x", call->token[i]);
    page_say(out, TOKEN, token);
}

static void print_asked(FILE *out, const struct history_call *call, const char *owner)
{
    char number[PAGE_TIME_MAX];

    page_say(out, ASKS, owner, dlock_event_name(call->kind));
    if (call->mode == DLOCK_MODE_SHARED)
        page_say(out, SHARED);
    if (call->kind == DLOCK_EVENT_ACQUIRE && call->wait_ns > 0) {
        snprintf(number, sizeof number, "%.0f", (double)call->wait_ns / (double)DLOCK_NS_PER_MS);
        page_say(out, WAITING, number);
    }
    if (!call->is_answered)
        page_say(out, NO_ANSWER);
}

/* The ids "unknown" and "invalid" are also verdicts, and phrases.def has the Chinese of the
 * verdicts, so these two statuses have sentences of their own. */
static void print_status(FILE *out, const struct history_call *call, const char *owner)
{
    const char *kind = dlock_event_name(call->kind);

    if (call->status == DLOCK_UNKNOWN)
        page_say(out, ANSWERED_UNKNOWN, owner, kind);
    else if (call->status == DLOCK_INVALID)
        page_say(out, ANSWERED_INVALID, owner, kind);
    else
        page_say(out, ANSWERED, owner, kind, dlock_status_id(call->status));
}

static void print_answered(FILE *out, const struct page_scene *s,
                           const struct history_call *call, const char *owner)
{
    bool has_lease =
        call->kind == DLOCK_EVENT_ACQUIRE || call->kind == DLOCK_EVENT_RENEW;
    char number[PAGE_TIME_MAX];

    print_status(out, call, owner);
    page_time(number, s, call->deadline_ns);
    if (call->status == DLOCK_OK && has_lease) {
        page_say(out, LEASE_UNTIL, number);
        if (call->fence != 0)
            page_say(out, WITH_FENCE, whole(number, call->fence));
        if (call->level > 1)
            page_say(out, WITH_LEVEL, whole(number, (uint64_t)call->level));
    } else if (call->deadline_ns > 0) {
        page_say(out, HEARD_LATE, number);
    }
    print_token(out, call);
}

/* Print a mark of one owner, which is no call. */
static void print_event(FILE *out, const char *owner, const struct history_mark *mark)
{
    switch (mark->kind) {
    case DLOCK_EVENT_LOST:
        page_say(out, IS_LOST, owner);
        break;
    case DLOCK_EVENT_WAIT:
        if (mark->detail == DLOCK_WAIT_GIVEN_UP)
            page_say(out, GIVES_UP, owner);
        else
            page_say(out, WAITS, owner);
        break;
    case DLOCK_EVENT_WAKE:
        page_say(out, WAKES, owner);
        break;
    default:
        page_say(out, OTHER_EVENT, owner, dlock_event_name(mark->kind));
        break;
    }
}

static void print_mark(FILE *out, const struct page_scene *s,
                       const struct history_mark *mark)
{
    char owner[PAGE_TEXT_MAX], pid[PAGE_TIME_MAX];

    if (mark->kind != DLOCK_EVENT_FAULT) {
        page_owner(owner, s->h, mark->process, mark->owner);
        print_event(out, owner, mark);
        return;
    }
    page_say(out, FAULT, s->h->names[mark->name], history_phase_name(mark->detail));
    if (mark->owner != 0)
        page_say(out, OF_PID, whole(pid, mark->owner));
    if (mark->assumption != DLOCK_ASSUMES_NONE)
        page_say(out, BREAKS_WHAT, dlock_assumption_text(mark->assumption));
}

/* The time at the beginning of an event's line. */
static void print_at(FILE *out, const struct page_scene *s, int64_t at_ns)
{
    char at[PAGE_TIME_MAX];

    page_time(at, s, at_ns);
    page_phrase(out, "span", at);
    fputs(" &#183; ", out);
}

static void print_faults_head(FILE *out)
{
    page_say_in(out, "p class=\"note\"", FAULTS);
    fputs("<ol class=\"faults\">\n", out);
}

void page_faults(FILE *out, const struct page_scene *s)
{
    bool has_begun = false;

    for (int i = 0; i < s->step_count; i++) {
        const struct history_mark *mark = s->steps[i].mark;

        if (mark == NULL || mark->kind != DLOCK_EVENT_FAULT)
            continue;
        if (!has_begun)
            print_faults_head(out);
        has_begun = true;
        fputs("<li>", out);
        print_at(out, s, mark->at_ns);
        print_mark(out, s, mark);
        fputs("</li>\n", out);
    }
    if (has_begun)
        fputs("</ol>\n", out);
}

void page_steps_begin(FILE *out)
{
    fputs("<ol class=\"steps\" tabindex=\"0\"", out);
    page_name(out, STEPS);
    fputs(">\n", out);
}

void page_steps(FILE *out, const struct page_scene *s)
{
    char owner[PAGE_TEXT_MAX];

    page_steps_begin(out);
    for (int i = 0; i < s->step_count; i++) {
        const struct page_step *step = &s->steps[i];

        fprintf(out, "<li data-x=\"%.2f\">", page_x(s, step->at_ns));
        print_at(out, s, step->at_ns);
        if (step->call == NULL) {
            print_mark(out, s, step->mark);
        } else {
            page_owner(owner, s->h, step->call->process, step->call->owner);
            if (step->is_answer)
                print_answered(out, s, step->call, owner);
            else
                print_asked(out, step->call, owner);
        }
        fputs("</li>\n", out);
    }
    fputs("</ol>\n", out);
}
