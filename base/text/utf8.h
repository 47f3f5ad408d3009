/* SPDX-License-Identifier: MIT */
/* utf8.h -- cleans foreign text before it is shown or put into JSON. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The character that replaces a byte that is not UTF-8. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/* The number of bytes of the character at `text`, 1 to 4; 0: the bytes are not UTF-8.
 * For an empty text the answer is 1, its NUL. */
size_t utf8_char_len(const char *text);

/* Is the character at `text` a control character, or one that ends a line or turns the direction
 * in which a terminal shows the characters behind it?  An empty text is: its NUL is one. */
bool utf8_is_control(const char *text);

/* Copy `text`, with a replacement for every byte that is no UTF-8 and for every character of
 * utf8_is_control(), as much as fits into `size` bytes with a NUL.  Thrice the length of the
 * text is always enough. */
void utf8_clean(const char *text, char *out, size_t size);

#endif /* BASE_UTF8_H */
