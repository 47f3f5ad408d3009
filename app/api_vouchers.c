/* SPDX-License-Identifier: MIT */
/* api_vouchers.c -- vouchers over HTTP: create, list, find. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text/limited.h"
#include "app/query_lock.h"
#include "app/handlers.h"
#include "app/voucher_json.h"

/* A voucher takes less than 10 KiB (its texts have at most 1534 characters, and JSON writes
 * none with more than 6 bytes), so every page has at least one. */
enum {
    PAGE_DEFAULT = 20,       /* vouchers, unless ?limit= says how many */
    PAGE_MAX = 100,          /* vouchers */
    PAGE_MAX_BYTES = 63000,  /* of the body; with its head the answer is below 64 KiB */
};

static void refuse(const struct request *rq, struct answer *an, enum face face,
                   enum db_status st)
{
    LIMITED_WARN("vouchers: %s: %s", db_status_name(st), db_error(rq->worker->db));
    answer_outcome(rq, an, face,
                   st == DB_ERROR ? OUTCOME_INTERNAL : OUTCOME_UNAVAILABLE, NULL);
}

/* False: the answer is written. */
static bool take_db(const struct request *rq, struct answer *an, enum face face)
{
    enum outcome outcome = worker_take_db(rq->worker);

    if (outcome != OUTCOME_ACCEPTED)
        answer_outcome(rq, an, face, outcome, NULL);
    return outcome == OUTCOME_ACCEPTED;
}

/* Store a voucher.  False: the answer is written. */
static bool store(const struct request *rq, struct answer *an, enum face face,
                  const struct voucher *voucher, int64_t *id)
{
    enum db_status st;

    if (!take_db(rq, an, face))
        return false;
    st = voucher_create(rq->worker->db, voucher, id);
    if (st != DB_OK)
        refuse(rq, an, face, st);
    else
        an->outcome = OUTCOME_ACCEPTED;
    worker_give_db(rq->worker);
    return st == DB_OK;
}

/* Create what the body describes.  False: the answer is written. */
static bool create(const struct request *rq, struct answer *an, enum face face,
                   int64_t *id)
{
    struct voucher_draft draft;
    bool is_done = false;

    if (voucher_draft_read(&draft, rq->body, rq->body_len))
        is_done = store(rq, an, face, &draft.voucher, id);
    else
        answer_outcome(rq, an, face, OUTCOME_BAD_REQUEST, draft.wrong);
    voucher_draft_free(&draft);
    return is_done;
}

void api_voucher_course(const struct request *rq, struct answer *an)
{
    int64_t id = 0;

    if (!create(rq, an, FACE_COURSE, &id))
        return;
    answer_json(an, 200);
    text_add(an->body, "{\"success\":true,\"data\":%" PRId64 "}", id);
}

void api_voucher(const struct request *rq, struct answer *an)
{
    int64_t id = 0;

    if (!create(rq, an, FACE_API, &id))
        return;
    answer_json(an, 201);
    text_add(an->body, "{\"id\":\"%" PRId64 "\"}", id);
    (void)snprintf(an->location, sizeof(an->location), "/api/v1/vouchers/%" PRId64, id);
}

/* Read one number of the query, if it is there.  False: it is not from 1 to `max`. */
static bool read_number(const struct request *rq, const char *key, int64_t max,
                        int64_t *out)
{
    char text[24];
    int64_t number = 0;

    if (!request_has_query(rq, key))
        return true;
    if (!request_query(rq, key, text, sizeof(text)) ||
        ident_parse(text, &number) != NULL || number > max)
        return false;
    *out = number;
    return true;
}

/* Read from the query which page is asked for.  NULL: `page` has it; else the error. */
static const char *read_page(const struct request *rq, struct voucher_page *page)
{
    page->limit = PAGE_DEFAULT;
    page->text_bytes = PAGE_MAX_BYTES;
    if (!read_number(rq, "limit", PAGE_MAX, &page->limit))
        return "limit must be a number from 1 to 100";
    if (!read_number(rq, "after", INT64_MAX, &page->after))
        return "after must be the id of the last voucher seen, a number from 1";
    return NULL;
}

