/* SPDX-License-Identifier: MIT */
/* buffer.h -- byte buffers that grow, and functions that write replies of Redis (RESP2) into
 * them. */
#ifndef SIMULATION_BUFFER_H
#define SIMULATION_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes; the declaration of each variable says who owns them. */
struct bytes {
    char *at;
    size_t len;
};

struct buffer {
    char *at;
    size_t len, room;
};

void buffer_add(struct buffer *buffer, const char *bytes, size_t len);
void buffer_take(struct buffer *buffer, size_t len); /* remove `len` bytes from the beginning */
void buffer_free(struct buffer *buffer);

struct bytes bytes_copy(struct bytes from); /* free with free(at) */
bool bytes_equal(struct bytes a, struct bytes b);
bool bytes_is(struct bytes a, const char *text); /* ignoring case */
int bytes_compare(struct bytes a, struct bytes b);
bool bytes_number(struct bytes a, int64_t *out);
#define BYTES(text) ((struct bytes){(char *)(uintptr_t)(text), sizeof(text) - 1})

void reply_status(struct buffer *out, const char *text);
void reply_error(struct buffer *out, const char *text); /* with its code at the beginning */
void reply_integer(struct buffer *out, int64_t number);
void reply_bulk(struct buffer *out, struct bytes bytes);
void reply_text(struct buffer *out, const char *text);
void reply_double(struct buffer *out, double number);
void reply_nil(struct buffer *out);
void reply_nil_array(struct buffer *out);
void reply_array(struct buffer *out, int64_t count); /* the caller adds its parts */

#endif /* SIMULATION_BUFFER_H */
