/* SPDX-License-Identifier: MIT */
/* api_vouchers.c -- vouchers over HTTP: creating, listing, finding. */
#include <inttypes.h>
#include <stdio.h>

#include "app/handlers.h"
#include "app/order_lock.h"
#include "app/voucher_json.h"
#include "db/partition.h"
#include "lock/fault.h"

/* A voucher takes less than 10 KiB (its texts have at most 1534 characters, and JSON writes
 * none with more than 6 bytes), so every page has at least one. */
enum {
    PAGE_DEFAULT = 20,       /* vouchers of a page without ?limit= */
    PAGE_MAX = 100,          /* vouchers */
    PAGE_MAX_BYTES = 63000,  /* of the body; with its head the answer is below 64 KiB */
};

/* A reader's lock for a query of a voucher's stock, which excludes orders for the voucher.  Only
 * with --lock=rwlock and --lock-scope=voucher: under the scope `user` no lock protects the stock of
 * a voucher, and with a lock without readers queries would wait for each other. */
struct query_lock {
    bool is_locked;
    dlock_lease lease;
};

/* Wait at most --lock-wait.  ACCEPTED: query_lock_give() must follow.  LOCK_BUSY: an order is
 * under way.  UNAVAILABLE, INTERNAL: as order_place(). */
static enum outcome query_lock_take(struct worker *w, int64_t voucher_id, const char *trace_id,
                             struct query_lock *r)
{
    const struct config *c = w->service->config;
    dlock_request request = {.shared = true, .wait_ms = c->lock_wait_ms};
    char name[LOCK_NAME_SIZE];
    dlock_status st;

    r->is_locked = false;
    if (!c->lock_knows_readers || !c->lock_scope_is_voucher)
        return OUTCOME_ACCEPTED;
    lock_name_of_voucher(voucher_id, name);
    st = dlock_acquire_with(w->service->locks, name, &request, &r->lease);
    metrics_count(&w->cell->acquired[st]);
    readiness_judge(w->service->readiness, READINESS_LOCKS, st);
    r->is_locked = st == DLOCK_OK;
    if (r->is_locked) {
        order_lock_trace(w->service, &r->lease, trace_id);
        DLOCK_FAULT(AFTER_ACQUIRE, name);
        return OUTCOME_ACCEPTED;
    }
    if (st == DLOCK_BUSY || st == DLOCK_TIMEOUT)
        return OUTCOME_LOCK_BUSY;
    LIMITED_WARN("reading under lock %s: %s: %s", name, dlock_status_text(st),
                 dlock_error());
    return st == DLOCK_INVALID || st == DLOCK_NOMEM ? OUTCOME_INTERNAL
                                                    : OUTCOME_UNAVAILABLE;
}

static void query_lock_give(struct worker *w, struct query_lock *r)
{
    dlock_status st;

    if (!r->is_locked)
        return;
    r->is_locked = false;
    st = dlock_release(w->service->locks, &r->lease);
    metrics_count(&w->cell->released[st]);
    readiness_judge(w->service->readiness, READINESS_LOCKS, st);
    if (st != DLOCK_OK)
        LIMITED_WARN("lock %s was given back by a reader: %s: %s", r->lease.name,
                     dlock_status_text(st), dlock_error());
}

/* `if_lost`: the outcome of a statement whose answer did not come. */
static void refuse(const struct request *rq, struct answer *an, enum face face, enum db_status st,
                   enum outcome if_lost)
{
    enum outcome outcome = worker_db_failed(rq->worker, st); /* logs why */

    answer_outcome(rq, an, face, st == DB_LOST ? if_lost : outcome, NULL);
}

/* Give the connection back, and leave the database. */
static void leave_db(const struct request *rq)
{
    worker_give_db(rq->worker);
    worker_leave(rq->worker);
}

/* Enter the database `partition`, and take a connection to it.  After ACCEPTED the
 * caller calls leave_db(). */
static enum outcome enter_db(const struct request *rq, size_t partition)
{
    enum outcome outcome = worker_enter(rq->worker, partition);

    if (outcome == OUTCOME_ACCEPTED)
        outcome = worker_take_db(rq->worker);
    if (outcome != OUTCOME_ACCEPTED)
        worker_leave(rq->worker);
    return outcome;
}

/* Take a connection to the next database for a new voucher.  If that database has no
 * free connection or does not answer, try the following databases.  This is safe,
 * because nothing was sent yet. */
static enum outcome enter_next_db(const struct request *rq)
{
    size_t count = partitions_count(rq->service->databases);
    size_t first = partitions_next(rq->service->databases);
    enum outcome outcome = OUTCOME_UNAVAILABLE;

    for (size_t i = 0; i < count && outcome != OUTCOME_ACCEPTED; i++)
        outcome = enter_db(rq, (first + i) % count);
    return outcome;
}

