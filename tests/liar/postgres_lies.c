/* SPDX-License-Identifier: MIT */
/* postgres_lies.c -- the wrong answers of a lying PostgreSQL.
 *
 * They are written in version 3 of the server's protocol: each message is a letter, a length that
 * counts itself, and contents. */
#include <arpa/inet.h>
#include <stdint.h>
#include <string.h>

#include "tests/liar/lies.h"

enum {
    LIES_MAX = 96,
    BYTES_SIZE = 4096,
    LONG_LEN = 2000,
    /* Types of columns. */
    BOOL = 16, INT8 = 20, INT4 = 23, TEXT = 25, VOID = 2278,
};

static struct lie lies[LIES_MAX];
static char bytes[LIES_MAX][BYTES_SIZE];
static size_t count;

/* ---- writing messages; each function writes at `at`, and returns the end ---- */

static char *put16(char *at, int value)
{
    uint16_t n = htons((uint16_t)value);

    memcpy(at, &n, sizeof(n));
    return at + sizeof(n);
}

static char *put32(char *at, int64_t value)
{
    uint32_t n = htonl((uint32_t)value);

    memcpy(at, &n, sizeof(n));
    return at + sizeof(n);
}

static char *put_message(char *at, char letter, const char *contents, size_t len)
{
    *at = letter;
    at = put32(at + 1, (int64_t)len + 4);
    memcpy(at, contents, len);
    return at + len;
}

static char *put_ready(char *at, char transaction)
{
    return put_message(at, 'Z', &transaction, 1);
}

static char *put_done(char *at, const char *tag)
{
    return put_message(at, 'C', tag, strlen(tag) + 1);
}

/* The columns of the rows that follow, all of one type. */
static char *put_columns(char *at, int columns, int type, int format)
{
    char contents[256];
    char *end = put16(contents, columns);

    for (int i = 0; i < columns; i++) {
        memcpy(end, "x", 2);
        end = put32(end + 2, 0);
        end = put16(end, 0);
        end = put32(end, type);
        end = put16(end, -1);
        end = put32(end, -1);
        end = put16(end, format);
    }
    return put_message(at, 'T', contents, (size_t)(end - contents));
}

/* A row of equal values; NULL is the value NULL. */
static char *put_row(char *at, int columns, const char *value, size_t len)
{
    char contents[BYTES_SIZE / 2];
    char *end = put16(contents, columns);

    for (int i = 0; i < columns; i++) {
        end = put32(end, value != NULL ? (int64_t)len : -1);
        if (value != NULL)
            memcpy(end, value, len);
        end += value != NULL ? len : 0;
    }
    return put_message(at, 'D', contents, (size_t)(end - contents));
}

static char *put_rows(char *at, int columns, int rows, int type, const char *value)
{
    at = put_columns(at, columns, type, 0);
    for (int i = 0; i < rows; i++)
        at = put_row(at, columns, value, value != NULL ? strlen(value) : 0);
    return put_done(at, "SELECT 1");
}

/* ---- the wrong answers ---- */

static char *begin(void)
{
    return bytes[count];
}

static void end(const char *name, const char *at, bool then_close)
{
    lies[count] = (struct lie){name, bytes[count], (size_t)(at - bytes[count]), then_close};
    count++;
}

static void add_value(const char *name, int type, const char *value)
{
    end(name, put_ready(put_rows(begin(), 1, 1, type, value), 'I'), false);
}

static void add_rows(const char *name, int columns, int rows, int type, const char *value)
{
    end(name, put_ready(put_rows(begin(), columns, rows, type, value), 'I'), false);
}