/* Write as many of the rows as a page may have; how many. */
static size_t write_rows(struct text *out, const struct db_conn *db, enum face face,
                         int64_t limit, int64_t *last_id)
{
    size_t begin = out->len;
    size_t row = 0;

    for (; row < db_rows(db, 0) && (int64_t)row < limit; row++) {
        size_t before = out->len;
        struct voucher v = voucher_at(db, row);

        text_add(out, "%s", row > 0 ? "," : "");
        voucher_write(out, &v, face == FACE_API);
        if (out->len - begin > PAGE_MAX_BYTES - sizeof("[]") && row > 0) {
            text_cut(out, before);
            break;
        }
        *last_id = v.id;
    }
    return row;
}

/* Write a page of vouchers as an array between these texts, and where the next one is. */
static void list(const struct request *rq, struct answer *an, enum face face,
                 struct voucher_page page, const char *before, const char *behind)
{
    int64_t limit = page.limit;
    int64_t last_id = 0;
    enum db_status st;
    size_t count = 0;
    bool is_last = true;

    if (!take_db(rq, an, face))
        return;
    page.limit++; /* one more, which says that there is a next page */
    st = voucher_list(rq->worker->db, &page);
    if (st != DB_OK) {
        refuse(rq, an, face, st);
        worker_give_db(rq->worker);
        return;
    }
    an->outcome = OUTCOME_ACCEPTED;
    answer_json(an, 200);
    text_add(an->body, "%s[", before);
    count = write_rows(an->body, rq->worker->db, face, limit, &last_id);
    is_last = count == db_rows(rq->worker->db, 0);
    text_add(an->body, "]%s", behind);
    worker_give_db(rq->worker);
    if (is_last)
        return;
    if (face == FACE_API && page.shop_id > 0)
        (void)snprintf(an->next, sizeof(an->next),
                       "%s?shop=%" PRId64 "&limit=%" PRId64 "&after=%" PRId64,
                       rq->head->uri, page.shop_id, limit, last_id);
    else
        (void)snprintf(an->next, sizeof(an->next),
                       "%s?limit=%" PRId64 "&after=%" PRId64, rq->head->uri, limit,
                       last_id);
}

/* Keys of the query that it does not know are ignored, as the courses do it. */
void api_voucher_list_course(const struct request *rq, struct answer *an)
{
    struct voucher_page page = {.shop_id = rq->number};
    const char *wrong = read_page(rq, &page);

    if (wrong != NULL)
        answer_outcome(rq, an, FACE_COURSE, OUTCOME_BAD_REQUEST, wrong);
    else
        list(rq, an, FACE_COURSE, page, "{\"success\":true,\"data\":", "}");
}

void api_voucher_list(const struct request *rq, struct answer *an)
{
    static const char *const KEYS[] = {"shop", "limit", "after", NULL};
    struct voucher_page page = {0};
    const char *wrong = NULL;

    if (!request_query_is_of(rq, KEYS))
        wrong = "the query may have shop=NUMBER, limit=1 to 100 and after=NUMBER";
    else if (!read_number(rq, "shop", INT64_MAX, &page.shop_id))
        wrong = "shop must be a number from 1";
    else
        wrong = read_page(rq, &page);
    if (wrong != NULL)
        answer_outcome(rq, an, FACE_API, OUTCOME_BAD_REQUEST, wrong);
    else
        list(rq, an, FACE_API, page, "", "");
}

/* Read the voucher and write the answer. */
static void read_voucher(const struct request *rq, struct answer *an)
{
    struct db_conn *db = rq->worker->db;
    enum db_status st = voucher_find(db, rq->number);
    struct voucher v;

    if (st != DB_OK) {
        refuse(rq, an, FACE_API, st);
        return;
    }
    if (db_rows(db, 0) == 0) {
        answer_outcome(rq, an, FACE_API, OUTCOME_UNKNOWN_VOUCHER, NULL);
        return;
    }
    v = voucher_at(db, 0);
    an->outcome = OUTCOME_ACCEPTED;
    answer_json(an, 200);
    voucher_write(an->body, &v, true);
}

void api_voucher_find(const struct request *rq, struct answer *an)
{
    struct query_lock lock;
    enum outcome outcome = query_lock_take(rq->worker, rq->number, &lock);

    if (outcome != OUTCOME_ACCEPTED) {
        answer_outcome(rq, an, FACE_API, outcome, NULL);
        return;
    }
    if (take_db(rq, an, FACE_API))
        read_voucher(rq, an);
    worker_give_db(rq->worker);
    query_lock_give(rq->worker, &lock);
}
