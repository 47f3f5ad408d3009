/* SPDX-License-Identifier: MIT */
/* history_read.c -- a history from the files that recorders left.
 *
 * A record that is torn, because its process was killed while it wrote, is left out:
 * nothing of that call had been sent.  Torn records of a process that said
 * its file is complete, and more of them than threads could have been writing, are
 * damage. */
#include "loadtest/history.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/files.h"
#include "lock/clock.h"

enum { SLOTS_NOT_GROWN = 256 * DLOCK_RECORD_BLOCK_SLOTS };

/* A file being read. */
struct reading {
    struct history *h;
    const char *file;
    const dlock_record_header *header;
    const dlock_record *slots;
    uint64_t slot_count;
    uint32_t process;
    uint64_t torn_count;
    char boot[40];
};

static bool is_time(int64_t ns)
{
    return ns >= 0 && ns <= HISTORY_TIME_MAX;
}

static const char *flaw_of(const dlock_record_header *header, size_t size)
{
    if (size < DLOCK_RECORD_HEADER_SIZE)
        return "is cut off";
    if (memcmp(header->magic, DLOCK_RECORD_MAGIC, sizeof(header->magic)) != 0)
        return "is no file of records";
    if (header->version != DLOCK_RECORD_VERSION)
        return "is of another version";
    if (header->record_size != DLOCK_RECORD_SIZE ||
        header->header_size != DLOCK_RECORD_HEADER_SIZE ||
        header->block_slots != DLOCK_RECORD_BLOCK_SLOTS)
        return "has records of another size";
    if (memchr(header->uuid, '\0', sizeof(header->uuid)) == NULL ||
        memchr(header->variant, '\0', sizeof(header->variant)) == NULL ||
        memchr(header->boot, '\0', sizeof(header->boot)) == NULL ||
        !is_time(header->start_ns) || !is_time(header->dropping_ns))
        return "has a damaged header";
    return NULL;
}

static bool is_blank(const dlock_record *slot)
{
    static const char zeros[DLOCK_RECORD_SIZE];

    return memcmp(slot, zeros, sizeof(zeros)) == 0;
}

/* The whole name of the record at `at` into `out`.  False: it is damaged. */
static bool read_name(const struct reading *r, uint64_t at, char *out)
{
    const dlock_record *record = &r->slots[at];
    size_t left = record->name_length;
    size_t part = left < DLOCK_RECORD_NAME_HERE ? left : DLOCK_RECORD_NAME_HERE;

    if (left > DLOCK_NAME_MAX)
        return false;
    memcpy(out, record->name, part);
    for (unsigned i = 1; i < record->slots; i++) {
        const dlock_record_more *more = (const dlock_record_more *)&record[i];

        if (at + i >= r->slot_count || more->commit != DLOCK_RECORD_MORE + at + i)
            return false;
        left -= part;
        out += part;
        part = left < DLOCK_RECORD_NAME_MORE ? left : DLOCK_RECORD_NAME_MORE;
        memcpy(out, more->name, part);
    }
    return left == part;
}

static int64_t from_ms(int64_t ms)
{
    return ms * DLOCK_NS_PER_MS;
}

static void note_life(struct reading *r, int64_t at_ns)
{
    struct history_process *process = &r->h->processes[r->process];

    if (at_ns > process->last_ns)
        process->last_ns = at_ns;
}

/* What a call and the release of its hold have in common. */
static struct history_call *add_any_call(struct reading *r, const dlock_record *record,
                                         uint32_t name)
{
    struct history_call *call = history_add_call(r->h);

    call->mode = record->mode;
    call->level = record->level;
    call->process = r->process;
    call->name = name;
    call->thread = record->thread;
    call->owner = record->owner;
    call->lease_ns = from_ms(record->lease_ms);
    memcpy(call->token, record->token, sizeof(call->token));
    return call;
}

static void answer_call(struct reading *r, struct history_call *call, int64_t at_ns,
                        uint8_t status)
{
    call->is_answered = true;
    call->answer_ns = at_ns;
    call->status = (dlock_status)status;
    note_life(r, at_ns);
}

static void add_call(struct reading *r, const dlock_record *record, uint32_t name,
                     bool is_answered)
{
    struct history_call *call = add_any_call(r, record, name);

    call->kind = record->kind;
    call->invoke_ns = record->time_ns;
    call->wait_ns = from_ms(record->wait_ms);
    if (!is_answered)
        return;
    answer_call(r, call, record->answer_ns, record->status);
    call->sent_ns = record->sent_ns;
    call->deadline_ns = record->deadline_ns;
    call->fence = record->fence;
}

