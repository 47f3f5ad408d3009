/* SPDX-License-Identifier: MIT */
/* api_vouchers.c -- vouchers over HTTP: create, list, find. */
#include <inttypes.h>
#include <stdio.h>

#include "app/limited.h"
#include "app/reader.h"
#include "app/routes.h"
#include "app/voucher_json.h"

enum { LIST_MAX = 500 };

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

/* Write the vouchers of a shop as an array.  False: the answer is written. */
static bool list(const struct request *rq, struct answer *an, enum face face,
                 int64_t shop_id, const char *before)
{
    struct db_conn *db;
    enum db_status st;

    if (!take_db(rq, an, face))
        return false;
    db = rq->worker->db;
    st = voucher_list(db, shop_id, LIST_MAX);
    if (st != DB_OK) {
        refuse(rq, an, face, st);
        worker_give_db(rq->worker);
        return false;
    }
    an->outcome = OUTCOME_ACCEPTED;
    answer_json(an, 200);
    text_add(an->body, "%s[", before);
    for (size_t row = 0; row < db_rows(db, 0); row++) {
        struct voucher v = voucher_at(db, row);

        text_add(an->body, "%s", row > 0 ? "," : "");
        voucher_write(an->body, &v, face == FACE_API);
    }
    text_add(an->body, "]");
    worker_give_db(rq->worker);
    return true;
}

void api_voucher_list_course(const struct request *rq, struct answer *an)
{
    if (list(rq, an, FACE_COURSE, rq->number, "{\"success\":true,\"data\":"))
        text_add(an->body, "}");
}

void api_voucher_list(const struct request *rq, struct answer *an)
{
    char text[24];
    int64_t shop_id = 0;
    const char *wrong = NULL;

    if (request_query(rq, "shop", text, sizeof(text)))
        wrong = ident_parse(text, &shop_id);
    else if (rq->head->query != NULL)
        wrong = "the only thing to ask for is ?shop=NUMBER";
    if (wrong != NULL)
        answer_outcome(rq, an, FACE_API, OUTCOME_BAD_REQUEST, wrong);
    else
        (void)list(rq, an, FACE_API, shop_id, "");
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
    struct reader reader;
    enum outcome outcome = reader_begin(rq->worker, rq->number, &reader);

    if (outcome != OUTCOME_ACCEPTED) {
        answer_outcome(rq, an, FACE_API, outcome, NULL);
        return;
    }
    if (take_db(rq, an, FACE_API))
        read_voucher(rq, an);
    worker_give_db(rq->worker);
    reader_end(rq->worker, &reader);
}
