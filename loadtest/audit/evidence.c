/* SPDX-License-Identifier: MIT */
/* evidence.c -- reads the facts of a sale for the audit, from the database or from files.
 */
#include "loadtest/audit/evidence.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text/output_file.h"
#include "loadtest/kit/files.h"
#include "loadtest/kit/row_file.h"

enum { FIELD_COUNT = 11 };

static const char header[] = "# id\tuser\tvoucher\trequest\tlock\tstock_guard\t"
                             "duplicate_guard\tprocess\tcreated\tadmitted_us\tcreated_us";

static bool read_order(char *const field[FIELD_COUNT], struct audit_order *o)
{
    enum { MUST_BE_THERE = -1, MAY_BE_EMPTY = 0 };

    *o = (struct audit_order){.request = field[3], .process = field[7]};
    return row_file_number(field[0], MUST_BE_THERE, &o->id) &&
           row_file_number(field[1], MUST_BE_THERE, &o->user) &&
           row_file_number(field[2], MUST_BE_THERE, &o->voucher) &&
           row_file_number(field[9], MAY_BE_EMPTY, &o->admitted_us) &&
           row_file_number(field[10], MUST_BE_THERE, &o->created_us);
}

/* Add an order from its line of orders.tsv, which is cut up and must outlive `e`. */
static bool add_line(struct evidence *e, char *line)
{
    char *field[FIELD_COUNT] = {0};

    if (row_file_cut(line, field, FIELD_COUNT) != FIELD_COUNT)
        return false;
    if (e->order_count == e->room) {
        e->room = e->room ? 2 * e->room : 1024;
        e->orders = realloc(e->orders, e->room * sizeof *e->orders);
        e->lines = realloc(e->lines, e->room * sizeof *e->lines);
        if (!e->orders || !e->lines)
            abort();
    }
    e->lines[e->order_count] = NULL;
    return read_order(field, &e->orders[e->order_count++]);
}

static char *line_of(const struct audit_db_order *o)
{
    char *line = NULL;

    if (asprintf(&line, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", o->id, o->user,
                 o->voucher, o->request, o->variant, o->stock_guard, o->duplicate_guard,
                 o->process, o->created, o->admitted_us, o->created_us) < 0)
        abort();
    return line;
}

static bool take_order(const struct audit_db_order *order, void *arg)
{
    struct evidence *e = arg;
    char *line = line_of(order);

    if (!add_line(e, line))
        abort(); /* this program printed the line itself */
    e->lines[e->order_count - 1] = line;
    return true;
}

/* The database of a voucher.  NULL: the partition in the id of the voucher does not exist; said on
 * stderr. */
static lab_db *db_of(const struct evidence_reading *reading, int64_t voucher)
{
    size_t partition = partition_of_voucher(voucher, reading->count);

    if (partition < reading->count)
        return reading->dbs[partition];
    eprintf("seckill: voucher %" PRId64 " is of partition %zu, and there are %zu\n",
            voucher, partition, reading->count);
    return NULL;
}

static bool read_stock(struct evidence *e, const struct evidence_reading *reading,
                       const int64_t *vouchers, size_t count)
{
    for (size_t i = 0; i < count && i < EVIDENCE_VOUCHERS_MAX; i++) {
        lab_db *db = db_of(reading, vouchers[i]);
        struct audit_db_stock stock;

        if (!db)
            return false;

        if (!audit_db_stock(db, vouchers[i], &stock)) {
            eprintf("seckill: voucher %" PRId64 ": %s\n", vouchers[i], lab_db_error(db));
            return false;
        }
        e->vouchers[e->voucher_count++] =
            (struct audit_voucher){.id = vouchers[i],
                                   .issued = stock.issued,
                                   .left = stock.left,
                                   .fence = stock.fence,
                                   .issued_us = stock.issued_us,
                                   .begin_us = stock.begin_us,
                                   .end_us = stock.end_us,
                                   .is_window_moved = stock.is_window_moved};
    }
    return true;
}

bool evidence_begin(struct evidence_reading *reading, const char *urls)
{
    struct partition_urls list;
    char error[512] = "";
    bool ok = partition_urls_read(urls, &list, error, sizeof error);

    *reading = (struct evidence_reading){0};
    for (size_t i = 0; ok && i < list.count; i++) {
        int64_t read_us = 0;

        ok = audit_db_begin(&reading->dbs[i], partition_url(&list, i), &read_us, error,
                            sizeof error);
        reading->count += ok;
        if (i == 0 || read_us < reading->read_us)
            reading->read_us = read_us;
    }
    if (!ok)
        eprintf("seckill: cannot read the database: %s\n", error);
    return ok;
}