/* Store a voucher.  False: the answer is written. */
static bool store(const struct request *rq, struct answer *an, enum face face,
                  const struct voucher *voucher, int64_t *id)
{
    enum outcome outcome = enter_next_db(rq);
    enum db_status st;

    if (outcome != OUTCOME_ACCEPTED) {
        answer_outcome(rq, an, face, outcome, NULL);
        return false;
    }
    st = voucher_create(rq->worker->db, voucher, id);
    if (st != DB_OK) /* a repeated request makes a second voucher, so "try again" would be wrong */
        refuse(rq, an, face, st, OUTCOME_VOUCHER_UNKNOWN);
    else
        an->outcome = OUTCOME_ACCEPTED;
    leave_db(rq);
    return st == DB_OK;
}

/* Create the voucher in the body.  False: the answer is written. */
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

/* Read a number of the query, if the query has it.  False: it is not from 1 to
 * `max`. */
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

/* Read the requested page from the query.  NULL: `page` is set; otherwise the error. */
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

/* A page of vouchers while it is written. */
struct listing {
    const struct request *rq;
    struct answer *an;
    enum face face;
    struct voucher_page page; /* the rest to read; its limit has one more voucher, which
                               * shows that there is a next page */
    size_t begin;             /* of the array, in the body */
    int64_t last_id;          /* of the last voucher that was written */
    bool is_cut;              /* there are vouchers after the page */
};

/* Write the rows that were read, up to the limits of the page. */
static void write_rows(struct listing *l)
{
    const struct db_conn *db = l->rq->worker->db;
    struct text *out = l->an->body;

    for (size_t row = 0; row < db_rows(db, 0) && !l->is_cut; row++) {
        size_t before = out->len;
        struct voucher v = voucher_at(db, row);

        l->is_cut = l->page.limit == 1;
        if (l->is_cut)
            return;
        text_add(out, "%s", l->last_id != 0 ? "," : "");
        voucher_write(out, &v, l->face == FACE_API);
        l->is_cut = out->len - l->begin > PAGE_MAX_BYTES - sizeof("[]") && l->last_id != 0;
        if (l->is_cut) {
            text_cut(out, before);
            return;
        }
        l->last_id = v.id;
        l->page.limit--;
    }
}

/* Write the vouchers of one database.  False: the answer is written. */
static bool list_partition(struct listing *l, size_t partition)
{
    enum outcome outcome = enter_db(l->rq, partition);
    enum db_status st;

    if (outcome != OUTCOME_ACCEPTED) {
        answer_outcome(l->rq, l->an, l->face, outcome, NULL);
        return false;
    }
    st = voucher_list(l->rq->worker->db, &l->page);
    if (st == DB_OK)
        write_rows(l);
    else
        refuse(l->rq, l->an, l->face, st, OUTCOME_UNAVAILABLE);
    leave_db(l->rq);
    return st == DB_OK;
}

static void write_next(const struct listing *l, int64_t limit)
{
    char shop[40] = "";

    if (l->face == FACE_API && l->page.shop_id > 0)
        (void)snprintf(shop, sizeof(shop), "shop=%" PRId64 "&", l->page.shop_id);
    (void)snprintf(l->an->next, sizeof(l->an->next), "%s?%slimit=%" PRId64 "&after=%" PRId64,
                   l->rq->head->uri, shop, limit, l->last_id);
}

/* Write a page of vouchers as an array between the texts `before` and `behind`, and the
 * link to the next page.  All ids of a later partition are above those of an earlier
 * one, so the pages go through the partitions from the last to the first. */
static void list(const struct request *rq, struct answer *an, enum face face,
                 struct voucher_page page, const char *before, const char *behind)
{
    size_t count = partitions_count(rq->service->databases);
    size_t last = page.after > 0 ? partition_of_voucher(page.after, count) : count - 1;
    struct listing l = {.rq = rq, .an = an, .face = face, .page = page};

    l.page.limit++;
    answer_json(an, 200);
    text_add(an->body, "%s[", before);
    l.begin = an->body->len;
    for (size_t i = last < count ? last + 1 : count; i > 0 && !l.is_cut; i--)
        if (!list_partition(&l, i - 1))
            return;
    an->outcome = OUTCOME_ACCEPTED;
    text_add(an->body, "]%s", behind);
    if (l.is_cut)
        write_next(&l, page.limit);
}

/* Unknown keys of the query are ignored, as in the courses. */
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
        refuse(rq, an, FACE_API, st, OUTCOME_UNAVAILABLE);
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
    enum outcome outcome = query_lock_take(rq->worker, rq->number, request_trace_id(rq), &lock);

    if (outcome != OUTCOME_ACCEPTED) {
        answer_outcome(rq, an, FACE_API, outcome, NULL);
        return;
    }
    outcome = worker_enter_voucher(rq->worker, rq->number);
    if (outcome == OUTCOME_ACCEPTED)
        outcome = worker_take_db(rq->worker);
    if (outcome == OUTCOME_ACCEPTED)
        read_voucher(rq, an);
    else
        answer_outcome(rq, an, FACE_API, outcome, NULL);
    leave_db(rq);
    query_lock_give(rq->worker, &lock);
}
