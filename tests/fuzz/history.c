/* SPDX-License-Identifier: MIT */
/* history.c -- fuzz: a file of records, and everything that is made of it: the verdict as text and
 * as JSON, and the page.
 *
 * The header is correct, except for the fields about the process. Each slot gets a correct commit
 * word; the fuzzer chooses all other bytes of the slots. The checksums fit the bytes. */
#include "loadtest/check/check.h"
#include "loadtest/check/history.h"
#include "loadtest/page/page.h"
#include "lock/record/seal.h"
#include "tests/fuzz/fuzz.h"

enum { SLOTS_MAX = 64, SAID = 16 };

static const uint64_t COMMITS[] = {DLOCK_RECORD_BEGUN, DLOCK_RECORD_DONE, DLOCK_RECORD_MORE,
                                   DLOCK_RECORD_RELEASING, DLOCK_RECORD_RELEASED};

/* The last slot of each full block has the block's checksum. */
static void add_seals(dlock_record_header *header)
{
    dlock_record *slots =
        (dlock_record *)(void *)((char *)header + DLOCK_RECORD_HEADER_SIZE);

    header->grown = header->opened = header->blocks = SLOTS_MAX / DLOCK_RECORD_BLOCK_SLOTS;
    header->head_checksum = dlock_record_head_sum(header);
    for (uint64_t block = 0; block < header->blocks; block++)
        dlock_record_seal_open(slots, block, 1);
    header->records = dlock_record_seal_all(slots, header->blocks);
    if (header->closed_ns != 0)
        header->close_checksum = dlock_record_close_sum(header);
}

static void read_records(struct history *h, const uint8_t *data, size_t size)
{
    size_t slot_count = (size - SAID) / DLOCK_RECORD_SIZE;
    size_t length = DLOCK_RECORD_HEADER_SIZE + SLOTS_MAX * DLOCK_RECORD_SIZE;
    char *file = (char *)calloc(1, length);
    dlock_record_header *header;

    if (slot_count > SLOTS_MAX)
        slot_count = SLOTS_MAX;
    fuzz_check(file != NULL);
    header = (dlock_record_header *)(void *)file;
    memcpy(header->magic, DLOCK_RECORD_MAGIC, sizeof(header->magic));
    header->version = DLOCK_RECORD_VERSION;
    header->record_size = DLOCK_RECORD_SIZE;
    header->header_size = DLOCK_RECORD_HEADER_SIZE;
    header->block_slots = DLOCK_RECORD_BLOCK_SLOTS;
    strcpy(header->uuid, "fuzz");
    strcpy(header->variant, "reentrant");
    memcpy(&header->caps, data, sizeof(header->caps));
    header->lease_ms = (uint32_t)(data[4] | data[5] << 8);
    header->closed_ns = data[6] % 2 == 0 ? 0 : INT64_MAX / 32;
    for (size_t i = 0; i < slot_count; i++) {
        char *slot = file + DLOCK_RECORD_HEADER_SIZE + i * DLOCK_RECORD_SIZE;
        uint64_t commit;

        memcpy(slot, data + SAID + i * DLOCK_RECORD_SIZE, DLOCK_RECORD_SIZE);
        commit = (unsigned char)slot[0] < 5 ? COMMITS[(unsigned char)slot[0]] + i : 0;
        memcpy(slot, &commit, sizeof(commit));
    }
    add_seals(header);
    history_read_bytes(h, "fuzz.dlockrec", file, length);
    free(file);
}

static void judge(const struct history *h)
{
    struct check_options options = check_options_default();
    struct check *c = check_new();
    struct check_verdict verdict;
    FILE *out = fopen("/dev/null", "we");

    fuzz_check(c != NULL && out != NULL);
    check_judge(c, h, &options, &verdict);
    check_print(out, h, &verdict);
    json_decref(check_to_json(h, &verdict));
    page_print(out, h, c, &verdict);
    fclose(out);
    check_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct history h = {0};

    if (size < SAID + DLOCK_RECORD_SIZE)
        return 0;
    read_records(&h, data, size);
    history_sort(&h);
    judge(&h);
    history_free(&h);
    return 0;
}
