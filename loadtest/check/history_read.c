/* SPDX-License-Identifier: MIT */
/* history_read.c -- reads a history from the files of recorders.
 *
 * A process that is killed while it writes leaves a torn record.  A torn record is left out,
 * because a recorder writes the record of a call before the call sends anything.  Torn records
 * are damage if their process marked the file as complete, or if there are more of them than
 * threads that could write. */
#include "loadtest/check/history_file.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loadtest/kit/files.h"
#include "lock/record/seal.h"

enum { CALLS_OF_SLOT = 2 }; /* an acquire and its release share a record */

/* The value that a recorder would have written in place of this header's; NULL: the
 * header can be a recorder's, unaltered. */
static const char *header_expected(const dlock_record_header *header, size_t *at)
{
    if (header->record_size != DLOCK_RECORD_SIZE ||
        header->header_size != DLOCK_RECORD_HEADER_SIZE ||
        header->block_slots != DLOCK_RECORD_BLOCK_SLOTS) {
        *at = offsetof(dlock_record_header, header_size);
        return "records of the size of this version";
    }
    if (memchr(header->uuid, '\0', sizeof(header->uuid)) == NULL ||
        memchr(header->variant, '\0', sizeof(header->variant)) == NULL ||
        memchr(header->boot, '\0', sizeof(header->boot)) == NULL) {
        *at = offsetof(dlock_record_header, boot);
        return "names that end";
    }
    *at = offsetof(dlock_record_header, start_ns);
    if (!history_is_time(header->start_ns) || !history_is_time(header->dropping_ns) ||
        !history_is_time(header->closed_ns))
        return "times of at most 18 years";
    return NULL;
}

/* Is it the header of a file of records? */
static const char *kind_expected(const dlock_record_header *header, size_t *at)
{
    *at = 0;
    if (memcmp(header->magic, DLOCK_RECORD_MAGIC, sizeof(header->magic)) != 0)
        return "\"" DLOCK_RECORD_MAGIC "\", with which a file of records begins";
    *at = offsetof(dlock_record_header, version);
    return header->version == DLOCK_RECORD_VERSION ? NULL : "the version that this program reads";
}

/* A file without its magic was being created when its process was killed. */
static const char *header_damage(const dlock_record_header *header, size_t size)
{
    static const char unmade[sizeof(header->magic)];

    if (size < DLOCK_RECORD_HEADER_SIZE)
        return "is cut off within its header";
    if (memcmp(header->magic, unmade, sizeof(header->magic)) == 0)
        return "its process was killed before its header was whole";
    if (memcmp(header->magic, DLOCK_RECORD_MAGIC, sizeof(header->magic)) == 0 &&
        header->version == DLOCK_RECORD_VERSION &&
        header->head_checksum != dlock_record_head_sum(header))
        return "byte 0: the header was altered: its checksum differs";
    return NULL;
}

static bool check_header(const struct reading *r, const char *bytes, size_t size)
{
    const dlock_record_header *header = (const dlock_record_header *)bytes;
    const char *what = header_damage(header, size);
    size_t at = 0;

    if (what != NULL) {
        r->h->unread_count++;
        history_damage(r->h, "%s: %s", r->file, what);
        return false;
    }
    what = kind_expected(header, &at);
    if (what == NULL)
        what = header_expected(header, &at);
    if (what == NULL)
        return true;
    r->h->unread_count++;
    history_nonsense(r->h, "%s: byte %zu: expected %s", r->file, at, what);
    return false;
}

/* False: the records of this system were read before.  The same records twice would look like two
 * owners with one name. */
static bool is_first_of_its_system(const struct reading *r)
{
    for (size_t i = 0; i < r->h->process_count; i++) {
        if (strcmp(r->h->processes[i].uuid, r->header->uuid) != 0)
            continue;
        history_nonsense(r->h,
                         "%s: byte %zu: expected a system whose records were not read "
                         "yet, not %s again", r->file,
                         offsetof(dlock_record_header, uuid), r->header->uuid);
        return false;
    }
    return true;
}

