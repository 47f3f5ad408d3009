/* SPDX-License-Identifier: MIT */
/* suggest.h -- finds the name that a misspelt word was probably meant to be. */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include <stddef.h>

/* The name among `names(0)`, `names(1)`, ... (until NULL) with the fewest edits from
 * `word`, at most one more than a third of its letters; a capital letter counts as a
 * small one.  NULL: no name is so similar. */
const char *suggest(const char *word, const char *(*names)(size_t i));

/* End a sentence on stderr that refuses `word`: write "; did you mean "X"?" if a name
 * is similar, and then all names on their own line, a name with a blank in quotes. */
void suggest_tell(const char *word, const char *(*names)(size_t i));

/* Say on stderr that `word` is none of the commands of `program`, and end as suggest_tell(). */
void suggest_command(const char *program, const char *word, const char *(*names)(size_t i));

#endif /* BASE_SUGGEST_H */
