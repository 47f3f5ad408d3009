/* SPDX-License-Identifier: MIT */
/* scenario_actor.c -- what a story tells its actors to do, and what is done to them. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "loadtest/interrupt.h"
#include "loadtest/scenario_inside.h"
#include "lock/clock.h"

enum { POLL_MS = 5 };

/* ---- what is said of it ---- */

/* What the answer was, for people. */
static void print_answer(char *out, size_t size, const struct player_answer *answer,
                         bool is_chinese)
{
    switch (answer->what) {
    case PLAYER_READ:
        snprintf(out, size, "%" PRId64, answer->stock);
        break;
    case PLAYER_BUY:
    case PLAYER_BUY_AGAIN:
        snprintf(out, size, "%s", scenario_sale_name(answer->sale, is_chinese));
        break;
    case PLAYER_IS_PROTECTED:
        snprintf(out, size, "%s", answer->is_so ? is_chinese ? "仍有效" : "still valid"
                                  : is_chinese  ? "已失效"
                                                : "not valid any more");
        break;
    default:
        if (answer->what == PLAYER_ACQUIRE && answer->status == DLOCK_OK &&
            answer->fence != 0)
            snprintf(out, size, is_chinese ? "%s，栅栏号 %" PRIu64 : "%s, fence %" PRIu64,
                     dlock_status_id(answer->status), answer->fence);
        else
            snprintf(out, size, "%s", dlock_status_id(answer->status));
    }
}

static void say_answer(struct actor *a, const struct player_answer *answer)
{
    char texts[2][SCENARIO_LINE_MAX], came[64];

    for (int chinese = 0; chinese < 2; chinese++) {
        print_answer(came, sizeof came, answer, chinese);
        snprintf(texts[chinese], sizeof texts[chinese], "%s %s: %s%s%s", a->name,
                 player_words(answer->what, chinese), came,
                 answer->error[0] != '\0' ? "; " : "", answer->error);
    }
    stage_say(a->stage, LINE_ACT, a->index, texts[0], texts[1]);
}

static void say_begun(struct actor *a, enum player_what what)
{
    char texts[2][SCENARIO_LINE_MAX];

    for (int chinese = 0; chinese < 2; chinese++)
        snprintf(texts[chinese], sizeof texts[chinese], "%s %s ...", a->name,
                 player_words(what, chinese));
    stage_say(a->stage, LINE_ACT, a->index, texts[0], texts[1]);
}

static void say_done(struct actor *a, const char *english, const char *chinese)
{
    char texts[2][SCENARIO_LINE_MAX];

    snprintf(texts[0], sizeof texts[0], "%s %s", a->name, english);
    snprintf(texts[1], sizeof texts[1], "%s %s", a->name, chinese);
    stage_say(a->stage, LINE_FAULT, a->index, texts[0], texts[1]);
}

/* ---- orders ---- */

static void begin(struct actor *a, const struct player_order *what)
{
    struct player_order order = *what;

    if (a->is_busy && order.what < PLAYER_AT_ONCE)
        stage_fail(a->stage, "%s is still busy: end that first", a->name);
    order.hand = a->hand;
    if (order.what < PLAYER_AT_ONCE) {
        a->is_busy = true;
        a->begun = order.what;
        a->begun_ns = dlock_clock_ns();
    }
    process_tell(a->stage, a->process, &order);
}

static const struct player_answer *end(struct actor *a, enum player_what what)
{
    const struct player_answer *answer = process_await(a->stage, a, what);

    if (what < PLAYER_AT_ONCE)
        a->is_busy = false;
    a->last = *answer;
    return &a->last;
}

static const struct player_answer *act(struct actor *a, const struct player_order *what)
{
    begin(a, what);
    return end(a, what->what);
}

/* And tell of it. */
static const struct player_answer *perform(struct actor *a,
                                           const struct player_order *what)
{
    const struct player_answer *answer = act(a, what);

    say_answer(a, answer);
    return answer;
}

static dlock_status perform_plain(struct actor *a, enum player_what what)
{
    return perform(a, &(struct player_order){.what = what})->status;
}

dlock_status actor_acquire_for(struct actor *a, int64_t wait_ms, int lease_ms)
{
    return perform(a, &(struct player_order){.what = PLAYER_ACQUIRE,
                                             .wait_ms = wait_ms,
                                             .lease_ms = lease_ms})
        ->status;
}

dlock_status actor_acquire(struct actor *a, int64_t wait_ms)
{
    return actor_acquire_for(a, wait_ms, 0);
}

dlock_status actor_acquire_shared(struct actor *a, int64_t wait_ms)
{
    return perform(a, &(struct player_order){.what = PLAYER_ACQUIRE,
                                             .wait_ms = wait_ms,
                                             .is_shared = true})
        ->status;
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
    return perform_plain(a, PLAYER_RELEASE);
}

void actor_leave(struct actor *a)
{
    need_ok(a, actor_release(a), "leave");
}