static void read_header(struct reading *r)
{
    const dlock_record_header *header = r->header;
    struct history_process *process = history_add_process(r->h);

    r->process = (uint32_t)(r->h->process_count - 1);
    *process = (struct history_process){
        .pid = header->pid,
        .caps = header->caps,
        .lease_ns = history_from_ms(header->lease_ms),
        .watchdog = header->watchdog != 0,
        .handover = header->handover,
        .is_closed = header->closed_ns != 0,
        .dropped = header->dropped,
        .dropping_ns = header->dropped > 0 ? header->dropping_ns : HISTORY_NEVER,
        .last_ns = header->start_ns};
    memcpy(process->uuid, header->uuid, sizeof(process->uuid));
    memcpy(process->variant, header->variant, sizeof(process->variant));
    if (r->boot[0] == '\0')
        memcpy(r->boot, header->boot, sizeof(r->boot));
    else if (strcmp(r->boot, header->boot) != 0)
        history_hole(r, "its clock is of another start of the machine");
}

static void finish_file(struct reading *r)
{
    if (r->header->dropped > 0)
        history_damage(r->h, "%s: %" PRIu64 " records found no room (%s)", r->file,
                       (uint64_t)r->header->dropped,
                       r->header->drop_errno != 0 ? strerror(r->header->drop_errno)
                                                  : "the size limit");
    if (r->torn_count > 0 && r->header->closed_ns != 0)
        history_hole(r, "%" PRIu64 " torn records in a complete file", r->torn_count);
    else if (r->torn_count > r->header->blocks)
        history_hole(r, "more torn records than there were writers");
}

/* The fields of a header that change have a checksum once the file is closed. */
static void check_end(struct reading *r, uint64_t there)
{
    const dlock_record_header *header = r->header;

    if ((header->closed_ns != 0 || header->close_checksum != 0) &&
        header->close_checksum != dlock_record_close_sum(header))
        history_hole(r, "byte %zu: the counts at its close were altered",
                     offsetof(dlock_record_header, blocks));
    if (there < header->grown)
        history_hole(r, "byte %" PRIu64 ": it ends early, and had room for %" PRIu64
                        " blocks", history_offset_of(r->slot_count),
                     (uint64_t)header->grown);
    if (header->opened > header->blocks ||
        (header->dropping_ns != 0 && header->dropped == 0))
        history_hole(r, "byte %zu: its counts contradict each other",
                     offsetof(dlock_record_header, blocks));
}

static void read_sealed(struct reading *r)
{
    uint64_t there = r->slot_count / DLOCK_RECORD_BLOCK_SLOTS;
    uint64_t taken = r->header->blocks < there ? r->header->blocks : there;

    check_end(r, there);
    r->slot_count = taken * DLOCK_RECORD_BLOCK_SLOTS;
    history_read_blocks(r, there);
}

static void read_bytes(struct reading *r, const char *bytes, size_t size)
{
    if (!check_header(r, bytes, size))
        return;
    r->header = (const dlock_record_header *)bytes;
    if (!is_first_of_its_system(r))
        return;
    r->slots = (const dlock_record *)(bytes + DLOCK_RECORD_HEADER_SIZE);
    r->slot_count = (size - DLOCK_RECORD_HEADER_SIZE) / DLOCK_RECORD_SIZE;
    r->torn_count = 0;
    history_reserve(r->h, r->slot_count * CALLS_OF_SLOT, r->slot_count);
    read_header(r);
    read_sealed(r);
    finish_file(r);
}

/* NULL, and errno, if it cannot be read. */
static void *map_file(const char *path, size_t *size)
{
    int fd = files_open_input(path);
    struct stat st;
    void *map = MAP_FAILED;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) == 0 && st.st_size > 0) {
        *size = (size_t)st.st_size;
        map = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    close(fd);
    return map != MAP_FAILED ? map : NULL;
}

static void read_file(struct reading *r, const char *dir)
{
    static const uint64_t nothing[1];
    char path[FILES_PATH_MAX];
    size_t size = 0;
    void *bytes;

    files_join(path, dir, r->file);
    errno = 0;
    bytes = map_file(path, &size);
    r->is_mapped = bytes != NULL;
    if (bytes == NULL && errno != 0) {
        history_damage(r->h, "%s: %s", r->file, files_reason());
        r->h->unread_count++;
    } else {
        read_bytes(r, bytes != NULL ? bytes : (const char *)nothing, size);
    }
    if (bytes != NULL)
        munmap(bytes, size);
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
        eprintf("seckill: cannot read %s: %s\n", dir, strerror(errno));
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
