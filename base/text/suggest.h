/* SPDX-License-Identifier: MIT */
/* suggest.h -- "did you mean ...?" */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include <stddef.h>

/* The name out of `names(0)`, `names(1)`, ... (until NULL) that `word` was probably meant
 * to be: fewest edits, at most a third of its letters.  NULL if none is near. */
const char *suggest(const char *word, const char *(*names)(size_t i));

/* End a sentence on stderr that says what `word` is not: "; did you mean "X"?" if a name is
 * near, and all names on a line of their own. */
void suggest_tell(const char *word, const char *(*names)(size_t i));

#endif /* BASE_SUGGEST_H */
