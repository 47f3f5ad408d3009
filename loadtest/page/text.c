/* SPDX-License-Identifier: MIT */
/* text.c -- the words of the page, none of which becomes a tag. */
#include <inttypes.h>
#include <string.h>

#include "base/text/utf8.h"
#include "loadtest/page/scene.h"
#include "base/os/clock.h"
#include "lock/record/recorder.h"

static const char *entity_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void page_text(FILE *out, const char *text)
{
    while (*text != '\0') {
        unsigned char c = (unsigned char)*text;
        size_t len = c < ' ' || c == 0x7f ? 0 : utf8_char_len(text);
        const char *entity = entity_of(*text);

        if (len == 0)
            fputs(UTF8_REPLACEMENT, out);
        else if (entity != NULL)
            fputs(entity, out);
        else
            fwrite(text, 1, len, out);
        text += len > 0 ? len : 1;
    }
}

void page_both(FILE *out, const char *english, const char *chinese)
{
    fputs("<span class=\"en\" lang=\"en\">", out);
    page_text(out, english);
    fputs("</span><span class=\"zh\" lang=\"zh-CN\">", out);
    page_text(out, chinese);
    fputs("</span>", out);
}

void page_owner(FILE *out, const struct history *h, uint32_t process, uint64_t owner)
{
    char uuid[9];

    snprintf(uuid, sizeof(uuid), "%.8s", h->processes[process].uuid);
    if (h->processes[process].label[0] != '\0') {
        page_text(out, h->processes[process].label);
        fputs(", ", out);
    }
    fprintf(out, "pid %" PRIu32 ", ", h->processes[process].pid);
    page_text(out, uuid);
    fprintf(out, ":%" PRIu64, owner);
}

void page_time(FILE *out, const struct page_scene *s, int64_t at_ns)
{
    if (at_ns == HISTORY_NEVER)
        fputs("never", out);
    else
        fprintf(out, "%+.3f ms",
                (double)(at_ns - s->zero_ns) / (double)DLOCK_NS_PER_MS);
}

static void print_token(FILE *out, const struct history_call *call)
{
    static const uint8_t none[DLOCK_RECORD_TOKEN_SIZE];

    if (memcmp(call->token, none, sizeof(none)) == 0)
        return;
    fputs(", token ", out);
    for (size_t i = 0; i < sizeof(none); i++)
        fprintf(out, "%02x", call->token[i]);
}

static void print_asked(FILE *out, const struct history_call *call)
{
    fprintf(out, "asks to <b>%s</b>", dlock_event_name(call->kind));
    if (call->mode == DLOCK_MODE_SHARED)
        fputs(", shared", out);
    if (call->kind == DLOCK_EVENT_ACQUIRE && call->wait_ns > 0)
        fprintf(out, ", waiting for up to %.0f ms",
                (double)call->wait_ns / (double)DLOCK_NS_PER_MS);
    if (!call->is_answered)
        fputs("; there never was an answer", out);
}

static void print_answered(FILE *out, const struct page_scene *s,
                           const struct history_call *call)
{
    bool has_lease =
        call->kind == DLOCK_EVENT_ACQUIRE || call->kind == DLOCK_EVENT_RENEW;

    fprintf(out, "%s is answered <b>%s</b>", dlock_event_name(call->kind),
            dlock_status_id(call->status));
    if (call->status == DLOCK_OK && has_lease) {
        fputs(", lease until ", out);
        page_time(out, s, call->deadline_ns);
        if (call->fence != 0)
            fprintf(out, ", fence %" PRIu64, call->fence);
        if (call->level > 1)
            fprintf(out, ", level %d", call->level);
    } else if (call->deadline_ns > 0) {
        fputs(": it was granted, and heard too late, after ", out);
        page_time(out, s, call->deadline_ns);
    }
    print_token(out, call);
}

/* The events that concern one owner and are no calls. */
static const char *words_of(const struct history_mark *mark)
{
    switch (mark->kind) {
    case DLOCK_EVENT_LOST:
        return "is told that the lock is <b>lost</b>";
    case DLOCK_EVENT_WAIT:
        return mark->detail == DLOCK_WAIT_GIVEN_UP ? "<b>gives up</b> its place in the queue"
                                                   : "was refused, and <b>waits</b>";
    case DLOCK_EVENT_WAKE:
        return "<b>tries again</b>";
    default:
        return dlock_event_name(mark->kind);
    }
}

static void print_mark(FILE *out, const struct page_scene *s,
                       const struct history_mark *mark)
{
    static const char *const phases[] = {"", "armed", "begun", "ended", "happened"};
    size_t phase = (size_t)mark->detail;

    if (mark->kind != DLOCK_EVENT_FAULT) {
        page_owner(out, s->h, mark->process, mark->owner);
        fprintf(out, ": %s", words_of(mark));
        return;
    }
    fputs("<b>fault</b> ", out);
    page_text(out, s->h->names[mark->name]);
    fprintf(out, " %s",
            phase < sizeof(phases) / sizeof(phases[0]) ? phases[phase] : "?");
    if (mark->owner != 0)
        fprintf(out, ", pid %" PRIu64, mark->owner);
    if (mark->assumption != DLOCK_ASSUMES_NONE) {
        fputs("; what it breaks: ", out);
        page_text(out, dlock_assumption_text(mark->assumption));
    }
}

void page_faults(FILE *out, const struct page_scene *s)
{
    bool has_begun = false;

    for (int i = 0; i < s->step_count; i++) {
        const struct history_mark *mark = s->steps[i].mark;

        if (mark == NULL || mark->kind != DLOCK_EVENT_FAULT)
            continue;
        if (!has_begun)
            fputs("<p class=\"note\">The faults, by their numbers in the drawing:</p>\n"
                  "<ol class=\"faults\">\n", out);
        has_begun = true;
        fputs("<li>", out);
        page_time(out, s, mark->at_ns);
        fputs(" &#183; ", out);
        print_mark(out, s, mark);
        fputs("</li>\n", out);
    }
    if (has_begun)
        fputs("</ol>\n", out);
}

void page_steps(FILE *out, const struct page_scene *s)
{
    fputs("<ol class=\"steps\">\n", out);
    for (int i = 0; i < s->step_count; i++) {
        const struct page_step *step = &s->steps[i];

        fprintf(out, "<li data-x=\"%.2f\">", page_x(s, step->at_ns));
        page_time(out, s, step->at_ns);
        fputs(" &#183; ", out);
        if (step->call == NULL) {
            print_mark(out, s, step->mark);
        } else {
            page_owner(out, s->h, step->call->process, step->call->owner);
            fputs(": ", out);
            if (step->is_answer)
                print_answered(out, s, step->call);
            else
                print_asked(out, step->call);
        }
        fputs("</li>\n", out);
    }
    fputs("</ol>\n", out);
}
