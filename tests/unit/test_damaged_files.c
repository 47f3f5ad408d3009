/* SPDX-License-Identifier: MIT */
/* test_damaged_files.c -- damages files of records at random: a damaged file is called valid only
 * if every record is unchanged, and no reader crashes.
 *
 * In a file of a killed process, some records have no checksum. The test does not damage these,
 * because no reader can see such damage; the verdict counts these records.
 *
 * DAMAGE_COUNT and DAMAGE_SEED choose other damages than the usual ones. */
#include <pthread.h>
#include <unistd.h>

#include "loadtest/page/page.h"
#include "lock/record/seal.h"
#include "tests/registered.h"
#include "tests/unit/recorder_run.h"

enum {
    THREADS = 3,
    HOLDS = 90,
    COUNT_DEFAULT = 1500,
    BLOCK = DLOCK_RECORD_SIZE * DLOCK_RECORD_BLOCK_SLOTS,
};

/* A whole file, and the history in it. */
struct sample {
    char *bytes;
    size_t size;
    struct history h;
};

static uint64_t random_state;

static size_t draw(size_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (size_t)(random_state >> 20) % below;
}

/* ---- the files ---- */

struct worker {
    dlock_recorder *rec;
    uint64_t owner;
};

static void *work(void *arg)
{
    const struct worker *w = arg;
    char name[100];

    snprintf(name, sizeof(name), "lock %d%s", (int)w->owner,
             w->owner == 2 ? ", of which the name is so long that it needs more slots" : "");
    for (int i = 0; i < HOLDS; i++)
        put_hold(w->rec, name, w->owner);
    return NULL;
}

static void read_sample(struct sample *s, const char *uuid)
{
    char path[FILES_PATH_MAX];

    files_path(path, "%s/%s" DLOCK_RECORD_SUFFIX, dir, uuid);
    s->bytes = files_read(path, &s->size);
    assert_non_null(s->bytes);
    s->h = (struct history){0};
    history_read_bytes(&s->h, "sample", s->bytes, s->size);
    history_sort(&s->h);
    assert_int_equal(0, s->h.damage_count);
    assert_int_equal(2 * THREADS * HOLDS, s->h.call_count);
    assert_int_equal(VERDICT_VALID, judge(&s->h));
}

/* Make a file that was closed, and a file as a killed process leaves it. */
static void make_samples(struct sample *closed, struct sample *killed)
{
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    dlock_recorder *rec = open_recorder("u1", 0);

    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){rec, (uint64_t)i + 1};
        assert_int_equal(0, pthread_create(&threads[i], NULL, work, &workers[i]));
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    read_sample(killed, "u1");
    assert_true(killed->h.processes[0].unsealed > 0);
    dlock_recorder_close(rec);
    read_sample(closed, "u1");
    assert_int_equal(0, closed->h.processes[0].unsealed);
}

/* ---- the damages ---- */

static uint64_t blocks_of(const struct sample *s)
{
    return ((const dlock_record_header *)(void *)s->bytes)->blocks;
}

static char *block_at(char *bytes, size_t block)
{
    return bytes + DLOCK_RECORD_HEADER_SIZE + block * BLOCK;
}

/* Change some bytes in the header or in the part in use. */
static void flip(const struct sample *s, char *bytes)
{
    size_t used = DLOCK_RECORD_HEADER_SIZE + (size_t)blocks_of(s) * BLOCK;
    size_t count = 1 + draw(4);

    while (count-- > 0) {
        size_t at = draw(2) == 0 ? draw(sizeof(dlock_record_header)) : draw(used);

        bytes[at] = (char)(bytes[at] ^ (1 << draw(8)));
    }
}

static void zero(const struct sample *s, char *bytes)
{
    size_t first = draw((size_t)blocks_of(s));
    size_t count = 1 + draw((size_t)blocks_of(s) - first);

    memset(block_at(bytes, first), 0, count * BLOCK);
}

static void double_block(const struct sample *s, char *bytes)
{
    memmove(block_at(bytes, draw((size_t)blocks_of(s) + 2)),
            block_at(bytes, draw((size_t)blocks_of(s))), BLOCK);
}

static void swap(const struct sample *s, char *bytes)
{
    char *a = block_at(bytes, draw((size_t)blocks_of(s)));
    char *b = block_at(bytes, draw((size_t)blocks_of(s)));
    char kept[BLOCK];

    memcpy(kept, a, BLOCK);
    memmove(a, b, BLOCK);
    memcpy(b, kept, BLOCK);
}

static void zero_slot(const struct sample *s, char *bytes)
{
    memset(block_at(bytes, draw((size_t)blocks_of(s))) +
               draw(DLOCK_RECORD_BLOCK_SLOTS) * DLOCK_RECORD_SIZE,
           0, DLOCK_RECORD_SIZE);
}

static size_t cut(const struct sample *s)
{
    size_t used = DLOCK_RECORD_HEADER_SIZE + (size_t)blocks_of(s) * BLOCK;

    return draw(4) == 0 ? draw(s->size) : draw(used);
}