dlock_status actor_renew(struct actor *a)
{
    return perform_plain(a, PLAYER_RENEW);
}

dlock_status actor_abandon(struct actor *a)
{
    return perform_plain(a, PLAYER_ABANDON);
}

dlock_status actor_release_again(struct actor *a)
{
    return perform_plain(a, PLAYER_RELEASE_AGAIN);
}

bool actor_is_protected(struct actor *a)
{
    return perform(a, &(struct player_order){.what = PLAYER_IS_PROTECTED})->is_so;
}

uint64_t actor_fence(const struct actor *a)
{
    return a->last.fence;
}

dlock_info actor_inspect(struct actor *a)
{
    const struct player_answer *answer =
        act(a, &(struct player_order){.what = PLAYER_INSPECT});

    if (answer->status != DLOCK_OK)
        stage_fail(a->stage, "%s cannot look at the lock: %s; %s", a->name,
                   dlock_status_id(answer->status), answer->error);
    return answer->info;
}

int64_t actor_read(struct actor *a)
{
    const struct player_answer *answer =
        perform(a, &(struct player_order){.what = PLAYER_READ});

    if (answer->sale == SALE_FAILED)
        stage_fail(a->stage, "%s cannot read the stock: %s", a->name, answer->error);
    return answer->stock;
}

/* What the resource was asked, and what it answered, in the order in which it did. */
static enum scenario_sale keep_sale(struct actor *a, const struct player_answer *answer)
{
    struct stage *s = a->stage;

    if (answer->fence != 0 && s->write_count < sizeof s->writes / sizeof s->writes[0] &&
        (answer->sale == SALE_SOLD || answer->sale == SALE_STALE))
        s->writes[s->write_count++] = (struct check_write){
            .fence = answer->fence, .is_accepted = answer->sale == SALE_SOLD};
    if (answer->sale == SALE_STALE)
        s->signs |= SIGN_STALE_REFUSED;
    return answer->sale;
}

enum scenario_sale actor_buy(struct actor *a)
{
    return keep_sale(a, perform(a, &(struct player_order){.what = PLAYER_BUY}));
}

enum scenario_sale actor_buy_again(struct actor *a)
{
    return keep_sale(a, perform(a, &(struct player_order){.what = PLAYER_BUY_AGAIN}));
}

dlock_status actor_child_try(struct actor *a)
{
    return perform_plain(a, PLAYER_CHILD_TRY);
}

dlock_status actor_child_release(struct actor *a)
{
    return perform_plain(a, PLAYER_CHILD_RELEASE);
}

void actor_change_thread(struct actor *a)
{
    if (a->is_busy)
        stage_fail(a->stage, "%s is still busy: end that first", a->name);
    perform_plain(a, PLAYER_CHANGE_THREAD);
}

/* ---- begun now, answered later ---- */

static void begin_and_say(struct actor *a, const struct player_order *order)
{
    say_begun(a, order->what);
    begin(a, order);
}

void actor_begin_acquire(struct actor *a, int64_t wait_ms)
{
    begin_and_say(a, &(struct player_order){.what = PLAYER_ACQUIRE, .wait_ms = wait_ms});
}

void actor_begin_release(struct actor *a)
{
    begin_and_say(a, &(struct player_order){.what = PLAYER_RELEASE});
}

void actor_begin_renew(struct actor *a)
{
    begin_and_say(a, &(struct player_order){.what = PLAYER_RENEW});
}

void actor_begin_buy(struct actor *a)
{
    begin_and_say(a, &(struct player_order){.what = PLAYER_BUY});
}

dlock_status actor_end(struct actor *a)
{
    const struct player_answer *answer = end(a, a->begun);

    say_answer(a, answer);
    return answer->status;
}

enum scenario_sale actor_end_buy(struct actor *a)
{
    actor_end(a);
    return keep_sale(a, &a->last);
}

bool actor_has_ended(struct actor *a)
{
    return process_has_answered(a->stage, a);
}

/* ---- what is done to actors ---- */

int64_t actor_pid(const struct actor *a)
{
    return a->process->pid;
}

/* Wait until it is so. */
static void await_state(struct actor *a, bool (*is_so)(struct actor *a, int arg), int arg,
                        const char *what)
{
    int64_t by_ns = dlock_clock_after(dlock_clock_ns(), SCENARIO_STEP_MS);

    while (!is_so(a, arg))
        if (dlock_clock_ns() >= by_ns || !interrupt_sleep_ms(POLL_MS))
            stage_fail(a->stage, "%s: %s did not come about", a->name, what);
}

static bool has_state(struct actor *a, int state)
{
    return child_state(&a->process->child) == (char)state;
}

static bool has_stopped(struct actor *a, int unused)
{
    (void)unused;
    return has_state(a, 'T');
}

static bool runs(struct actor *a, int unused)
{
    (void)unused;
    return !has_state(a, 'T');
}

