/* SPDX-License-Identifier: MIT */
/* file.c -- a mapped file that grows.
 *
 * The whole of the largest file is mapped at the start, far beyond the file's end.  The
 * file grows by posix_fallocate() before a thread writes to the new part.  So a full disk is
 * an error of that call, and never a SIGBUS of a write. (Under RLIMIT_FSIZE, it raises
 * SIGXFSZ.) Then the new part is overwritten with zeros: the file
 * system need not read a page that is written whole, and makes many pages at once, so a
 * record costs less.  Only one thread does this at a time, and before other threads may
 * use the new part, because the zeros would overwrite their records. */
#include "lock/record/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/os/clock.h"
#include "base/os/fork.h"
#include "lock/status.h"
#include "lock/record/seal.h"

enum {
    GROW_BLOCKS = 256,  /* 1 MiB at a time */
    TOUCH_BLOCKS = 256, /* mapped by one system call instead of a page fault each */
};

#define LIMIT_DEFAULT (INT64_C(1) << 30)

static_assert(DLOCK_RECORD_HEADER_SIZE % DLOCK_RECORD_BLOCK_SIZE == 0,
              "blocks are aligned");

/* Write zeros into `blocks` blocks at the offset `at`.  The zeros come from one small
 * buffer, so that they use few cache lines.  False: errno says why. */
static bool write_zeros(int fd, uint64_t blocks, off_t at)
{
    static const char zeros[DLOCK_RECORD_BLOCK_SIZE];
    struct iovec parts[GROW_BLOCKS];

    for (uint64_t i = 0; i < blocks; i++)
        parts[i] = (struct iovec){(void *)(uintptr_t)zeros, sizeof(zeros)};
    return pwritev(fd, parts, (int)blocks, at) >= 0;
}

/* Returns 0 or an errno. The C library writes to each block where fallocate() does not exist. */
static int reserve(int fd, off_t at, off_t size)
{
    int rc;

    do
        rc = posix_fallocate(fd, at, size);
    while (rc == EINTR);
    return rc;
}

/* Enlarge the file by the next blocks.  Returns 0 or an errno. */
static int grow_once(struct dlock_record_file *file)
{
    uint64_t grown = atomic_load(&file->blocks_grown);
    uint64_t left = file->blocks_max - grown;
    uint64_t more = left < GROW_BLOCKS ? left : GROW_BLOCKS;
    off_t at = (off_t)(DLOCK_RECORD_HEADER_SIZE + grown * DLOCK_RECORD_BLOCK_SIZE);
    int rc = reserve(file->fd, at, (off_t)(more * DLOCK_RECORD_BLOCK_SIZE));

    if (rc != 0)
        return rc;
    /* If this write is interrupted, the file is large enough all the same, and filled
     * with zeros. */
    if (!write_zeros(file->fd, more, at) && errno != EINTR)
        return errno;
    atomic_store(&file->blocks_grown, grown + more);
    if (file->header != NULL)
        atomic_store(&file->header->grown, grown + more);
    return 0;
}

/* Enlarge the file until it contains `block`.  Returns 0 or an errno. */
static int grow(struct dlock_record_file *file, uint64_t block)
{
    int rc = 0;

    if (block < atomic_load(&file->blocks_grown))
        return 0;
    dlock_mutex_lock(&file->growing);
    while (rc == 0 && block >= atomic_load(&file->blocks_grown))
        rc = grow_once(file);
    dlock_mutex_unlock(&file->growing);
    return rc;
}

/* Map the next blocks by one system call instead of a page fault each.  If the system
 * lacks that call, page faults map them. */
static void touch(const struct dlock_record_file *file, uint64_t block)
{
#ifdef MADV_POPULATE_WRITE
    uint64_t left = atomic_load(&file->blocks_grown) - block;
    uint64_t count = left < TOUCH_BLOCKS ? left : TOUCH_BLOCKS;

    if (block % TOUCH_BLOCKS == 0)
        (void)madvise(file->slots + block * DLOCK_RECORD_BLOCK_SLOTS,
                      count * DLOCK_RECORD_BLOCK_SIZE, MADV_POPULATE_WRITE);
#else
    (void)file, (void)block;
#endif
}

static void drop(struct dlock_record_file *file, int why)
{
    int64_t never = 0;

    if (!atomic_exchange(&file->is_full, true))
        atomic_store(&file->header->drop_errno, why);
    atomic_compare_exchange_strong(&file->header->dropping_ns, &never,
                                   dlock_clock_ns());
    atomic_fetch_add(&file->header->dropped, 1);
}

