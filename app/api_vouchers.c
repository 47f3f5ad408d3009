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

/* Create what the body describes.  False: the answer is written. */
static bool create(const struct request *rq, struct answer *an, enum face face,
                   int64_t *id)
{
    struct voucher_draft draft;
    enum db_status st = DB_OK;
    bool is_read = voucher_draft_read(&draft, rq->body, rq->body_len);

    if (!is_read)
        answer_outcome(rq, an, face, OUTCOME_BAD_REQUEST, draft.wrong);
    else
        st = voucher_create(rq->worker->db, &draft.voucher, id);
    if (st != DB_OK)
        refuse(rq, an, face, st);
    voucher_draft_free(&draft);
    an->outcome = is_read && st == DB_OK ? OUTCOME_ACCEPTED : an->outcome;
    return is_read && st == DB_OK;
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
    struct db_conn *db = rq->worker->db;
    enum db_status st = voucher_list(db, shop_id, LIST_MAX);

    if (st != DB_OK) {
        refuse(rq, an, face, st);
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

void api_voucher_find(const struct request *rq, struct answer *an)
{
    struct db_conn *db = rq->worker->db;
    enum db_status st;
    struct reader reader;
    struct voucher v;
    enum outcome outcome = reader_begin(rq->worker, rq->number, &reader);

    if (outcome != OUTCOME_ACCEPTED) {
        answer_outcome(rq, an, FACE_API, outcome, NULL);
        return;
    }
    st = voucher_find(db, rq->number);
    reader_end(rq->worker, &reader);
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