bool evidence_end(struct evidence_reading *reading)
{
    bool is_whole = reading->count > 0;

    for (size_t i = 0; i < reading->count; i++)
        is_whole = audit_db_end(reading->dbs[i]) && is_whole;
    if (reading->count > 0 && !is_whole)
        eprintf("seckill: the connection to PostgreSQL was lost, so that what was "
                        "read may not be of one instant; audit again\n");
    *reading = (struct evidence_reading){0};
    return is_whole;
}

/* No order is older than the voucher that was issued first. */
static int64_t first_issue_us(const struct evidence *e)
{
    int64_t first_us = e->voucher_count > 0 ? e->vouchers[0].issued_us : 0;

    for (size_t i = 1; i < e->voucher_count; i++)
        if (e->vouchers[i].issued_us < first_us)
            first_us = e->vouchers[i].issued_us;
    return first_us;
}

bool evidence_has_voucher(const struct evidence *e, int64_t id)
{
    for (size_t i = 0; i < e->voucher_count; i++)
        if (e->vouchers[i].id == id)
            return true;
    return false;
}

/* The orders of vouchers that this partition does not have.  Each order whose voucher is in another
 * partition gives a warning. */
struct stray_reader {
    const struct evidence *e;
    size_t partition;
    audit_db_order_fn *each;
    void *arg;
};

static bool take_stray(const struct audit_db_order *order, void *arg)
{
    const struct stray_reader *reader = arg;

    if (evidence_has_voucher(reader->e, strtoll(order->voucher, NULL, 10)))
        eprintf("seckill: order %s of voucher %s is in partition %zu, which has not that "
                "voucher\n", order->id, order->voucher, reader->partition);
    return reader->each(order, reader->arg);
}

/* Read the orders of the vouchers of `e`, and the orders of vouchers that their database does not
 * have. */
static bool each_order(const struct evidence *e, const struct evidence_reading *reading,
                       audit_db_order_fn *each, void *arg)
{
    struct stray_reader strays = {.e = e, .each = each, .arg = arg};
    lab_db *db = NULL;
    bool ok = true;

    for (size_t i = 0; ok && i < e->voucher_count; i++) {
        db = db_of(reading, e->vouchers[i].id);
        ok = db && audit_db_orders(db, e->vouchers[i].id, each, arg);
    }
    for (; ok && strays.partition < reading->count; strays.partition++) {
        db = reading->dbs[strays.partition];
        ok = audit_db_strays(db, first_issue_us(e), take_stray, &strays);
    }
    if (!ok && db)
        eprintf("seckill: cannot read the orders: %s\n", lab_db_error(db));
    return ok;
}

bool evidence_from_database(struct evidence *e, const struct evidence_reading *reading,
                            const int64_t *vouchers, size_t count)
{
    *e = (struct evidence){.read_us = reading->read_us};
    return read_stock(e, reading, vouchers, count) &&
           each_order(e, reading, take_order, e);
}

static bool json_number(const json_t *object, const char *name, int64_t *out)
{
    const json_t *value = json_object_get(object, name);

    *out = json_integer_value(value);
    return json_is_integer(value);
}

static bool voucher_from_json(struct evidence *e, const json_t *entry)
{
    struct audit_voucher *v = &e->vouchers[e->voucher_count];
    int64_t fence, moved;
    bool ok = json_number(entry, "voucher", &v->id) && json_number(entry, "issued", &v->issued) &&
              json_number(entry, "left", &v->left) && json_number(entry, "fence", &fence) &&
              json_number(entry, "issued_us", &v->issued_us) &&
              json_number(entry, "begin_us", &v->begin_us) &&
              json_number(entry, "end_us", &v->end_us) && json_number(entry, "moved", &moved) &&
              json_number(entry, "read_us", &e->read_us);

    v->fence = ok ? (uint64_t)fence : 0;
    v->is_window_moved = ok && moved != 0;
    ok = ok && !evidence_has_voucher(e, v->id);
    e->voucher_count += ok;
    return ok;
}