bool dlock_record_file_take(struct dlock_record_file *file, uint64_t *block)
{
    int why = 0;

    *block = 0;
    if (!atomic_load_explicit(&file->is_full, memory_order_relaxed)) {
        *block = atomic_fetch_add(&file->header->blocks, 1);
        why = *block < file->blocks_max ? grow(file, *block) : 0;
    }
    if (atomic_load(&file->is_full) || *block >= file->blocks_max || why != 0) {
        drop(file, why);
        return false;
    }
    touch(file, *block);
    return true;
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

/* The checksum of the header as it is after the magic is written. */
static uint32_t head_sum(const dlock_record_header *header)
{
    dlock_record_header whole = *header;

    memcpy(whole.magic, DLOCK_RECORD_MAGIC, sizeof(whole.magic));
    return dlock_record_head_sum(&whole);
}

static void fill_header(const struct dlock_record_file *file,
                        const dlock_recorder_about *about)
{
    dlock_record_header *header = file->header;

    header->version = DLOCK_RECORD_VERSION;
    header->header_size = DLOCK_RECORD_HEADER_SIZE;
    header->record_size = DLOCK_RECORD_SIZE;
    header->block_slots = DLOCK_RECORD_BLOCK_SLOTS;
    header->clock = DLOCK_CLOCK_ID;
    header->pid = dlock_fork_process_id();
    header->start_ns = dlock_clock_ns();
    header->start_wall_ms = dlock_clock_wall_ms();
    read_boot(header->boot, sizeof(header->boot));
    snprintf(header->uuid, sizeof(header->uuid), "%s", about->uuid);
    snprintf(header->variant, sizeof(header->variant), "%s", about->variant);
    header->caps = about->caps;
    header->lease_ms = (uint32_t)about->lease_ms;
    header->watchdog = about->watchdog;
    header->handover = about->handover;
    header->grown = file->blocks_grown;
    header->head_checksum = head_sum(header);
    /* Files are read after this process has ended, so only the order of its own stores
     * matters. */
    atomic_signal_fence(memory_order_release);
    memcpy(header->magic, DLOCK_RECORD_MAGIC, sizeof(header->magic));
}

static dlock_status cannot_write(const char *path, int reason)
{
    return dlock_fail(DLOCK_IO, DLOCK_RECORD_CANNOT_WRITE "%.200s: %s", path, strerror(reason));
}

static dlock_status make_file(struct dlock_record_file *file, const char *dir,
                              const char *uuid)
{
    int length =
        snprintf(file->path, sizeof(file->path), "%s/%s" DLOCK_RECORD_SUFFIX, dir, uuid);

    if (length >= (int)sizeof(file->path))
        return dlock_fail(DLOCK_INVALID, "the path of the records is too long");
    if (mkdir(dir, 0700) != 0 && errno != EEXIST)
        return cannot_write(dir, errno);
    file->fd = open(file->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file->fd < 0)
        return cannot_write(file->path, errno);
    return DLOCK_OK;
}

static dlock_status map_file(struct dlock_record_file *file)
{
    void *map;
    int rc;

    rc = reserve(file->fd, 0, DLOCK_RECORD_HEADER_SIZE);
    if (rc == 0)
        rc = grow(file, 0);
    if (rc != 0)
        return cannot_write(file->path, rc);
    map = mmap(NULL, file->map_size, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
    if (map == MAP_FAILED)
        return dlock_fail(DLOCK_NOMEM, "%.200s cannot be mapped: %s", file->path,
                          strerror(errno));
    file->header = map;
    file->slots = (dlock_record *)((char *)map + DLOCK_RECORD_HEADER_SIZE);
    return DLOCK_OK;
}

/* All records are in the file: write its checksums. closed_ns is written last, because
 * a file with closed_ns counts as complete. */
void dlock_record_file_finish(struct dlock_record_file *file)
{
    dlock_record_header *header = file->header, whole;
    uint64_t blocks = atomic_load(&header->blocks);
    uint64_t grown = atomic_load(&file->blocks_grown);

    header->records =
        dlock_record_seal_all(file->slots, blocks < grown ? blocks : grown);
    memcpy(&whole, header, sizeof(whole));
    atomic_store(&whole.closed_ns, dlock_clock_ns());
    header->close_checksum = dlock_record_close_sum(&whole);
    atomic_store(&header->closed_ns, atomic_load(&whole.closed_ns));
}

void dlock_record_file_close(struct dlock_record_file *file)
{
    if (file->header != NULL)
        munmap(file->header, file->map_size);
    if (file->fd >= 0)
        close(file->fd);
    dlock_mutex_destroy(&file->growing);
}

dlock_status dlock_record_file_open(struct dlock_record_file *file, const char *dir,
                                    const dlock_recorder_about *about)
{
    int64_t limit = about->limit_bytes > 0 ? about->limit_bytes : LIMIT_DEFAULT;
    dlock_status st;

    if (limit < DLOCK_RECORD_HEADER_SIZE + DLOCK_RECORD_BLOCK_SIZE)
        return dlock_fail(DLOCK_INVALID, "a file of records needs at least %d bytes",
                          DLOCK_RECORD_HEADER_SIZE + DLOCK_RECORD_BLOCK_SIZE);
    *file = (struct dlock_record_file){.fd = -1};
    dlock_mutex_init(&file->growing);
    file->blocks_max =
        (uint64_t)(limit - DLOCK_RECORD_HEADER_SIZE) / DLOCK_RECORD_BLOCK_SIZE;
    file->map_size =
        DLOCK_RECORD_HEADER_SIZE + file->blocks_max * DLOCK_RECORD_BLOCK_SIZE;
    st = make_file(file, dir, about->uuid);
    if (st == DLOCK_OK) {
        st = map_file(file);
        if (st != DLOCK_OK)
            unlink(file->path);
    }
    if (st == DLOCK_OK)
        fill_header(file, about);
    else
        dlock_record_file_close(file);
    return st;
}