void actor_stop(struct actor *a)
{
    stage_fault(a->stage, "process-stop", DLOCK_FAULT_HAS_BEGUN, DLOCK_ASSUMES_PROCESS,
                actor_pid(a));
    child_signal(&a->process->child, SIGSTOP);
    await_state(a, has_stopped, 0, "the process is to stop");
    a->process->is_stopped = true;
    say_done(a, "stops: the whole process, as in a long garbage collection",
             "整个进程停住，就像一次漫长的垃圾回收");
}

/* Whoever stopped it. */
static void resume(struct actor *a)
{
    child_signal(&a->process->child, SIGCONT);
    await_state(a, runs, 0, "the process is to go on");
    a->process->is_stopped = false;
}

void actor_continue(struct actor *a)
{
    say_done(a, "goes on, and does not know that it had stopped",
             "继续运行，并不知道自己停过");
    resume(a);
    stage_fault(a->stage, "process-stop", DLOCK_FAULT_HAS_ENDED, DLOCK_ASSUMES_PROCESS,
                actor_pid(a));
}

static void reap(struct actor *a)
{
    if (!child_wait(&a->process->child, SCENARIO_STEP_MS, NULL))
        stage_fail(a->stage, "the process of %s does not die", a->name);
    a->process->is_dead = true;
    for (int i = 0; i < a->stage->actor_count; i++)
        if (a->stage->actors[i].process == a->process)
            a->stage->actors[i].is_busy = false;
}

void actor_kill(struct actor *a)
{
    stage_fault(a->stage, "process-kill", DLOCK_FAULT_HAPPENED, DLOCK_ASSUMES_NONE,
                actor_pid(a));
    child_signal(&a->process->child, SIGKILL);
    reap(a);
    say_done(a, "is killed", "被杀死");
}

static void say_point(struct actor *a, const char *english, const char *chinese,
                      dlock_fault_point point)
{
    char texts[2][SCENARIO_LINE_MAX];

    snprintf(texts[0], sizeof texts[0], "%s %s: %s", english,
             dlock_fault_point_name(point), dlock_fault_point_where(point));
    snprintf(texts[1], sizeof texts[1], "%s %s", chinese, dlock_fault_point_name(point));
    say_done(a, texts[0], texts[1]);
}

void actor_arm(struct actor *a, dlock_fault_point point, dlock_fault_action action)
{
    const struct player_answer *answer = act(
        a, &(struct player_order){.what = PLAYER_ARM, .point = point, .action = action});

    if (answer->status != DLOCK_OK)
        stage_fail(a->stage, "%s is armed already", dlock_fault_point_name(point));
    a->process->armed = action;
}

static bool is_held(struct actor *a, int point)
{
    return act(a, &(struct player_order){.what = PLAYER_LOOK,
                                         .point = (dlock_fault_point)point})
        ->is_so;
}

void actor_await_point(struct actor *a, dlock_fault_point point)
{
    switch (a->process->armed) {
    case DLOCK_FAULT_STOP:
        await_state(a, has_stopped, 0, dlock_fault_point_name(point));
        a->process->is_stopped = true;
        say_point(a, "stops at", "停在断点", point);
        break;
    case DLOCK_FAULT_KILL:
        reap(a);
        say_point(a, "dies at", "死于断点", point);
        break;
    default:
        await_state(a, is_held, (int)point, dlock_fault_point_name(point));
        say_point(a, "is held at", "停在断点", point);
        break;
    }
}

void actor_let_go(struct actor *a, dlock_fault_point point)
{
    say_point(a, "goes on from", "从断点继续", point);
    if (a->process->is_stopped) {
        resume(a); /* the library itself records that it stopped there, and went on */
        return;
    }
    if (act(a, &(struct player_order){.what = PLAYER_LET_GO, .point = point})->status !=
        DLOCK_OK)
        stage_fail(a->stage, "%s was not held at %s", a->name,
                   dlock_fault_point_name(point));
}

/* The library records that an acquire was refused and waits now; of those that wait
 * in their store, the store knows. */
static bool is_in_queue(struct actor *a, int unused)
{
    struct history h = {0};
    bool waits = false;

    (void)unused;
    if (!history_read(&h, a->stage->records))
        stage_fail(a->stage, "the records cannot be read");
    for (size_t i = 0; i < h.mark_count; i++)
        waits |= h.marks[i].kind == DLOCK_EVENT_WAIT &&
                 h.marks[i].at_ns >= a->begun_ns &&
                 h.processes[h.marks[i].process].pid == (uint32_t)actor_pid(a);
    history_free(&h);
    return waits || actor_inspect(a).waiter_count > 0;
}

void actor_await_waiting(struct actor *a)
{
    await_state(a, is_in_queue, 0, "to wait for the lock");
}

static bool is_free(struct actor *a, int unused)
{
    (void)unused;
    return !actor_inspect(a).locked;
}

void stage_need_free(struct stage *s, struct actor *a)
{
    await_state(a, is_free, 0, "the lock is to be free");
    stage_say(s, LINE_FAULT, -1, "The store says: nobody has the lock.",
              "存储说：没有人持有锁。");
}