/* Restore the bytes that have no checksum. */
static void spare_unsealed(const struct sample *s, char *bytes)
{
    const dlock_record *slots =
        (const dlock_record *)(void *)(s->bytes + DLOCK_RECORD_HEADER_SIZE);

    for (uint64_t block = 0; block < blocks_of(s); block++) {
        const dlock_record_seal *seal = dlock_record_seal_of(slots, block);
        uint64_t at = block * DLOCK_RECORD_BLOCK_SLOTS + DLOCK_RECORD_BLOCK_RECORDS;
        bool is_sealed = seal->commit == DLOCK_RECORD_SEALED + at;

        for (size_t i = 0; i < DLOCK_RECORD_BLOCK_SLOTS; i++)
            if (!is_sealed || (seal->open >> i & 1))
                memcpy(block_at(bytes, (size_t)block) + i * DLOCK_RECORD_SIZE,
                       block_at(s->bytes, (size_t)block) + i * DLOCK_RECORD_SIZE,
                       DLOCK_RECORD_SIZE);
    }
}

/* Returns the number of bytes that are left. */
static size_t damage(const struct sample *s, char *bytes)
{
    static void (*const ways[])(const struct sample *, char *) = {flip, zero, double_block,
                                                                  swap, zero_slot};
    size_t way = draw(sizeof(ways) / sizeof(ways[0]) + 2);

    if (way == sizeof(ways) / sizeof(ways[0]))
        return cut(s);
    ways[way < sizeof(ways) / sizeof(ways[0]) ? way : 0](s, bytes);
    return s->size;
}

/* ---- the readers ---- */

static bool is_same_call(const struct history_call *a, const struct history_call *b)
{
    return a->kind == b->kind && a->mode == b->mode && a->level == b->level &&
           a->is_answered == b->is_answered && a->status == b->status &&
           a->owner == b->owner && a->invoke_ns == b->invoke_ns &&
           a->answer_ns == b->answer_ns && a->sent_ns == b->sent_ns &&
           a->deadline_ns == b->deadline_ns && a->wait_ns == b->wait_ns &&
           a->fence == b->fence;
}

static bool is_same_process(const struct history_process *a,
                            const struct history_process *b)
{
    return strcmp(a->uuid, b->uuid) == 0 && strcmp(a->variant, b->variant) == 0 &&
           a->pid == b->pid && a->caps == b->caps && a->lease_ns == b->lease_ns &&
           a->watchdog == b->watchdog && a->is_closed == b->is_closed &&
           a->last_ns == b->last_ns && a->dropped == b->dropped;
}

static bool is_same(const struct history *a, const struct history *b)
{
    if (a->process_count != b->process_count || a->call_count != b->call_count ||
        a->mark_count != b->mark_count)
        return false;
    for (size_t i = 0; i < a->process_count; i++)
        if (!is_same_process(&a->processes[i], &b->processes[i]))
            return false;
    for (size_t i = 0; i < a->call_count; i++)
        if (!is_same_call(&a->calls[i], &b->calls[i]) ||
            strcmp(a->names[a->calls[i].name], b->names[b->calls[i].name]) != 0)
            return false;
    return true;
}

static enum verdict judge_and_print(const struct history *h, FILE *out)
{
    struct check_options options = check_options_default();
    struct check *c = check_new();
    struct check_verdict verdict;

    check_judge(c, h, &options, &verdict);
    check_print(out, h, &verdict);
    json_decref(check_to_json(h, &verdict));
    page_print(out, h, c, &verdict);
    check_free(c);
    return verdict.valid;
}

static long from_environment(const char *name, long fallback)
{
    const char *text = getenv(name);

    return text != NULL ? atol(text) : fallback;
}

TEST_WITH(make_dir, remove_dir, no_damage_is_called_valid)
{
    long count = from_environment("DAMAGE_COUNT", COUNT_DEFAULT), seen_count = 0;
    long seed = from_environment("DAMAGE_SEED", 20240601);
    struct sample samples[2];
    FILE *out = fopen("/dev/null", "we");

    assert_non_null(out);
    make_samples(&samples[0], &samples[1]);
    for (long i = 0; i < count; i++) {
        const struct sample *s = &samples[i % 3 == 2];
        struct history h = {0};
        char *bytes = malloc(s->size);
        size_t size;

        random_state = (uint64_t)(seed + i) * UINT64_C(0x9e3779b97f4a7c15) + 1;
        draw(2);
        assert_non_null(bytes);
        memcpy(bytes, s->bytes, s->size);
        size = damage(s, bytes);
        if (s == &samples[1])
            spare_unsealed(s, bytes);
        /* An exact size, so that a sanitizer sees a read behind it. */
        bytes = realloc(bytes, size + 1);
        history_read_bytes(&h, "damaged", bytes, size);
        history_sort(&h);
        seen_count += h.damage_count > 0;
        if (judge_and_print(&h, out) == VERDICT_VALID && !is_same(&h, &s->h))
            fail_msg("DAMAGE_SEED=%ld DAMAGE_COUNT=1 is called valid", seed + i);
        history_free(&h);
        free(bytes);
    }
    printf("# %ld damaged files, of %ld it shows\n", count, seen_count);
    assert_in_range(seen_count, count / 2, count);
    for (int i = 0; i < 2; i++) {
        history_free(&samples[i].h);
        free(samples[i].bytes);
    }
    fclose(out);
}