/* Say why this entry of stock.json was refused. */
static void say_wrong(const struct evidence *e, const char *path, size_t i, const json_t *entry)
{
    int64_t id = json_integer_value(json_object_get(entry, "voucher"));

    if (evidence_has_voucher(e, id))
        eprintf("seckill: %s: entry %zu names voucher %" PRId64 " a second time\n", path, i, id);
    else
        eprintf("seckill: %s: entry %zu is no voucher with its stock\n", path, i);
}

static bool stock_from_file(struct evidence *e, const char *dir)
{
    char path[FILES_PATH_MAX];
    json_t *list, *entry;
    bool ok = true;
    size_t i;

    files_join(path, dir, "stock.json");
    list = files_read_json(path);
    json_array_foreach(list, i, entry)
    {
        ok = ok && i < EVIDENCE_VOUCHERS_MAX && voucher_from_json(e, entry);
        if (!ok)
            break;
    }
    if (list && !ok)
        say_wrong(e, path, i, entry);
    else if (list && e->voucher_count == 0)
        eprintf("seckill: %s names no voucher\n", path);
    json_decref(list);
    return ok && e->voucher_count > 0;
}

/* A row_file_fn. */
static bool take_line(void *evidence, char *line)
{
    return add_line(evidence, line);
}

bool evidence_from_files(struct evidence *e, const char *dir)
{
    char path[FILES_PATH_MAX];

    *e = (struct evidence){0};
    if (!stock_from_file(e, dir))
        return false;
    files_join(path, dir, "orders.tsv");
    e->file = row_file_read(path, "order", take_line, e);
    return e->file != NULL;
}

static bool write_order(const struct audit_db_order *order, void *arg)
{
    char *line = line_of(order);

    fprintf(arg, "%s\n", line);
    free(line);
    return true;
}

static bool export_orders(const struct evidence *e, const struct evidence_reading *reading,
                          const char *dir)
{
    char path[FILES_PATH_MAX];
    struct output_file out;
    bool ok = true;

    files_join(path, dir, "orders.tsv");
    if (output_file_open(&out, path, false)) {
        fprintf(out.stream, "%s\n", header);
        ok = each_order(e, reading, write_order, out.stream);
        if (output_file_close(&out, ok))
            return true;
    }
    if (ok) /* each_order() has said why it failed */
        eprintf("seckill: cannot write %s: %s\n", path, strerror(errno));
    return false;
}

static json_t *stock_to_json(const struct audit_voucher *v, int64_t read_us)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "voucher",
                     (json_int_t)v->id, "issued", (json_int_t)v->issued, "left",
                     (json_int_t)v->left, "fence", (json_int_t)v->fence, "issued_us",
                     (json_int_t)v->issued_us, "begin_us", (json_int_t)v->begin_us,
                     "end_us", (json_int_t)v->end_us, "moved",
                     (json_int_t)v->is_window_moved, "read_us", (json_int_t)read_us);
}

bool evidence_export(const struct evidence_reading *reading, const int64_t *vouchers,
                     size_t count, const char *dir)
{
    char path[FILES_PATH_MAX];
    struct evidence e = {0};
    json_t *list = json_array();
    bool ok = read_stock(&e, reading, vouchers, count);

    for (size_t i = 0; i < e.voucher_count; i++)
        json_array_append_new(list, stock_to_json(&e.vouchers[i], reading->read_us));
    files_join(path, dir, "stock.json");
    ok = ok && files_write_json(path, list) && export_orders(&e, reading, dir);
    json_decref(list);
    return ok;
}

static int64_t wall_clock_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* The age is computed by this machine's clock, which may be behind the database's clock. */
struct audit_input evidence_input(const struct evidence *e, const struct ledger *ledger,
                                  bool is_settled)
{
    int64_t age_us = e->read_us ? wall_clock_us() - e->read_us : 0;

    return (struct audit_input){.vouchers = e->vouchers,
                                .voucher_count = e->voucher_count,
                                .orders = e->orders,
                                .order_count = e->order_count,
                                .ledger = ledger,
                                .is_settled = is_settled,
                                .read_us = e->read_us,
                                .age_us = age_us > 0 ? age_us : 0};
}

void evidence_free(struct evidence *e)
{
    for (size_t i = 0; e->lines && i < e->order_count; i++)
        free(e->lines[i]);
    free(e->lines);
    free(e->orders);
    free(e->file);
    *e = (struct evidence){0};
}
