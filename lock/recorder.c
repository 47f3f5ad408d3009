/* SPDX-License-Identifier: MIT */
/* recorder.c -- a mapped file, and threads that each fill blocks of it.
 *
 * The whole of the largest file is mapped at the start, far beyond the file's end.  The
 * file grows by fallocate() before anybody touches what is new, so a full disk is an
 * error number there and never a SIGBUS here.  (A process under RLIMIT_FSIZE gets SIGXFSZ
 * there.)  What is new is then written full of zeros, which it is anyway: for a page that
 * is written whole a file system reads nothing, and it makes many at once, so a record
 * costs less.  Only one thread does so at a time, and before the room is there for others,
 * or it would wipe out their records.
 *
 * A thread keeps the rest of its block in thread-local memory: for the two recorders
 * that it used last, which is one more than programs have.  What is left of a block
 * when its thread ends stays empty. */
#include "lock/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lock/bare.h"
#include "lock/clock.h"
#include "lock/dlock_variant.h"
#include "lock/fork.h"

enum {
    PATH_SIZE = 4096,
    BLOCK_SIZE = DLOCK_RECORD_SIZE * DLOCK_RECORD_BLOCK_SLOTS,
    GROW_BLOCKS = 64,  /* 256 KiB at a time */
    TOUCH_BLOCKS = 16, /* mapped by one system call rather than by a fault each */
    MORE_SLOTS_MAX = 2,
    BLOCKS_CACHED = 2,
    TOKEN_WORDS = 4,
};

#define LIMIT_DEFAULT (INT64_C(1) << 30)

static_assert(DLOCK_NAME_MAX <=
                  DLOCK_RECORD_NAME_HERE + MORE_SLOTS_MAX * DLOCK_RECORD_NAME_MORE,
              "every name fits");
static_assert(DLOCK_RECORD_TOKEN_SIZE * 2 == DLOCK_TOKEN_LEN, "the whole token");
static_assert(DLOCK_RECORD_HEADER_SIZE % BLOCK_SIZE == 0, "blocks are aligned");

struct dlock_recorder {
    dlock_record_header *header; /* the mapping */
    dlock_record *slots;
    uint64_t id;                 /* never used twice in a process */
    unsigned generation;         /* see fork.h */
    int fd;
    size_t map_size;
    uint64_t blocks_max;
    pthread_mutex_t growing;
    _Atomic uint64_t blocks_grown; /* changed with `growing` held */
    atomic_bool is_full;
    char path[PATH_SIZE];
};

/* What is left of a thread's block. */
struct rest {
    uint64_t recorder; /* its id; 0: none */
    uint64_t next, end;
};

static _Thread_local struct {
    struct rest rests[BLOCKS_CACHED];
    unsigned evict;
    uint32_t thread;
    unsigned generation; /* in which `thread` was asked for */
} here;

static _Atomic uint64_t last_id;

/* The rest of the calling thread's block of `rec`, maybe empty. */
static struct rest *rest_here(const dlock_recorder *rec)
{
    struct rest *rest;

    for (int i = 0; i < BLOCKS_CACHED; i++)
        if (here.rests[i].recorder == rec->id)
            return &here.rests[i];
    rest = &here.rests[here.evict++ % BLOCKS_CACHED];
    *rest = (struct rest){.recorder = rec->id};
    return rest;
}

static uint32_t thread_here(const dlock_recorder *rec)
{
    if (here.generation != rec->generation) {
        here.thread = (uint32_t)syscall(SYS_gettid);
        here.generation = rec->generation;
    }
    return here.thread;
}

/* Make room for the next blocks.  0 or an errno. */
static int grow_once(dlock_recorder *rec)
{
    static const char zeros[GROW_BLOCKS * BLOCK_SIZE];
    uint64_t grown = atomic_load(&rec->blocks_grown);
    uint64_t left = rec->blocks_max - grown;
    uint64_t more = left < GROW_BLOCKS ? left : GROW_BLOCKS;
    off_t at = (off_t)(DLOCK_RECORD_HEADER_SIZE + grown * BLOCK_SIZE);

    while (fallocate(rec->fd, 0, at, (off_t)(more * BLOCK_SIZE)) != 0)
        if (errno != EINTR)
            return errno;
    /* Where this is cut short there is room all the same, of zeros. */
    if (pwrite(rec->fd, zeros, more * BLOCK_SIZE, at) < 0 && errno != EINTR)
        return errno;
    atomic_store(&rec->blocks_grown, grown + more);
    return 0;
}

