/* SPDX-License-Identifier: MIT */
/* known_bugs.h -- finds the bugs of other libraries that a law tests for. */
#ifndef CONFORMANCE_KNOWN_BUGS_H
#define CONFORMANCE_KNOWN_BUGS_H

#include <stdbool.h>
#include <stddef.h>

/* Write the bugs that the law tests for to `end`, the end of a case's name, in parentheses; write
 * nothing if there are none. `law` may be a part of that name, since the function reads `law`
 * before it writes. */
void known_bugs_append(char *end, size_t size, const char *law);

/* End the program if a row names a law that does not exist: no test would show the absence of its
 * bug. */
void known_bugs_check(bool (*is_law)(const char *name));

#endif /* CONFORMANCE_KNOWN_BUGS_H */
