/* SPDX-License-Identifier: MIT */
/* recording.c -- the recorder's functions, which the linker puts between the library and its
 * recorder (--wrap). They convert instants to the world's clock. While the recorder runs, no random
 * number is drawn and no thread is stopped, so that recording does not change the seed's course. */
#include "tests/simulation/recording.h"

#include <string.h>

#include "lock/process.h"
#include "lock/record/recorder.h"
#include "tests/simulation/os.h"

/* A record's time of 0 means "unknown", and the world begins at 0, so all times are moved. */
#define BEGINS_NS (1000 * SECOND)

/* A thread finds its place in a recorder by the recorder's number, which each process counts from
 * 1. The threads of all processes use the recorder of the world, so its number is far above
 * these. */
enum { WORLDS_NUMBER = 1000 };

dlock_status __real_dlock_recorder_open(dlock_recorder **out, const char *dir,
                                        const dlock_recorder_about *about);
void __real_dlock_recorder_close(dlock_recorder *rec);
uint64_t __real_dlock_recorder_begin(dlock_recorder *rec, const dlock_event *event);
void __real_dlock_recorder_end(dlock_recorder *rec, uint64_t call, const dlock_event *answer);
uint64_t __real_dlock_recorder_begin_release(dlock_recorder *rec, uint64_t acquire,
                                             int64_t time_ns);
void __real_dlock_recorder_note(dlock_recorder *rec, const dlock_event *event);

dlock_status __wrap_dlock_recorder_open(dlock_recorder **out, const char *dir,
                                        const dlock_recorder_about *about);
void __wrap_dlock_recorder_close(dlock_recorder *rec);
uint64_t __wrap_dlock_recorder_begin(dlock_recorder *rec, const dlock_event *event);
void __wrap_dlock_recorder_end(dlock_recorder *rec, uint64_t call, const dlock_event *answer);
uint64_t __wrap_dlock_recorder_begin_release(dlock_recorder *rec, uint64_t acquire,
                                             int64_t time_ns);
void __wrap_dlock_recorder_note(dlock_recorder *rec, const dlock_event *event);

static const char *record_dir;
static dlock_recorder *faults; /* NULL: nothing is recorded */
static struct site clock_of_records = {.offset_ns = BEGINS_NS};
static struct site *clock_before;
static uint64_t chance_before[4];

/* ---- between the library and the recorder ---- */

static void enter(void)
{
    task_held_fast++;
    clock_before = os_clock_of;
    os_clock_of = &clock_of_records;
    memcpy(chance_before, world.chance, sizeof(chance_before));
}

static void leave(void)
{
    memcpy(world.chance, chance_before, sizeof(chance_before));
    os_clock_of = clock_before;
    task_held_fast--;
}

/* Convert an instant of the running process's clock to the clock of the records. */
static int64_t on_record(int64_t local_ns)
{
    const struct site *site;
    int64_t ahead_ns;

    if (local_ns <= 0 || local_ns == INT64_MAX || task_here == NULL)
        return local_ns;
    site = task_here->site;
    ahead_ns = local_ns - site_clock_ns(site);
    return BEGINS_NS + world.now_ns + ahead_ns -
           ahead_ns / 1000 * site->drift_ppb / (1000000 + site->drift_ppb / 1000);
}

static dlock_event event_on_record(const dlock_event *event)
{
    dlock_event out = *event;

    out.time_ns = on_record(event->time_ns);
    out.sent_ns = on_record(event->sent_ns);
    out.deadline_ns = on_record(event->deadline_ns);
    return out;
}

dlock_status __wrap_dlock_recorder_open(dlock_recorder **out, const char *dir,
                                        const dlock_recorder_about *about)
{
    dlock_status st;

    enter();
    st = __real_dlock_recorder_open(out, dir, about);
    leave();
    return st;
}

void __wrap_dlock_recorder_close(dlock_recorder *rec)
{
    enter();
    __real_dlock_recorder_close(rec);
    leave();
}

uint64_t __wrap_dlock_recorder_begin(dlock_recorder *rec, const dlock_event *event)
{
    dlock_event shown = event_on_record(event);
    uint64_t call;

    enter();
    call = __real_dlock_recorder_begin(rec, &shown);
    leave();
    return call;
}

void __wrap_dlock_recorder_end(dlock_recorder *rec, uint64_t call, const dlock_event *answer)
{
    dlock_event shown = event_on_record(answer);

    enter();
    __real_dlock_recorder_end(rec, call, &shown);
    leave();
}

uint64_t __wrap_dlock_recorder_begin_release(dlock_recorder *rec, uint64_t acquire,
                                             int64_t time_ns)
{
    int64_t shown_ns = on_record(time_ns);
    uint64_t call;

    enter();
    call = __real_dlock_recorder_begin_release(rec, acquire, shown_ns);
    leave();
    return call;
}

void __wrap_dlock_recorder_note(dlock_recorder *rec, const dlock_event *event)
{
    dlock_event shown = event_on_record(event);

    enter();
    __real_dlock_recorder_note(rec, &shown);
    leave();
}

/* ---- the file of the world's faults ---- */

void recording_to(const char *dir)
{
    record_dir = dir;
}

const char *recording_dir(void)
{
    return record_dir;
}

void recording_begin(void)
{
    dlock_recorder_about about = {.variant = "laboratory", .uuid = "world"};

    if (record_dir == NULL)
        return;
    atomic_store(&dlock_process_here()->last_recorder, WORLDS_NUMBER);
    if (dlock_recorder_open(&faults, record_dir, &about) != DLOCK_OK)
        world_condemn(CRASH, "the faults cannot be recorded: %s", dlock_error());
}

static void note(const char *what, dlock_fault_phase phase, dlock_assumption assumption,
                 uint64_t process)
{
    dlock_event event = {.kind = DLOCK_EVENT_FAULT,
                         .name = what,
                         .detail = phase,
                         .level = (int)assumption,
                         .owner = process};
    unsigned fork_count = task_here != NULL ? task_here->site->fork_count : 0;

    if (faults == NULL)
        return;
    /* A recorder records nothing in a forked child.  The world's recorder belongs to no process,
     * so the forks of the running task's process are hidden from it. */
    if (task_here != NULL)
        task_here->site->fork_count = 0;
    dlock_recorder_note(faults, &event);
    if (task_here != NULL)
        task_here->site->fork_count = fork_count;
}

void recording_fault(const char *what, dlock_assumption assumption)
{
    note(what, DLOCK_FAULT_HAPPENED, assumption, 0);
}

void recording_late_work(bool begins)
{
    note("work beyond the lease", begins ? DLOCK_FAULT_HAS_BEGUN : DLOCK_FAULT_HAS_ENDED,
         DLOCK_ASSUMES_WORK, (uint64_t)task_here->site->number + 1);
}

void recording_force(bool begins)
{
    note("release by force", begins ? DLOCK_FAULT_HAS_BEGUN : DLOCK_FAULT_HAS_ENDED,
         DLOCK_ASSUMES_RELEASE, 0);
}

void recording_end(void)
{
    if (faults != NULL)
        dlock_recorder_close(faults);
    faults = NULL;
}