/* Make the file reach beyond `block`.  0 or an errno. */
static int grow(dlock_recorder *rec, uint64_t block)
{
    int rc = 0;

    if (block < atomic_load(&rec->blocks_grown))
        return 0;
    pthread_mutex_lock(&rec->growing);
    while (rc == 0 && block >= atomic_load(&rec->blocks_grown))
        rc = grow_once(rec);
    pthread_mutex_unlock(&rec->growing);
    return rc;
}

/* Have the next blocks mapped at once rather than by a fault each.  Where the system
 * cannot do that, they fault. */
static void touch(const dlock_recorder *rec, uint64_t block)
{
#ifdef MADV_POPULATE_WRITE
    uint64_t left = atomic_load(&rec->blocks_grown) - block;

    if (block % TOUCH_BLOCKS == 0)
        (void)madvise(rec->slots + block * DLOCK_RECORD_BLOCK_SLOTS,
                      (left < TOUCH_BLOCKS ? left : TOUCH_BLOCKS) * BLOCK_SIZE,
                      MADV_POPULATE_WRITE);
#else
    (void)rec, (void)block;
#endif
}

static void drop(dlock_recorder *rec, int why)
{
    int64_t never = 0;

    if (!atomic_exchange(&rec->is_full, true))
        atomic_store(&rec->header->drop_errno, why);
    atomic_compare_exchange_strong(&rec->header->dropping_ns, &never, dlock_clock_ns());
    atomic_fetch_add(&rec->header->dropped, 1);
}

/* Take a block for the calling thread.  False: there is none, and that is counted. */
static bool take_block(dlock_recorder *rec, struct rest *rest)
{
    uint64_t block = 0;
    int why = 0;

    if (!atomic_load_explicit(&rec->is_full, memory_order_relaxed)) {
        block = atomic_fetch_add(&rec->header->blocks, 1);
        why = block < rec->blocks_max ? grow(rec, block) : 0;
    }
    if (atomic_load(&rec->is_full) || block >= rec->blocks_max || why != 0) {
        drop(rec, why);
        return false;
    }
    touch(rec, block);
    rest->next = block * DLOCK_RECORD_BLOCK_SLOTS;
    rest->end = rest->next + DLOCK_RECORD_BLOCK_SLOTS;
    return true;
}

/* Eight hex digits at once: each byte's low four bits are its value, and nine less than
 * it for letters. */
static void token_pack(uint8_t out[DLOCK_RECORD_TOKEN_SIZE], const char *token)
{
    for (int i = 0; i < TOKEN_WORDS; i++) {
        uint64_t digits;

        memcpy(&digits, token + 8 * i, sizeof(digits));
        digits = (digits & UINT64_C(0x0f0f0f0f0f0f0f0f)) +
                 ((digits >> 6) & UINT64_C(0x0101010101010101)) * 9;
        digits = (digits << 4 | digits >> 8) & UINT64_C(0x00ff00ff00ff00ff);
        digits = (digits | digits >> 8) & UINT64_C(0x0000ffff0000ffff);
        digits |= digits >> 16;
        memcpy(out + 4 * i, &digits, 4);
    }
}

static uint64_t owner_of(const dlock_event *event)
{
    uint64_t owner = 0;

    if (event->number == NULL)
        return event->owner;
    for (const char *c = event->number; *c >= '0' && *c <= '9'; c++)
        owner = owner * 10 + (uint64_t)(*c - '0');
    return owner;
}

static int32_t cut_wait_ms(int64_t wait_ms)
{
    if (wait_ms > INT32_MAX)
        return INT32_MAX;
    return wait_ms < 0 ? -1 : (int32_t)wait_ms;
}

/* Write the part of the name that did not fit, in the slots after `at`. */
static void write_rest(dlock_recorder *rec, uint64_t at, const char *name,
                       size_t length)
{
    while (length > 0) {
        dlock_record_more *more = (dlock_record_more *)&rec->slots[++at];
        size_t part =
            length < DLOCK_RECORD_NAME_MORE ? length : DLOCK_RECORD_NAME_MORE;

        memcpy(more->name, name, part);
        atomic_store_explicit(&more->commit, DLOCK_RECORD_MORE + at,
                              memory_order_release);
        name += part;
        length -= part;
    }
}

static int64_t time_of(const dlock_event *event)
{
    return event->time_ns > 0 ? event->time_ns : dlock_clock_ns();
}

/* What may be known at both ends of a call; what was known at the first one and is not
 * said again stays. */
