/* SPDX-License-Identifier: MIT */
/* voucher_json.c -- vouchers as JSON. */
#include "app/voucher_json.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    PRICE_MAX_CENTS = 1000000000, /* ten million in the shop's currency */
    STOCK_MAX = 100000000,        /* 0 is allowed, for a voucher that is sold out */
};

/* The instants from the year 1900 to the year 9999, in UTC, in microseconds since 1970. */
static const int64_t FIRST_US = -2208988800 * INT64_C(1000000);
static const int64_t LAST_US = 253402300800 * INT64_C(1000000) - 1;

enum field_kind { FIELD_TEXT, FIELD_NUMBER, FIELD_INSTANT };

/* The one list of the fields of a voucher in JSON. */
static const struct field {
    const char *name;
    enum field_kind kind;
    bool is_required;
    size_t offset;
    int64_t min, max; /* of a number; of a text, the most characters it may have */
} FIELDS[] = {
#define F(name, kind, required, member, min, max)                                      \
    {name, FIELD_##kind, required, offsetof(struct voucher, member), min, max},
    F("shopId", NUMBER, false, shop_id, 1, INT64_MAX)
    F("title", TEXT, true, title, 1, 255)
    F("subTitle", TEXT, false, sub_title, 0, 255)
    F("rules", TEXT, false, rules, 0, 1024)
    F("payValue", NUMBER, true, pay_value, 1, PRICE_MAX_CENTS)
    F("actualValue", NUMBER, true, actual_value, 1, PRICE_MAX_CENTS)
    F("type", NUMBER, false, type, 0, 1)
    F("stock", NUMBER, true, stock, 0, STOCK_MAX)
    F("beginTime", INSTANT, true, begin_us, 0, 0)
    F("endTime", INSTANT, true, end_us, 0, 0)
#undef F
};

enum {
    FIELD_COUNT = sizeof(FIELDS) / sizeof(FIELDS[0]),
    LEVELS_MAX = 4, /* the limit of nesting; a voucher has one level */
    NAME_SHOWN_MAX = 40, /* bytes of an unknown name to show */
};

/* The number of bytes of a text to show: at most `max`, and whole characters only. */
static int shown_bytes(const char *text, int max)
{
    int n = (int)strnlen(text, (size_t)max);

    while (n > 0 && (text[n] & 0xc0) == 0x80)
        n--;
    return n;
}

static bool wrong(struct voucher_draft *draft, const char *name, const char *what)
{
    (void)snprintf(draft->wrong, sizeof(draft->wrong), "%.*s: %s",
                   shown_bytes(name, NAME_SHOWN_MAX), name, what);
    return false;
}

/* Read `count` digits at *p, and move *p past them.  -1: there are fewer digits. */
static int read_digits(const char **p, int count)
{
    int value = 0;

    for (int i = 0; i < count; i++, (*p)++) {
        if (**p < '0' || **p > '9')
            return -1;
        value = value * 10 + (**p - '0');
    }
    return value;
}

static bool skip(const char **p, char c)
{
    if (**p != c)
        return false;
    (*p)++;
    return true;
}

/* Read the zone at the end of a time; without a zone it is UTC.  *east_s is in seconds
 * east of UTC.  False: the zone is malformed. */
static bool read_zone(const char *p, long *east_s)
{
    bool is_east = *p == '+';
    int hours, minutes;

    *east_s = 0;
    if (*p == '\0' || strcmp(p, "Z") == 0)
        return true;
    if (*p != '+' && *p != '-')
        return false;
    p++;
    hours = read_digits(&p, 2);
    if (hours < 0 || hours > 14 || !skip(&p, ':'))
        return false;
    minutes = read_digits(&p, 2);
    if (minutes < 0 || minutes > 59 || *p != '\0')
        return false;
    *east_s = (hours * 60L + minutes) * (is_east ? 60 : -60);
    return true;
}

bool voucher_read_instant(const char *text, int64_t *us)
{
    const char *p = text;
    struct tm tm = {0};
    struct tm given;
    int64_t fraction = 0;
    long east_s = 0;
    time_t seconds;

    tm.tm_year = read_digits(&p, 4) - 1900;
    if (tm.tm_year < 0 || !skip(&p, '-') || (tm.tm_mon = read_digits(&p, 2) - 1) < 0 ||
        !skip(&p, '-') || (tm.tm_mday = read_digits(&p, 2)) < 1 || !skip(&p, 'T') ||
        (tm.tm_hour = read_digits(&p, 2)) < 0 || !skip(&p, ':') ||
        (tm.tm_min = read_digits(&p, 2)) < 0 || !skip(&p, ':') ||
        (tm.tm_sec = read_digits(&p, 2)) < 0)
        return false;
    if (skip(&p, '.')) {
        int64_t scale = 100000;

        if (*p < '0' || *p > '9')
            return false;
        for (; *p >= '0' && *p <= '9'; p++, scale /= 10)
            fraction += (*p - '0') * scale;
    }
    if (!read_zone(p, &east_s))
        return false;
    given = tm;
    seconds = timegm(&tm);
    /* timegm() turns the 31st of February into the 3rd of March; such a date is
     * refused. */
    if (tm.tm_mday != given.tm_mday || tm.tm_mon != given.tm_mon ||
        tm.tm_hour != given.tm_hour || tm.tm_min != given.tm_min ||
        tm.tm_sec != given.tm_sec)
        return false;
    *us = ((int64_t)seconds - east_s) * 1000000 + fraction;
    return *us >= FIRST_US && *us <= LAST_US; /* the zone can move it out of these years */
}

/* Count characters and not bytes, as the columns of the table do. */
static int64_t count_characters(const char *text)
{
    int64_t n = 0;

    for (; *text != '\0'; text++)
        n += (*text & 0xc0) != 0x80;
    return n;
}

static bool out_of_range(struct voucher_draft *draft, const struct field *f)
{
    char what[64];

    (void)snprintf(what, sizeof(what), "must be from %" PRId64 " to %" PRId64, f->min,
                   f->max);
    return wrong(draft, f->name, what);
}

static bool read_field(struct voucher_draft *draft, const struct field *f,
                       json_t *value)
{
    char *place = (char *)&draft->voucher + f->offset;
    int64_t number = 0;
    const char *text;

    if (f->kind == FIELD_NUMBER) {
        if (!json_is_integer(value))
            return wrong(draft, f->name, "must be a whole number");
        number = json_integer_value(value);
        if (number < f->min || number > f->max)
            return out_of_range(draft, f);
        memcpy(place, &number, sizeof(number));
        return true;
    }
    if (!json_is_string(value))
        return wrong(draft, f->name, "must be a text");
    if (f->kind == FIELD_INSTANT) {
        if (!voucher_read_instant(json_string_value(value), &number))
            return wrong(draft, f->name, "must be a time such as 2026-01-31T18:00:00Z, from "
                                         "the year 1900 to the year 9999 in UTC");
        memcpy(place, &number, sizeof(number));
        return true;
    }
    number = count_characters(json_string_value(value));
    if (number < f->min || number > f->max)
        return wrong(draft, f->name, number < f->min ? "is empty" : "is too long");
    text = json_string_value(value);
    memcpy(place, &text, sizeof(text));
    return true;
}

static bool is_known(const char *name)
{
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (strcmp(FIELDS[i].name, name) == 0)
            return true;
    return false;
}

/* Is the nesting within the limit? jansson uses recursion for each level, and the
 * threads of the service have small stacks.  This function and jansson can disagree on
 * where a string ends only after malformed JSON, at which jansson stops. */
static bool is_shallow(const char *json, size_t len)
{
    bool is_in_text = false;
    int levels = 0;

    for (size_t i = 0; i < len && levels <= LEVELS_MAX; i++) {
        char c = json[i];

        if (is_in_text && c == '\\')
            i++;
        else if (c == '"')
            is_in_text = !is_in_text;
        else if (!is_in_text && (c == '[' || c == '{'))
            levels++;
        else if (!is_in_text && (c == ']' || c == '}'))
            levels--;
    }
    return levels <= LEVELS_MAX;
}

bool voucher_draft_read(struct voucher_draft *draft, const char *json, size_t len)
{
    json_error_t error;
    json_t *root = NULL;
    const char *name = NULL;
    json_t *value = NULL;

    *draft = (struct voucher_draft){.voucher = {.shop_id = 1, .type = 1}};
    if (!is_shallow(json, len))
        return wrong(draft, "JSON", "is nested too deeply");
    draft->json = root = json_loadb(json, len, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL)
        return wrong(draft, "JSON", error.text);
    if (!json_is_object(root))
        return wrong(draft, "JSON", "must be an object");
    json_object_foreach (root, name, value)
        if (!is_known(name))
            return wrong(draft, name, "no such field");
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        value = json_object_get(root, FIELDS[i].name);
        if (value == NULL || json_is_null(value)) {
            if (FIELDS[i].is_required)
                return wrong(draft, FIELDS[i].name, "is missing");
        } else if (!read_field(draft, &FIELDS[i], value)) {
            return false;
        }
    }
    if (draft->voucher.begin_us > draft->voucher.end_us)
        return wrong(draft, "endTime", "is before beginTime");
    return true;
}

