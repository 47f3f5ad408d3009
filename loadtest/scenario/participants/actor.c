/* SPDX-License-Identifier: MIT */
/* actor.c -- the calls by which a scenario moves its participants. */
#include "loadtest/scenario/participants/actor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/os/clock.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/scenario/result.h"
#include "loadtest/scenario/participants/process.h"
#include "loadtest/scenario/participants/process_inside.h"
#include "loadtest/scenario/stage.h"

enum { POLL_MS = 5, ASK_MS = 10 };

/* ---- the lines of the narration ---- */

/* Print the answer, for people. */
static void print_answer(char *out, size_t size, const struct actor_answer *answer,
                         bool is_chinese)
{
    switch (answer->what) {
    case ACTOR_READ:
    case ACTOR_GLANCE:
        snprintf(out, size, "%" PRId64, answer->stock);
        break;
    case ACTOR_BUY:
    case ACTOR_BUY_AGAIN:
    case ACTOR_RESERVE:
        snprintf(out, size, "%s", scenario_sale_name(answer->sale, is_chinese));
        break;
    case ACTOR_IS_PROTECTED:
        snprintf(out, size, "%s", answer->is_so ? is_chinese ? "仍有效" : "still valid"
                                  : is_chinese  ? "已失效"
                                                : "not valid any more");
        break;
    default:
        if (answer->what == ACTOR_ACQUIRE && answer->status == DLOCK_OK &&
            answer->fence != 0)
            snprintf(out, size, is_chinese ? "%s，栅栏令牌 %" PRIu64 : "%s, fence %" PRIu64,
                     dlock_status_id(answer->status), answer->fence);
        else
            snprintf(out, size, "%s", dlock_status_id(answer->status));
    }
}

/* Say the answer, which was waited for since `from_ns`. */
static void say_answer(struct actor *a, const struct actor_answer *answer,
                       int64_t from_ns)
{
    char texts[2][SCENARIO_LINE_MAX], came[64];

    for (int chinese = 0; chinese < 2; chinese++) {
        print_answer(came, sizeof came, answer, chinese);
        snprintf(texts[chinese], sizeof texts[chinese], "%s %s: %s%s%s", stage_person(a, chinese),
                 actor_words(answer->what, chinese), came,
                 answer->error[0] != '\0' ? "; " : "", answer->error);
    }
    stage_say_since(a->stage, LINE_ACT, from_ns, a->index, texts[0], texts[1]);
}

/* ---- orders ---- */

static void begin(struct actor *a, const struct actor_order *what)
{
    struct actor_order order = *what;

    if (a->is_busy && order.what < ACTOR_AT_ONCE)
        stage_fail(a->stage, "%s is still busy: end that first", a->name);
    order.thread = a->thread;
    if (order.what < ACTOR_AT_ONCE) {
        a->is_busy = true;
        a->begun = order.what;
        a->begun_ns = dlock_clock_ns();
    }
    process_tell(a->stage, a->process, &order);
}

static const struct actor_answer *end(struct actor *a, enum actor_action what)
{
    const struct actor_answer *answer = process_await(a->stage, a, what);

    if (what < ACTOR_AT_ONCE)
        a->is_busy = false;
    a->last = *answer;
    return &a->last;
}

const struct actor_answer *actor_act(struct actor *a, const struct actor_order *what)
{
    begin(a, what);
    return end(a, what->what);
}

/* actor_act(), with a line in the narration. */
static const struct actor_answer *perform(struct actor *a,
                                           const struct actor_order *what)
{
    int64_t from_ns = dlock_clock_ns();
    const struct actor_answer *answer = actor_act(a, what);

    say_answer(a, answer, from_ns);
    return answer;
}

static dlock_status perform_plain(struct actor *a, enum actor_action what)
{
    return perform(a, &(struct actor_order){.what = what})->status;
}

dlock_status actor_acquire_for(struct actor *a, int64_t wait_ms, int lease_ms)
{
    return perform(a, &(struct actor_order){.what = ACTOR_ACQUIRE,
                                             .wait_ms = wait_ms,
                                             .lease_ms = lease_ms})
        ->status;
}

dlock_status actor_acquire(struct actor *a, int64_t wait_ms)
{
    return actor_acquire_for(a, wait_ms, 0);
}

dlock_status actor_try(struct actor *a)
{
    return actor_acquire(a, 0);
}