static void write_common(dlock_record *record, const dlock_event *event)
{
    record->status = (uint8_t)event->status;
    if (event->level > 0)
        record->level = (uint16_t)event->level;
    if (event->number != NULL || event->owner != 0)
        record->owner = owner_of(event);
    record->fence = event->fence;
    record->sent_ns = event->sent_ns;
    record->deadline_ns = event->deadline_ns;
    if (event->token != NULL)
        token_pack(record->token, event->token);
}

static void write_at(dlock_recorder *rec, uint64_t at, const dlock_event *event,
                     size_t length, unsigned slots)
{
    size_t here_length =
        length < DLOCK_RECORD_NAME_HERE ? length : DLOCK_RECORD_NAME_HERE;
    dlock_record *record = &rec->slots[at];

    write_common(record, event);
    record->kind = (uint8_t)event->kind;
    record->mode = (uint8_t)event->mode;
    record->slots = (uint8_t)slots;
    record->name_length = (uint8_t)length;
    record->wait_ms = cut_wait_ms(event->wait_ms);
    record->lease_ms = (uint32_t)event->lease_ms;
    record->thread = thread_here(rec);
    record->detail = event->detail;
    if (length > 0) {
        memcpy(record->name, event->name, here_length);
        write_rest(rec, at, event->name + here_length, length - here_length);
    }
    record->time_ns = time_of(event);
}

/* Write the event in slots of its own, and commit it.  Answers the index of the first,
 * plus 1; 0: it was dropped. */
static uint64_t put(dlock_recorder *rec, const dlock_event *event, uint64_t commit)
{
    size_t length = event->name != NULL ? strnlen(event->name, DLOCK_NAME_MAX) : 0;
    struct rest *rest = rest_here(rec);
    unsigned slots = 1;
    uint64_t at;

    if (length > DLOCK_RECORD_NAME_HERE)
        slots += (unsigned)((length - DLOCK_RECORD_NAME_HERE +
                             DLOCK_RECORD_NAME_MORE - 1) / DLOCK_RECORD_NAME_MORE);
    if (rest->end - rest->next < slots && !take_block(rec, rest))
        return 0;
    at = rest->next;
    rest->next += slots;
    write_at(rec, at, event, length, slots);
    atomic_store_explicit(&rec->slots[at].commit, commit + at, memory_order_release);
    return at + 1;
}

static bool is_ours(const dlock_recorder *rec)
{
    return rec->generation == dlock_fork_generation();
}

uint64_t dlock_recorder_begin(dlock_recorder *rec, const dlock_event *event)
{
    return rec != NULL && is_ours(rec) ? put(rec, event, DLOCK_RECORD_BEGUN) : 0;
}

void dlock_recorder_end(dlock_recorder *rec, uint64_t call, const dlock_event *answer)
{
    dlock_record *record;

    if (rec == NULL || call == 0 || !is_ours(rec))
        return;
    record = &rec->slots[call - 1];
    write_common(record, answer);
    record->answer_ns = time_of(answer);
    atomic_store_explicit(&record->commit, DLOCK_RECORD_DONE + call - 1,
                          memory_order_release);
}

void dlock_recorder_note(dlock_recorder *rec, const dlock_event *event)
{
    if (rec != NULL && is_ours(rec))
        (void)put(rec, event, DLOCK_RECORD_DONE);
}

uint64_t dlock_recorder_dropped(const dlock_recorder *rec)
{
    return atomic_load(&rec->header->dropped);
}

const char *dlock_recorder_path(const dlock_recorder *rec)
{
    return rec->path;
}

static void read_boot(char *out, size_t size)
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, out, size - 1) : 0;

    out[got > 0 ? got : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    if (fd >= 0)
        close(fd);
}

static void fill_header(dlock_record_header *header, const dlock_recorder_about *about)
{
    struct timespec wall;

    clock_gettime(CLOCK_REALTIME, &wall);
    header->version = DLOCK_RECORD_VERSION;
    header->header_size = DLOCK_RECORD_HEADER_SIZE;
    header->record_size = DLOCK_RECORD_SIZE;
    header->block_slots = DLOCK_RECORD_BLOCK_SLOTS;
    header->clock = CLOCK_BOOTTIME;
    header->pid = (uint32_t)getpid();
    header->start_ns = dlock_clock_ns();
    header->start_wall_ms =
        (int64_t)wall.tv_sec * 1000 + wall.tv_nsec / DLOCK_NS_PER_MS;
    read_boot(header->boot, sizeof(header->boot));
    snprintf(header->uuid, sizeof(header->uuid), "%s", about->uuid);
    snprintf(header->variant, sizeof(header->variant), "%s", about->variant);
    header->caps = about->caps;
    header->lease_ms = (uint32_t)about->lease_ms;
    header->watchdog = about->watchdog;
    /* Whoever reads this does so after us: only the order of our own stores counts. */
    atomic_signal_fence(memory_order_release);
    memcpy(header->magic, DLOCK_RECORD_MAGIC, sizeof(header->magic));
}

