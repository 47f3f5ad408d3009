/* SPDX-License-Identifier: MIT */
/* evidence.c -- what an audit reads about a sale, from the database or from files. */
#include "loadtest/audit/evidence.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/files.h"

/* Files from before have no `admitted`. */
enum { FIELD_COUNT = 10, FIELD_COUNT_BEFORE = 9 };

static const char header[] = "# id\tuser\tvoucher\trequest\tlock\tstock_guard\t"
                             "duplicate_guard\tprocess\tcreated\tadmitted_us";

/* Add an order from its line of orders.tsv, which is cut up and must outlive `e`. */
static bool add_line(struct evidence *e, char *line)
{
    char *field[FIELD_COUNT];

    for (int i = 0; i < FIELD_COUNT; i++) {
        field[i] = strsep(&line, "\t");
        if (!field[i] && i < FIELD_COUNT_BEFORE)
            return false;
    }
    if (e->order_count == e->room) {
        e->room = e->room ? 2 * e->room : 1024;
        e->orders = realloc(e->orders, e->room * sizeof *e->orders);
        e->lines = realloc(e->lines, e->room * sizeof *e->lines);
        if (!e->orders || !e->lines)
            abort();
    }
    e->lines[e->order_count] = NULL;
    e->orders[e->order_count++] = (struct audit_order){
        .id = strtoll(field[0], NULL, 10),
        .user = strtoll(field[1], NULL, 10),
        .voucher = strtoll(field[2], NULL, 10),
        .request = field[3],
        .process = field[7],
        .admitted_us = field[9] ? strtoll(field[9], NULL, 10) : 0,
    };
    return true;
}

static char *line_of(const struct audit_db_order *o)
{
    char *line = NULL;

    if (asprintf(&line, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s", o->id, o->user,
                 o->voucher, o->request, o->variant, o->stock_guard, o->duplicate_guard,
                 o->process, o->created, o->admitted_us) < 0)
        abort();
    return line;
}

static bool take_order(const struct audit_db_order *order, void *arg)
{
    struct evidence *e = arg;
    char *line = line_of(order);

    if (!add_line(e, line))
        abort(); /* we made it ourselves */
    e->lines[e->order_count - 1] = line;
    return true;
}

static bool read_stock(struct evidence *e, lab_db *db, const int64_t *vouchers,
                       size_t count)
{
    for (size_t i = 0; i < count && i < EVIDENCE_VOUCHERS_MAX; i++) {
        struct audit_db_stock stock;

        if (!audit_db_stock(db, vouchers[i], &stock)) {
            fprintf(stderr, "seckill: voucher %" PRId64 ": %s\n", vouchers[i],
                    lab_db_error(db));
            return false;
        }
        e->vouchers[e->voucher_count++] =
            (struct audit_voucher){vouchers[i],    stock.issued,   stock.left,
                                   stock.fence,    stock.begin_us, stock.end_us};
    }
    return true;
}

bool evidence_from_database(struct evidence *e, lab_db *db, const int64_t *vouchers,
                            size_t count)
{
    *e = (struct evidence){0};
    if (!read_stock(e, db, vouchers, count))
        return false;
    for (size_t i = 0; i < e->voucher_count; i++) {
        if (!audit_db_orders(db, vouchers[i], take_order, e)) {
            fprintf(stderr, "seckill: cannot read the orders: %s\n", lab_db_error(db));
            return false;
        }
    }
    return true;
}

static bool stock_from_file(struct evidence *e, const char *dir)
{
    char path[FILES_PATH_MAX];
    json_t *list, *entry;
    size_t i;

    files_join(path, dir, "stock.json");
    list = files_read_json(path);
    json_array_foreach(list, i, entry)
    {
        if (i >= EVIDENCE_VOUCHERS_MAX)
            break;
        e->vouchers[e->voucher_count++] = (struct audit_voucher){
            .id = json_integer_value(json_object_get(entry, "voucher")),
            .issued = json_integer_value(json_object_get(entry, "issued")),
            .left = json_integer_value(json_object_get(entry, "left")),
            .fence = (uint64_t)json_integer_value(json_object_get(entry, "fence")),
            .begin_us = json_integer_value(json_object_get(entry, "begin_us")),
            .end_us = json_integer_value(json_object_get(entry, "end_us")),
        };
    }
    json_decref(list);
    if (e->voucher_count == 0)
        fprintf(stderr, "seckill: %s names no voucher\n", path);
    return e->voucher_count > 0;
}

bool evidence_from_files(struct evidence *e, const char *dir)
{
    char path[FILES_PATH_MAX];
    char *rest, *line;

    *e = (struct evidence){0};
    if (!stock_from_file(e, dir))
        return false;
    files_join(path, dir, "orders.tsv");
    e->file = files_read(path, NULL);
    if (!e->file) {
        fprintf(stderr, "seckill: cannot read %s: %s\n", path, strerror(errno));
        return false;
    }
    rest = e->file;
    for (int number = 1; (line = strsep(&rest, "\n")) != NULL; number++) {
        if (*line == '\0' || *line == '#')
            continue;
        if (!add_line(e, line)) {
            fprintf(stderr, "seckill: %s:%d: this is no order\n", path, number);
            return false;
        }
    }
    return true;
}

static bool write_order(const struct audit_db_order *order, void *arg)
{
    char *line = line_of(order);

    fprintf(arg, "%s\n", line);
    free(line);
    return true;
}

static bool export_orders(lab_db *db, const int64_t *vouchers, size_t count,
                          const char *dir)
{
    char path[FILES_PATH_MAX];
    FILE *out;
    bool ok = true;

    files_join(path, dir, "orders.tsv");
    out = fopen(path, "we");
    if (!out) {
        fprintf(stderr, "seckill: cannot write %s: %s\n", path, strerror(errno));
        return false;
    }
    fprintf(out, "%s\n", header);
    for (size_t i = 0; ok && i < count; i++)
        ok = audit_db_orders(db, vouchers[i], write_order, out);
    if (!ok)
        fprintf(stderr, "seckill: cannot read the orders: %s\n", lab_db_error(db));
    return fclose(out) == 0 && ok;
}

static json_t *stock_to_json(const struct audit_voucher *v)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "voucher", (json_int_t)v->id,
                     "issued", (json_int_t)v->issued, "left", (json_int_t)v->left, "fence",
                     (json_int_t)v->fence, "begin_us", (json_int_t)v->begin_us, "end_us",
                     (json_int_t)v->end_us);
}

bool evidence_export(lab_db *db, const int64_t *vouchers, size_t count, const char *dir)
{
    char path[FILES_PATH_MAX];
    struct evidence e = {0};
    json_t *list = json_array();
    bool ok = read_stock(&e, db, vouchers, count);

    for (size_t i = 0; i < e.voucher_count; i++)
        json_array_append_new(list, stock_to_json(&e.vouchers[i]));
    files_join(path, dir, "stock.json");
    ok = ok && files_write_json(path, list) && export_orders(db, vouchers, count, dir);
    json_decref(list);
    return ok;
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