static void add_release(struct reading *r, const dlock_record *record, uint32_t name,
                        bool is_answered)
{
    struct history_call *call = add_any_call(r, record, name);

    call->kind = DLOCK_EVENT_RELEASE;
    call->invoke_ns = record->release_ns;
    note_life(r, record->release_ns);
    if (is_answered)
        answer_call(r, call, record->released_ns, record->release_status);
}

static void add_mark(struct reading *r, const dlock_record *record, uint32_t name)
{
    struct history_mark *mark = history_add_mark(r->h);

    mark->kind = record->kind;
    mark->at_ns = record->time_ns;
    mark->process = r->process;
    mark->name = name;
    mark->owner = record->owner;
    mark->detail = (int)record->detail;
    mark->assumption = record->kind == DLOCK_EVENT_FAULT ? record->level : 0;
}

static bool is_call(const dlock_record *record)
{
    return record->kind == DLOCK_EVENT_ACQUIRE || record->kind == DLOCK_EVENT_RENEW ||
           record->kind == DLOCK_EVENT_RELEASE || record->kind == DLOCK_EVENT_ABANDON;
}

static bool is_status(unsigned status)
{
    switch (status) {
#define X(name, value, id, text) case value:
        DLOCK_STATUS_MAP(X)
#undef X
        return true;
    default:
        return false;
    }
}

static bool is_known_event(const dlock_record *record)
{
    if (record->kind == DLOCK_EVENT_FAULT)
        return record->detail >= DLOCK_FAULT_IS_ARMED &&
               record->detail <= DLOCK_FAULT_HAPPENED &&
               record->level < DLOCK_ASSUMPTION_COUNT;
    return record->kind >= DLOCK_EVENT_OPEN && record->kind < DLOCK_EVENT_FAULT;
}

/* Can a recorder have written this?  What was not answered yet may be anything. */
static bool is_sound(const dlock_record *record, uint64_t stage)
{
    bool is_answered = stage != DLOCK_RECORD_BEGUN;
    bool has_release =
        stage == DLOCK_RECORD_RELEASING || stage == DLOCK_RECORD_RELEASED;

    if (!is_known_event(record) || !is_time(record->time_ns))
        return false;
    if (!is_call(record))
        return !has_release;
    if (record->mode > DLOCK_MODE_SHARED)
        return false;
    if (is_answered &&
        (!is_status(record->status) || !is_time(record->answer_ns) ||
         !is_time(record->sent_ns) ||
         (record->deadline_ns != HISTORY_NEVER && !is_time(record->deadline_ns))))
        return false;
    if (has_release &&
        (record->kind != DLOCK_EVENT_ACQUIRE || !is_time(record->release_ns)))
        return false;
    return stage != DLOCK_RECORD_RELEASED ||
           (is_status(record->release_status) && is_time(record->released_ns));
}

static void read_record(struct reading *r, uint64_t at)
{
    const dlock_record *record = &r->slots[at];
    uint64_t stage = record->commit - at;
    bool has_release =
        stage == DLOCK_RECORD_RELEASING || stage == DLOCK_RECORD_RELEASED;
    char name[DLOCK_NAME_MAX + 1];
    uint32_t index;

    if (!is_sound(record, stage) || !read_name(r, at, name)) {
        history_damage(r->h, "%s: record %" PRIu64 " is damaged", r->file, at);
        return;
    }
    note_life(r, record->time_ns);
    index = history_name(r->h, name, record->name_length);
    if (!is_call(record)) {
        add_mark(r, record, index);
        return;
    }
    add_call(r, record, index, stage != DLOCK_RECORD_BEGUN);
    if (has_release)
        add_release(r, record, index, stage == DLOCK_RECORD_RELEASED);
}

static bool is_record(const struct reading *r, uint64_t at)
{
    uint64_t stage = r->slots[at].commit - at;

    return stage == DLOCK_RECORD_BEGUN || stage == DLOCK_RECORD_DONE ||
           stage == DLOCK_RECORD_RELEASING || stage == DLOCK_RECORD_RELEASED;
}