static void add_values(void)
{
    add_value("bool t", BOOL, "t");
    add_value("bool f", BOOL, "f");
    add_value("bool NULL", BOOL, NULL);
    add_value("bool true", BOOL, "true");
    add_value("bool tt", BOOL, "tt");
    add_value("bool of nothing", BOOL, "");
    add_value("text t", TEXT, "t");
    add_value("int4 1", INT4, "1");
    add_value("int4 2", INT4, "2");
    add_value("int4 -1", INT4, "-1");
    add_value("int4 NULL", INT4, NULL);
    add_value("int8 -1", INT8, "-1");
    add_value("int8 0", INT8, "0");
    add_value("int8 1", INT8, "1");
    add_value("int8 -2", INT8, "-2");
    add_value("int8 NULL", INT8, NULL);
    add_value("int8 abc", INT8, "abc");
    add_value("int8 of nothing", INT8, "");
    add_value("int8 -1x", INT8, "-1x");
    add_value("int8 -01", INT8, "-01");
    add_value("int8 2^31", INT8, "2147483648");
    add_value("int8 the most", INT8, "9223372036854775807");
    add_value("int8 the least", INT8, "-9223372036854775808");
    add_value("int8 too much", INT8, "99999999999999999999");
    add_value("int8 1e3", INT8, "1e3");
    add_value("text -1", TEXT, "-1");
    add_value("text of nothing", TEXT, "");
    add_value("text of an inspect", TEXT, "1 99999999999999999999 -7 x 0 0 me");
    add_value("text of an owner", TEXT, "1 5000 1 -1 0 0 a\033[31mb");
    add_value("void", VOID, "");
    add_value("void x", VOID, "x");
    add_value("void NULL", VOID, NULL);
}

static void add_shapes(void)
{
    static char much[LONG_LEN + 1];
    char *at;

    memset(much, '1', LONG_LEN);
    add_rows("no row", 1, 0, INT8, "");
    add_rows("two rows of -1", 1, 2, INT8, "-1");
    add_rows("two rows of t", 1, 2, BOOL, "t");
    add_rows("two rows of 1", 1, 2, INT4, "1");
    add_rows("two columns of -1", 2, 1, INT8, "-1");
    add_rows("two columns of t", 2, 1, BOOL, "t");
    add_rows("two columns of nothing", 2, 1, VOID, "");
    add_rows("a row of no columns", 0, 1, INT8, "");
    add_rows("much text", 1, 1, TEXT, much);
    add_rows("a long number", 1, 1, INT8, much);
    at = put_row(put_columns(begin(), 1, INT8, 0), 1, "-1\0x", 4);
    end("a NUL in a number", put_ready(put_done(at, "SELECT 1"), 'I'), false);
    at = put_row(put_columns(begin(), 1, BOOL, 0), 1, "t\0", 2);
    end("a NUL behind t", put_ready(put_done(at, "SELECT 1"), 'I'), false);
    at = put_row(put_columns(begin(), 1, INT8, 1), 1, "\377\377\377\377\377\377\377\377", 8);
    end("binary -1", put_ready(put_done(at, "SELECT 1"), 'I'), false);
    at = put_row(put_columns(begin(), 1, BOOL, 1), 1, "t", 1);
    end("binary t", put_ready(put_done(at, "SELECT 1"), 'I'), false);
    end("1 in a transaction", put_ready(put_rows(begin(), 1, 1, INT4, "1"), 'T'), false);
    end("t in a failed transaction", put_ready(put_rows(begin(), 1, 1, BOOL, "t"), 'E'),
        false);
    end("-1 in a transaction", put_ready(put_rows(begin(), 1, 1, INT8, "-1"), 'T'), false);
    end("two answers of -1",
        put_ready(put_rows(put_rows(begin(), 1, 1, INT8, "-1"), 1, 1, INT8, "-1"), 'I'),
        false);
    at = put_ready(put_rows(begin(), 1, 1, INT8, "0"), 'I');
    end("an answer too many", put_ready(put_rows(at, 1, 1, INT8, "-1"), 'I'), false);
    at = put_ready(put_rows(begin(), 1, 1, BOOL, "f"), 'I');
    end("a t too many", put_ready(put_rows(at, 1, 1, BOOL, "t"), 'I'), false);
}

static void add_done(const char *tag, char transaction)
{
    end(tag, put_ready(put_done(begin(), tag), transaction), false);
}

static void add_error(const char *name, const char *fields, size_t len)
{
    end(name, put_ready(put_message(begin(), 'E', fields, len), 'I'), false);
}

