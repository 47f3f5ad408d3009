/* SPDX-License-Identifier: MIT */
/* terminal.c -- a performance on a terminal: the narration, the events, the holders over
 * time, and the verdict. */
#include "loadtest/scenario/narration/terminal.h"

#include <inttypes.h>
#include <string.h>

#include "base/os/clock.h"
#include "loadtest/check/timeline.h"
#include "loadtest/kit/style.h"
#include "loadtest/scenario/result.h"
#include "loadtest/scenario/narration/measurements.h"
#include "loadtest/scenario/stage.h"
#include "loadtest/scenario/variation.h"

/* Tell which background load the seed has drawn. */
static void tell_background(FILE *out, const struct stage *s)
{
    const struct scenario_variation *v = &s->vary;

    if (!v->is_varied)
        return;
    fprintf(out,
            s->is_chinese ? "后台负载：%d 个进程 x %d 个线程，%d 个锁名，租约 %d ms，"
                            "线路延迟 %d ms（%s），停顿 %d 次；第一台服务器是第 %d 台\n\n"
                          : "background load: %d processes x %d threads, %d names, leases "
                            "of %d ms, delays of %d ms %s, %d stalls; the first server is "
                            "number %d\n\n",
            v->processes, v->threads, v->names, v->lease_ms, v->delay_ms,
            v->delays_answers ? "to-client" : "to-server", v->stalls, v->first_node + 1);
}

void tell_opening(FILE *out, const struct stage *s)
{
    const struct scenario *scenario = s->setup->scenario;
    const char *const *story = s->is_chinese ? scenario->story_zh : scenario->story;

    fprintf(out, "%s%s %s%s\n%s\n\n", report_style(out, STYLE_BOLD), scenario->number,
            s->is_chinese ? scenario->title_zh : scenario->title,
            report_style(out, STYLE_PLAIN), scenario->source);
    for (int i = 0; i < SCENARIO_LINES && story[i] != NULL; i++)
        fprintf(out, "  %s\n", story[i]);
    fprintf(out, s->is_chinese ? "\n锁：%s，库存兜底：%s，租约 %d ms\n\n"
                               : "\nlock %s, stock guard %s, lease %d ms\n\n",
            s->setup->lock->name, s->setup->guard->name, stage_lease_ms(s));
    tell_background(out, s);
}

static enum report_style style_of(enum stage_line_kind kind)
{
    switch (kind) {
    case LINE_TOLD:
        return STYLE_BOLD;
    case LINE_FAULT:
        return STYLE_WARN;
    default:
        return STYLE_PLAIN;
    }
}

void tell_line(FILE *out, const struct stage *s, const struct stage_line *line)
{
    if (line->kind == LINE_WIRE && !s->shows_wire)
        return;
    fprintf(out, "%9.1f ms  %s%s%s%s%s\n",
            (double)(line->at_ns - s->zero_ns) / (double)DLOCK_NS_PER_MS,
            report_style(out, style_of(line->kind)), line->kind == LINE_TOLD ? "" : "  ",
            line->kind == LINE_WIRE && line->actor >= 0 ? s->actors[line->actor].name : "",
            line->kind == LINE_WIRE ? " " : "", line->text[s->is_chinese]);
    fputs(report_style(out, STYLE_PLAIN), out);
}

/* From the first call to the last event. */
static struct check_example whole_story(const struct stage *s)
{
    const struct history *h = &s->history;
    struct check_example all = {.name =
                                    (uint32_t)history_find_name(&s->history, s->lock)};

    if (h->call_count == 0)
        return all;
    all.from_ns = all.to_ns = h->calls[0].invoke_ns;
    for (size_t i = 0; i < h->call_count; i++) {
        const struct history_call *call = &h->calls[i];
        int64_t end_ns = call->is_answered ? call->answer_ns : call->invoke_ns;

        if (end_ns > all.to_ns)
            all.to_ns = end_ns;
    }
    return all;
}

static void tell_findings(FILE *out, const struct stage *s)
{
    for (size_t i = 0; i < CHECK_COUNT; i++) {
        const struct check_finding *finding = &s->verdict.findings[i];

        if (finding->count == 0 || finding->example_count == 0)
            continue;
        fprintf(out, s->is_chinese ? "检查器 %s：%s\n" : "the checker, %s: %s\n",
                check_property_name(i), finding->examples[0].text);
        if (finding->examples[0].assumption != DLOCK_ASSUMES_NONE)
            fprintf(out, s->is_chinese ? "  不成立的前提：%s\n"
                                       : "  what did not hold: %s\n",
                    dlock_assumption_text(finding->examples[0].assumption));
    }
}

static void tell_signs(FILE *out, const struct stage *s)
{
    const char *separator = s->is_chinese ? "；看到：" : "; seen: ";

    fprintf(out, s->is_chinese ? "发放 %" PRId64 "，卖出 %" PRId64 "，剩余 %" PRId64
                               : "issued %" PRId64 ", sold %" PRId64 ", left %" PRId64,
            s->issued, s->sold, s->left);
    for (int i = 0; i < SIGN_COUNT; i++) {
        if (!(s->result->signs & (1u << i)))
            continue;
        fprintf(out, "%s%s", separator, scenario_sign_name(i, s->is_chinese));
        separator = s->is_chinese ? "、" : ", ";
    }
    fputs("\n", out);
}

static void tell_verdict(FILE *out, const struct scenario_setup *setup,
                         const struct scenario_result *r, bool is_chinese)
{
    fprintf(out, is_chinese ? "%s%s%s：%s%s%s，" : "%s%s%s: %s%s%s, ",
            report_style(out, STYLE_BOLD), setup->lock->name, report_style(out, STYLE_PLAIN),
            report_style(out, r->outcome == SCENARIO_HOLDS ? STYLE_GOOD : STYLE_WARN),
            scenario_outcome_name(r->outcome, is_chinese),
            report_style(out, STYLE_PLAIN));
    if (r->is_expected)
        fputs(is_chinese ? "符合预期\n" : "as expected\n", out);
    else
        fprintf(out, is_chinese ? "%s%s%s（%s）\n" : "%s%s%s (%s)\n", report_style(out, STYLE_BAD),
                r->rc == EXIT_UNKNOWN ? is_chinese ? "无法判定" : "unknown"
                : is_chinese          ? "与预期不符"
                                      : "UNEXPECTED",
                report_style(out, STYLE_PLAIN), r->why);
}

void tell_outcome(FILE *out, const struct stage *s)
{
    if (!s->result->has_happened) {
        fprintf(out, s->is_chinese ? "\n场景的步骤没有发生：%s\n" : "\nThe scenario did not happen: %s\n",
                s->result->why);
        return;
    }
    fputs("\n", out);
    tell_findings(out, s);
    tell_signs(out, s);
    if (s->result->tally.is_counted) {
        table_sentence(out, &s->result->tally);
        fputc('\n', out);
    }
    tell_verdict(out, s->setup, s->result, s->is_chinese);
}

void tell_ending(FILE *out, const struct stage *s)
{
    struct check_example all = whole_story(s);

    if (s->result->has_happened) {
        fputs("\n", out);
        timeline_draw(out, timeline_width(out), &s->history, &all);
    }
    tell_outcome(out, s);
}
