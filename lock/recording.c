/* SPDX-License-Identifier: MIT */
/* recording.c -- turns the calls of the core into events of the recorder. */
#include "lock/recording.h"

#include "lock/lease.h"
#include "lock/record/faults.h"

dlock_status dlock_recording_open(dlock_system *sys)
{
    dlock_recorder_about about = {
        .variant = sys->variant->info.name,
        .uuid = sys->uuid,
        .caps = sys->variant->info.caps,
        .lease_ms = sys->opts.lease_ms,
        .watchdog = sys->opts.watchdog && sys->variant->watched,
        .handover = (uint32_t)sys->opts.handover,
    };
    dlock_status st;

    if (sys->opts.record_dir == NULL)
        return DLOCK_OK;
    st = dlock_recorder_open(&sys->recorder, sys->opts.record_dir, &about);
    if (st == DLOCK_OK)
        dlock_record_faults_to(sys->recorder);
    return st;
}

void dlock_recording_close(dlock_system *sys)
{
    dlock_record_no_faults_to(sys->recorder);
    dlock_recorder_close(sys->recorder);
}

uint64_t dlock_recording_put_begin(const dlock_system *sys, dlock_event_kind kind,
                                   const dlock_claim *claim, int64_t wait_ms,
                                   int64_t made_ns)
{
    dlock_event event = {
        .kind = kind,
        .time_ns = made_ns,
        .mode = claim->shared ? DLOCK_MODE_SHARED : DLOCK_MODE_EXCLUSIVE,
        .level = claim->level,
        .name = claim->name,
        .number = claim->number,
        .token = claim->token,
        .wait_ms = wait_ms,
        .lease_ms = claim->lease_ms,
    };

    return dlock_recorder_begin(sys->recorder, &event);
}

void dlock_recording_put_end(const dlock_system *sys, uint64_t call, dlock_status st,
                             const dlock_claim *claim, int64_t sent_ns, bool is_leased,
                             int64_t answered_ns)
{
    dlock_event event = {
        .time_ns = answered_ns,
        .status = st,
    };

    if (sent_ns > 0) {
        event.number = claim->number;
        event.token = claim->token;
        event.level = claim->level;
        event.fence = claim->fence;
        event.sent_ns = sent_ns;
        if (is_leased)
            event.deadline_ns = dlock_lease_end_ns(sys, claim->lease_ms, sent_ns);
        /* An acquire that ends with TIMEOUT gives a late grant back before the answer. */
        if (st == DLOCK_TIMEOUT && event.deadline_ns > answered_ns)
            event.deadline_ns = answered_ns;
    }
    dlock_recorder_end(sys->recorder, call, &event);
}

void dlock_recording_put_end_given(const dlock_system *sys, uint64_t call,
                                   const dlock_claim *claim, int64_t deadline_ns,
                                   int64_t answered_ns)
{
    dlock_event event = {
        .time_ns = answered_ns,
        .status = DLOCK_OK,
        .number = claim->number,
        .token = claim->token,
        .level = claim->level,
        .deadline_ns = deadline_ns,
    };

    dlock_recorder_end(sys->recorder, call, &event);
}

void dlock_recording_put_mark(const dlock_system *sys, dlock_event_kind kind,
                              const dlock_claim *claim, uint32_t detail, int64_t at_ns)
{
    dlock_event event = {.kind = kind,
                         .time_ns = at_ns,
                         .name = claim->name,
                         .number = claim->number,
                         .token = claim->token,
                         .detail = detail};

    dlock_recorder_note(sys->recorder, &event);
}

void dlock_recording_put_trace(const dlock_system *sys, const dlock_lease *lease,
                               const char *trace)
{
    dlock_event event = {.kind = DLOCK_EVENT_TRACE,
                         .name = trace,
                         .number = lease->owner + DLOCK_UUID_LEN + 1,
                         .token = lease->token};

    dlock_recorder_note(sys->recorder, &event);
}