dlock_status actor_try_until_answered(struct actor *a)
{
    int64_t by_ns = dlock_clock_after(dlock_clock_ns(), SCENARIO_STEP_MS);
    dlock_status st = actor_try(a);

    while (dlock_is_failure(st)) {
        if (dlock_clock_ns() >= by_ns || !interrupt_sleep_ms(POLL_MS))
            stage_fail(a->stage, "%s is not answered any more", a->name);
        st = actor_try(a);
    }
    return st;
}

static void need_ok(struct actor *a, dlock_status st, const char *what)
{
    /* A store that did not answer in its time may do so when the machine has less to do. */
    a->stage->result->was_spoilt |= st == DLOCK_UNKNOWN || st == DLOCK_IO;
    if (st != DLOCK_OK)
        stage_fail(a->stage, "%s could not %s: %s; %s", a->name, what,
                   dlock_status_id(st), a->last.error);
}

void actor_enter(struct actor *a)
{
    need_ok(a, actor_acquire(a, SCENARIO_STEP_MS / 2), "enter");
}

dlock_status actor_outwait(struct actor *a)
{
    return actor_acquire_for(
        a, stage_lock_ends(a->stage) ? SCENARIO_STEP_MS / 2 : 2 * stage_lease_ms(a->stage),
        stage_has(a->stage, DLOCK_CAP_EXPIRES) ? SCENARIO_LONG_MS : 0);
}

dlock_status actor_release(struct actor *a)
{
    return perform_plain(a, ACTOR_RELEASE);
}

void actor_leave(struct actor *a)
{
    need_ok(a, actor_release(a), "leave");
}

dlock_status actor_renew(struct actor *a)
{
    return perform_plain(a, ACTOR_RENEW);
}

dlock_status actor_release_again(struct actor *a)
{
    return perform_plain(a, ACTOR_RELEASE_AGAIN);
}

dlock_status actor_release_for(struct actor *a, struct actor *holder)
{
    if (a->process != holder->process)
        stage_fail(a->stage, "%s has no way to the lease of %s", a->name, holder->name);
    return perform(a, &(struct actor_order){.what = ACTOR_RELEASE_FOR,
                                             .holder = holder->thread})
        ->status;
}

bool actor_is_protected(struct actor *a)
{
    return perform(a, &(struct actor_order){.what = ACTOR_IS_PROTECTED})->is_so;
}

void actor_await_unprotected(struct actor *a)
{
    const struct actor_order ask = {.what = ACTOR_IS_PROTECTED};
    int64_t end_ns = dlock_clock_after(dlock_clock_ns(), SCENARIO_STEP_MS);

    while (actor_act(a, &ask)->is_so) {
        if (dlock_clock_ns() >= end_ns || !interrupt_sleep_ms(ASK_MS))
            stage_fail(a->stage, "%s goes on being told that its lease is valid", a->name);
    }
    (void)actor_is_protected(a);
}

uint64_t actor_fence(const struct actor *a)
{
    return a->last.fence;
}

dlock_info actor_inspect(struct actor *a)
{
    const struct actor_answer *answer =
        actor_act(a, &(struct actor_order){.what = ACTOR_INSPECT});

    if (answer->status != DLOCK_OK)
        stage_fail(a->stage, "%s cannot look at the lock: %s; %s", a->name,
                   dlock_status_id(answer->status), answer->error);
    return answer->info;
}

bool actor_finds_no_end(struct actor *a)
{
    return stage_has(a->stage, DLOCK_CAP_EXPIRES) && actor_inspect(a).left_ms == INT64_MAX;
}

static int64_t look(struct actor *a, enum actor_action how)
{
    const struct actor_answer *answer = perform(a, &(struct actor_order){.what = how});

    if (answer->sale == SALE_FAILED) {
        /* A database that did not answer in its time may do so the next time. */
        a->stage->result->was_spoilt = true;
        stage_fail(a->stage, "%s cannot read the stock: %s", a->name, answer->error);
    }
    return answer->stock;
}

int64_t actor_read(struct actor *a)
{
    return look(a, ACTOR_READ);
}

int64_t actor_glance(struct actor *a)
{
    return look(a, ACTOR_GLANCE);
}

/* Keep each answer of the voucher's row, in the order of the writes. */
static enum sale_answer keep_sale(struct actor *a, const struct actor_answer *answer)
{
    struct stage *s = a->stage;