#define ERROR(state) "SERROR\0VERROR\0C" state "\0Mno\0"
#define ADD_ERROR(state) add_error("error " state, ERROR(state), sizeof(ERROR(state)))

#define LINES "SERROR\0VERROR\0CXX000\0Ma\r\nb\033[31m\302\233\0Dc\0"

static void add_words(void)
{
    add_done("SELECT 0", 'I');
    add_done("SELECT 1", 'I');
    add_done("INSERT 0 1", 'I');
    add_done("DELETE 1", 'T');
    add_done("BEGIN", 'I');
    add_done("COMMIT", 'I');
    add_done("ROLLBACK", 'I');
    add_done("", 'I');
    ADD_ERROR("55P03");
    ADD_ERROR("57014");
    ADD_ERROR("57P01");
    ADD_ERROR("23505");
    ADD_ERROR("25P02");
    ADD_ERROR("40001");
    ADD_ERROR("53300");
    add_error("error without a state", "SERROR\0Mno\0", 12);
    add_error("error of nothing", "", 1);
    add_error("error of many lines", LINES, sizeof(LINES));
    end("only ready", put_ready(begin(), 'I'), false);
}

static void add_message(const char *name, char letter, const char *contents, size_t len,
                        bool then_close)
{
    end(name, put_message(begin(), letter, contents, len), then_close);
}

static void add_protocol(void)
{
    char *at;

    end("an empty query", put_ready(put_message(begin(), 'I', "", 0), 'I'), false);
    end("parsed", put_ready(put_message(begin(), '1', "", 0), 'I'), false);
    end("no data", put_ready(put_message(begin(), 'n', "", 0), 'I'), false);
    end("suspended", put_ready(put_message(begin(), 's', "", 0), 'I'), false);
    add_message("copy in", 'G', "\0\0\0", 3, false);
    add_message("copy out", 'H', "\0\0\0", 3, false);
    add_message("copy both", 'W', "\0\0\0", 3, false);
    end("copy out, ready", put_ready(put_message(begin(), 'H', "\0\0\0", 3), 'I'), false);
    add_message("no such message", '!', "", 0, true);
    add_message("a password wanted", 'R', "\0\0\0\3", 4, true);
    add_message("a method unknown", 'R', "\0\0\0\143", 4, true);
    at = put_row(begin(), 1, "-1", 2);
    end("a row without columns", put_ready(put_done(at, "SELECT 1"), 'I'), true);
    at = begin();
    *at = 'D';
    end("a length below nothing", put32(at + 1, -5), true);
    end("nothing", begin(), true);
    at = put_rows(begin(), 1, 1, INT8, "-1");
    end("a grant cut off", at - 3, true);
    at = begin();
    memcpy(at, "HTTP/1.1 200 OK\r\n\r\n", 19);
    end("another protocol", at + 19, true);
}

size_t postgres_lies(const struct lie **out)
{
    if (count == 0) {
        add_values();
        add_shapes();
        add_words();
        add_protocol();
    }
    *out = lies;
    return count;
}

/* The wrong answer that is a well-formed grant for each statement. */
static const struct grant {
    const char *sql;
    const char *lie;
} GRANTS[] = {
    {"SELECT pg_try_advisory_lock", "bool t"},
    {"SELECT pg_advisory_lock", "void"},
    {"SELECT 1 FROM dlock_row", "1 in a transaction"},
    {"SELECT dlock_queue_try", "int8 -1"},
    {"SELECT dlock_queue_try", "-1 in a transaction"},
    {"WITH taken", "int8 -1"},
    {"WITH taken", "-1 in a transaction"},
};

bool postgres_is_grant(const struct lie *lie, const char *sql)
{
    for (size_t i = 0; i < sizeof(GRANTS) / sizeof(GRANTS[0]); i++)
        if (strncmp(sql, GRANTS[i].sql, strlen(GRANTS[i].sql)) == 0 &&
            strcmp(lie->name, GRANTS[i].lie) == 0)
            return true;
    return false;
}