static dlock_status make_file(dlock_recorder *rec, const char *dir, const char *uuid)
{
    int length =
        snprintf(rec->path, sizeof(rec->path), "%s/%s" DLOCK_RECORD_SUFFIX, dir, uuid);

    if (length >= (int)sizeof(rec->path))
        return dlock_fail(DLOCK_INVALID, "the path of the records is too long");
    if (mkdir(dir, 0700) != 0 && errno != EEXIST)
        return dlock_fail(DLOCK_IO, "%.200s: %s", dir, strerror(errno));
    rec->fd = open(rec->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (rec->fd < 0)
        return dlock_fail(DLOCK_IO, "%.200s: %s", rec->path, strerror(errno));
    return DLOCK_OK;
}

static dlock_status map_file(dlock_recorder *rec)
{
    void *map;
    int rc;

    while (fallocate(rec->fd, 0, 0, DLOCK_RECORD_HEADER_SIZE) != 0)
        if (errno != EINTR)
            return dlock_fail(DLOCK_IO, "%.200s: %s", rec->path, strerror(errno));
    rc = grow(rec, 0);
    if (rc != 0)
        return dlock_fail(DLOCK_IO, "%.200s: %s", rec->path, strerror(rc));
    map = mmap(NULL, rec->map_size, PROT_READ | PROT_WRITE, MAP_SHARED, rec->fd, 0);
    if (map == MAP_FAILED)
        return dlock_fail(DLOCK_NOMEM, "%.200s cannot be mapped: %s", rec->path,
                          strerror(errno));
    rec->header = map;
    rec->slots = (dlock_record *)((char *)map + DLOCK_RECORD_HEADER_SIZE);
    return DLOCK_OK;
}

static void destroy(dlock_recorder *rec)
{
    if (rec->header != NULL)
        munmap(rec->header, rec->map_size);
    if (rec->fd >= 0)
        close(rec->fd);
    pthread_mutex_destroy(&rec->growing);
    free(rec);
}

dlock_status dlock_recorder_open(dlock_recorder **out, const char *dir,
                                 const dlock_recorder_about *about)
{
    int64_t limit = about->limit_bytes > 0 ? about->limit_bytes : LIMIT_DEFAULT;
    dlock_event event = {.kind = DLOCK_EVENT_OPEN};
    dlock_recorder *rec;
    dlock_status st;

    *out = NULL;
    if (DLOCK_IS_BARE)
        return dlock_fail(DLOCK_INVALID, DLOCK_BARE_REFUSAL ": it has no recorder");
    if (limit < DLOCK_RECORD_HEADER_SIZE + BLOCK_SIZE)
        return dlock_fail(DLOCK_INVALID, "a file of records needs at least %d bytes",
                          DLOCK_RECORD_HEADER_SIZE + BLOCK_SIZE);
    rec = calloc(1, sizeof(*rec));
    if (rec == NULL)
        return dlock_fail(DLOCK_NOMEM, "no memory for the recorder");
    dlock_fork_watch();
    pthread_mutex_init(&rec->growing, NULL);
    rec->fd = -1;
    rec->id = atomic_fetch_add(&last_id, 1) + 1;
    rec->generation = dlock_fork_generation();
    rec->blocks_max = (uint64_t)(limit - DLOCK_RECORD_HEADER_SIZE) / BLOCK_SIZE;
    rec->map_size = DLOCK_RECORD_HEADER_SIZE + rec->blocks_max * BLOCK_SIZE;
    st = make_file(rec, dir, about->uuid);
    if (st == DLOCK_OK) {
        st = map_file(rec);
        if (st != DLOCK_OK)
            unlink(rec->path);
    }
    if (st != DLOCK_OK) {
        destroy(rec);
        return st;
    }
    fill_header(rec->header, about);
    dlock_recorder_note(rec, &event);
    *out = rec;
    return DLOCK_OK;
}

void dlock_recorder_close(dlock_recorder *rec)
{
    dlock_event event = {.kind = DLOCK_EVENT_CLOSE};

    if (rec == NULL || rec->generation != dlock_fork_generation())
        return;
    dlock_recorder_note(rec, &event);
    atomic_store(&rec->header->closed_ns, dlock_clock_ns());
    destroy(rec);
}