    /* In a measured scenario the answers are not kept, since processes that were stopped
     * report their answers out of order. */
    if (!scenario_is_measured(s->setup->scenario) && answer->fence != 0 &&
        s->write_count < sizeof s->writes / sizeof s->writes[0] &&
        (answer->sale == SALE_SOLD || answer->sale == SALE_STALE))
        s->writes[s->write_count++] = (struct check_write){
            .fence = answer->fence, .is_accepted = answer->sale == SALE_SOLD};
    if (answer->sale == SALE_SOLD)
        stage_note_told(s, false, answer->user, answer->request);
    s->told_sold_out |= answer->sale == SALE_SOLD_OUT;
    if (answer->sale == SALE_STALE)
        s->signs |= SIGN_STALE_REFUSED;
    return answer->sale;
}

enum sale_answer actor_buy(struct actor *a)
{
    return keep_sale(a, perform(a, &(struct actor_order){.what = ACTOR_BUY}));
}

enum sale_answer actor_buy_again(struct actor *a)
{
    return keep_sale(a, perform(a, &(struct actor_order){.what = ACTOR_BUY_AGAIN}));
}

/* Reserve a unit, which is not bought yet. */
enum sale_answer actor_reserve(struct actor *a)
{
    const struct actor_answer *answer =
        perform(a, &(struct actor_order){.what = ACTOR_RESERVE});

    if (answer->sale == SALE_FAILED)
        stage_fail(a->stage, "%s has no counter: %s", a->name, answer->error);
    a->stage->told_sold_out |= answer->sale == SALE_SOLD_OUT;
    return answer->sale;
}

dlock_status actor_child_try(struct actor *a)
{
    return perform_plain(a, ACTOR_CHILD_TRY);
}

dlock_status actor_child_release(struct actor *a)
{
    return perform_plain(a, ACTOR_CHILD_RELEASE);
}

void actor_change_thread(struct actor *a)
{
    if (a->is_busy)
        stage_fail(a->stage, "%s is still busy: end that first", a->name);
    if (!perform(a, &(struct actor_order){.what = ACTOR_CHANGE_THREAD})->is_so)
        stage_fail(a->stage, "%s: no new thread has the id of the old one", a->name);
}

/* ---- begun now, answered later ---- */

static void begin_and_say(struct actor *a, const struct actor_order *order)
{
    char texts[2][SCENARIO_LINE_MAX];

    for (int chinese = 0; chinese < 2; chinese++)
        snprintf(texts[chinese], sizeof texts[chinese], "%s %s ...",
                 stage_person(a, chinese), actor_words(order->what, chinese));
    stage_say(a->stage, LINE_ACT, a->index, texts[0], texts[1]);
    begin(a, order);
}

void actor_begin_acquire(struct actor *a, int64_t wait_ms)
{
    begin_and_say(a, &(struct actor_order){.what = ACTOR_ACQUIRE, .wait_ms = wait_ms});
}

void actor_begin_release(struct actor *a)
{
    begin_and_say(a, &(struct actor_order){.what = ACTOR_RELEASE});
}

void actor_begin_read(struct actor *a)
{
    begin_and_say(a, &(struct actor_order){.what = ACTOR_READ});
}

void actor_begin_buy(struct actor *a)
{
    begin_and_say(a, &(struct actor_order){.what = ACTOR_BUY});
}

void actor_begin_buy_for(struct actor *a, const struct actor *holder)
{
    if (a->process != holder->process)
        stage_fail(a->stage, "%s has no thread in the process of %s", a->name,
                   holder->name);
    begin_and_say(a, &(struct actor_order){.what = ACTOR_BUY,
                                            .fence = actor_fence(holder)});
}

dlock_status actor_end(struct actor *a)
{
    int64_t from_ns = dlock_clock_ns();
    const struct actor_answer *answer = end(a, a->begun);

    say_answer(a, answer, from_ns);
    return answer->status;
}

enum sale_answer actor_end_buy(struct actor *a)
{
    actor_end(a);
    return keep_sale(a, &a->last);
}

bool actor_end_read(struct actor *a)
{
    actor_end(a);
    return a->last.sale != SALE_FAILED;
}

bool actor_has_ended(struct actor *a)
{
    return process_has_answered(a->stage, a);
}