static void read_slots(struct reading *r)
{
    for (uint64_t at = 0; at < r->slot_count;) {
        const dlock_record *record = &r->slots[at];
        unsigned slots = 1;

        if (is_record(r, at)) {
            slots = record->slots > 0 ? record->slots : 1;
            read_record(r, at);
        } else if (record->commit != DLOCK_RECORD_MORE + at && !is_blank(record)) {
            r->torn_count++;
        }
        at += slots;
    }
}

static void read_header(struct reading *r)
{
    const dlock_record_header *header = r->header;
    struct history_process *process = history_add_process(r->h);

    r->process = (uint32_t)(r->h->process_count - 1);
    memcpy(process->uuid, header->uuid, sizeof(process->uuid));
    memcpy(process->variant, header->variant, sizeof(process->variant));
    process->pid = header->pid;
    process->caps = header->caps;
    process->lease_ns = from_ms(header->lease_ms);
    process->watchdog = header->watchdog != 0;
    process->is_closed = header->closed_ns != 0;
    process->dropped = header->dropped;
    if (header->dropped > 0)
        process->dropping_ns = header->dropping_ns;
    process->last_ns = header->start_ns;
    if (r->boot[0] == '\0')
        memcpy(r->boot, header->boot, sizeof(r->boot));
    else if (strcmp(r->boot, header->boot) != 0)
        history_damage(r->h, "%s: its clock is of another start of the machine",
                       r->file);
}

static void finish_file(struct reading *r)
{
    if (r->header->dropped > 0)
        history_damage(r->h, "%s: %" PRIu64 " records found no room (%s)", r->file,
                       (uint64_t)r->header->dropped,
                       r->header->drop_errno != 0 ? strerror(r->header->drop_errno)
                                                  : "the size limit");
    if (r->torn_count > 0 && r->header->closed_ns != 0)
        history_damage(r->h, "%s: %" PRIu64 " torn records in a complete file", r->file,
                       r->torn_count);
    if (r->torn_count > r->header->blocks)
        history_damage(r->h, "%s: more torn records than there were writers", r->file);
}

static void read_bytes(struct reading *r, const char *bytes, size_t size)
{
    const char *flaw = flaw_of((const dlock_record_header *)bytes, size);
    uint64_t taken;

    if (flaw != NULL) {
        history_damage(r->h, "%s: %s", r->file, flaw);
        return;
    }
    r->header = (const dlock_record_header *)bytes;
    r->slots = (const dlock_record *)(bytes + DLOCK_RECORD_HEADER_SIZE);
    r->slot_count = (size - DLOCK_RECORD_HEADER_SIZE) / DLOCK_RECORD_SIZE;
    taken = r->header->blocks * DLOCK_RECORD_BLOCK_SLOTS;
    /* Who was killed may have taken blocks that the file had not grown to yet. */
    if (r->header->dropped == 0 &&
        taken > r->slot_count + (r->header->closed_ns != 0 ? 0 : SLOTS_NOT_GROWN))
        history_damage(r->h, "%s: is cut off", r->file);
    if (r->slot_count > taken)
        r->slot_count = taken;
    r->torn_count = 0;
    read_header(r);
    read_slots(r);
    finish_file(r);
}

static void read_file(struct reading *r, const char *dir)
{
    char path[FILES_PATH_MAX];
    size_t size = 0;
    char *bytes;

    files_join(path, dir, r->file);
    bytes = files_read(path, &size);
    if (bytes == NULL)
        history_damage(r->h, "%s: %s", r->file, strerror(errno));
    else
        read_bytes(r, bytes, size);
    free(bytes);
}

void history_read_bytes(struct history *h, const char *file, const void *bytes,
                        size_t size)
{
    struct reading r = {.h = h, .file = file};

    read_bytes(&r, bytes, size);
}

static int is_records(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name), tail = strlen(DLOCK_RECORD_SUFFIX);

    return length > tail &&
           strcmp(entry->d_name + length - tail, DLOCK_RECORD_SUFFIX) == 0;
}

bool history_read(struct history *h, const char *dir)
{
    struct reading r = {.h = h};
    struct dirent **entries = NULL;
    int count = scandir(dir, &entries, is_records, alphasort);

    if (count < 0) {
        fprintf(stderr, "seckill: %s: %s\n", dir, strerror(errno));
        return false;
    }
    for (int i = 0; i < count; i++) {
        r.file = entries[i]->d_name;
        read_file(&r, dir);
        free(entries[i]);
    }
    free(entries);
    history_sort(h);
    return true;
}