void voucher_draft_free(struct voucher_draft *draft)
{
    json_decref(draft->json);
}

/* Write ".5" for half a second, and "" for none. */
static void format_fraction(int64_t us, char out[8])
{
    int len = 0;

    if (us > 0)
        len = snprintf(out, 8, ".%06d", (int)us);
    while (len > 0 && out[len - 1] == '0')
        len--;
    out[len] = '\0';
}

static void write_instant(struct text *out, const char *name, int64_t us)
{
    time_t seconds = (time_t)(us / 1000000 - (us % 1000000 < 0));
    char text[32] = "";
    char fraction[8];
    struct tm tm;

    (void)gmtime_r(&seconds, &tm);
    (void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
    format_fraction(us - (int64_t)seconds * 1000000, fraction);
    text_add(out, ",\"%s\":\"%s%sZ\"", name, text, fraction);
}

static void write_text(struct text *out, const char *name, const char *value)
{
    if (value == NULL)
        return; /* fields that are null are left out, as in the courses */
    text_add(out, ",\"%s\":", name);
    text_add_json(out, value);
}

void voucher_write(struct text *out, const struct voucher *v, bool id_as_text)
{
    const char *quote = id_as_text ? "\"" : "";

    text_add(out, "{\"id\":%s%" PRId64 "%s,\"shopId\":%" PRId64, quote, v->id, quote,
             v->shop_id);
    write_text(out, "title", v->title);
    write_text(out, "subTitle", v->sub_title);
    write_text(out, "rules", v->rules);
    text_add(out,
             ",\"payValue\":%" PRId64 ",\"actualValue\":%" PRId64 ",\"type\":%" PRId64
             ",\"status\":%" PRId64 ",\"stock\":%" PRId64,
             v->pay_value, v->actual_value, v->type, v->status, v->stock);
    write_instant(out, "beginTime", v->begin_us);
    write_instant(out, "endTime", v->end_us);
    text_add(out, "}");
}
