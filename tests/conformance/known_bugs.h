/* SPDX-License-Identifier: MIT */
/* known_bugs.h -- which bugs of others a law shows that we do not have. */
#ifndef CONFORMANCE_KNOWN_BUGS_H
#define CONFORMANCE_KNOWN_BUGS_H

#include <stdbool.h>
#include <stddef.h>

/* Write those that the law shows to `end`, the end of a case's name, in parentheses;
 * nothing if there are none.  `law` may be a part of that name: it is read before. */
void known_bugs_append(char *end, size_t size, const char *law);

/* End the program if a line names no law: it would say of a bug what nothing shows. */
void known_bugs_check(bool (*is_law)(const char *name));

#endif /* CONFORMANCE_KNOWN_BUGS_H */
