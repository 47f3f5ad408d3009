/* SPDX-License-Identifier: MIT */
/* faults.c -- faults of participants: stop, continue, kill, hold at a point; each returns
 * when the fault has happened. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "base/os/clock.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/scenario/participants/actor.h"
#include "loadtest/scenario/participants/process_inside.h"
#include "loadtest/scenario/stage.h"

enum { POLL_MS = 5 };

static void say_done(struct actor *a, const char *english, const char *chinese)
{
    char texts[2][SCENARIO_LINE_MAX];

    snprintf(texts[0], sizeof texts[0], "%s %s", a->name, english);
    snprintf(texts[1], sizeof texts[1], "%s %s", stage_person(a, true), chinese);
    stage_say(a->stage, LINE_FAULT, a->index, texts[0], texts[1]);
}

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

static bool stands(struct actor *a, int still)
{
    return (child_state(&a->process->child) == 'T') == still;
}

void actor_stop(struct actor *a)
{
    stage_fault(a->stage, "process-stop", DLOCK_FAULT_HAS_BEGUN, DLOCK_ASSUMES_PROCESS,
                actor_pid(a));
    child_signal(&a->process->child, SIGSTOP);
    await_state(a, stands, true, "the process is to stop");
    a->process->is_stopped = true;
    say_done(a, "stops: the whole process, as in a long garbage collection",
             "整个进程停住，就像一次漫长的垃圾回收");
}

/* Continue the process, also if another caller stopped it. */
static void resume(struct actor *a)
{
    child_signal(&a->process->child, SIGCONT);
    await_state(a, stands, false, "the process is to go on");
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

void actor_shift_clock(struct actor *a, int64_t ahead_ms)
{
    int64_t ahead_s = imaxabs(ahead_ms) / 1000;
    char texts[2][SCENARIO_LINE_MAX];

    /* pid 0: the fault may concern any holder of the lock. */
    stage_fault(a->stage, "client-clock", DLOCK_FAULT_HAS_BEGUN, DLOCK_ASSUMES_CLOCK, 0);
    actor_act(a, &(struct actor_order){.what = ACTOR_SHIFT_CLOCK, .ahead_ms = ahead_ms});
    snprintf(texts[0], sizeof texts[0], "has a wall clock %s by %" PRId64 " s",
             ahead_ms < 0 ? "behind" : "ahead", ahead_s);
    snprintf(texts[1], sizeof texts[1], "的系统时钟%s了 %" PRId64 " 秒",
             ahead_ms < 0 ? "慢" : "快", ahead_s);
    say_done(a, texts[0], texts[1]);
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
    const struct actor_answer *answer = actor_act(
        a, &(struct actor_order){.what = ACTOR_ARM, .point = point, .action = action});

    if (answer->status != DLOCK_OK)
        stage_fail(a->stage, "%s cannot be armed so: it is armed already, or cannot %s",
                   dlock_fault_point_name(point), dlock_fault_action_name(action));
    a->process->armed = action;
}

static bool is_held(struct actor *a, int point)
{
    return actor_act(a, &(struct actor_order){.what = ACTOR_LOOK,
                                         .point = (dlock_fault_point)point})
        ->is_so;
}

void actor_await_point(struct actor *a, dlock_fault_point point)
{
    switch (a->process->armed) {
    case DLOCK_FAULT_STOP:
        await_state(a, stands, true, dlock_fault_point_name(point));
        a->process->is_stopped = true;
        say_point(a, "stops at", "停在断点", point);
        break;
    case DLOCK_FAULT_KILL:
        reap(a);
        say_point(a, "dies at", "死于断点", point);
        break;
    default:
        await_state(a, is_held, (int)point, dlock_fault_point_name(point));
        if (a->process->armed == DLOCK_FAULT_HOLD)
            say_point(a, "is held at", "停在断点", point);
        else
            say_point(a, "is hurt at", "在断点处出错", point);
        break;
    }
}

void actor_let_go(struct actor *a, dlock_fault_point point)
{
    const struct actor_answer *answer;

    say_point(a, "goes on from", "从断点继续", point);
    if (a->process->is_stopped) {
        resume(a); /* the library itself records that it stopped there, and went on */
        return;
    }
    answer = actor_act(
        a, &(struct actor_order){.what = ACTOR_LET_GO, .point = point});
    if (answer->status != DLOCK_OK)
        stage_fail(a->stage, "%s was not held at %s", a->name,
                   dlock_fault_point_name(point));
}

/* The number of such marks that its process has recorded since. */
static int count_marks(struct actor *a, dlock_event_kind kind, int detail,
                       int64_t since_ns)
{
    struct history h = {0};
    int count = 0;

    if (!history_read(&h, a->stage->records))
        stage_fail(a->stage, "the records cannot be read");
    for (size_t i = 0; i < h.mark_count; i++)
        count += h.marks[i].kind == (int)kind && h.marks[i].detail == detail &&
                 h.marks[i].at_ns >= since_ns &&
                 h.processes[h.marks[i].process].pid == (uint32_t)actor_pid(a);
    history_free(&h);
    return count;
}

/* The library records that an acquire was refused and waits now; of those that wait
 * in their store, the store knows. */
static bool is_in_queue(struct actor *a, int unused)
{
    (void)unused;
    return count_marks(a, DLOCK_EVENT_WAIT, 0, a->begun_ns) > 0 ||
           actor_inspect(a).waiter_count > 0;
}

void actor_await_waiting(struct actor *a)
{
    await_state(a, is_in_queue, 0, "to wait for the lock");
}

static bool was_woken(struct actor *a, int times)
{
    return count_marks(a, DLOCK_EVENT_WAKE, 1, 0) >= times;
}

void actor_await_woken(struct actor *a, int times)
{
    await_state(a, was_woken, times, "to be told of a release");
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
