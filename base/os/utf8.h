/* SPDX-License-Identifier: MIT */
/* utf8.h -- what of a text is shown on a terminal, in a log and on a page.
 *
 * Text from outside (of a store, a file, a request, a command line) can have characters that a
 * terminal obeys, and passwords: a server may repeat the password that it refuses.  Everything that
 * shows such text goes through the functions of this file. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The character that replaces a byte that is not UTF-8, in JSON. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/* The room for a text of `len` bytes as it is shown, with its NUL. */
#define UTF8_SHOWN_SIZE(len) (4 * (len) + 1)

/* The number of bytes of the character at `text`, 1 to 4, and its number in `*value`; 0: the bytes
 * are not UTF-8.  For an empty text the answer is 1, its NUL. */
size_t utf8_read(const char *text, uint32_t *value);
size_t utf8_char_len(const char *text);

/* Is it a control character, or one that ends a line or turns the direction in which a terminal
 * shows the characters behind it? */
bool utf8_is_control(uint32_t value);

/* From now on show *** for this password, also with %xx for bytes of it, and for what the end of a
 * text has left of it.  A secret of fewer than 4 bytes is shown, since it stands in many words, and
 * one of fewer than 8 as the beginning of a longer word.  False: no memory.  Any thread. */
bool utf8_hide(const char *secret);

/* Write what is shown of the character at `text` to `out`, and return how many bytes of `text`
 * these are: the character itself, or \x1b or \u202e for one of utf8_is_control(), or \xff for a
 * byte that is no UTF-8, or *** for a whole secret. */
enum { UTF8_PIECE_SIZE = 7 };
size_t utf8_piece(const char *text, char out[UTF8_PIECE_SIZE]);

/* Copy `text` as it is shown, as much as fits into `size` bytes with a NUL. */
void utf8_show(const char *text, char *out, size_t size);

#endif /* BASE_UTF8_H */
