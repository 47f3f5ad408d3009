/* SPDX-License-Identifier: MIT */
/* url_mask.h -- words of a run without the logins and passwords in them.
 *
 * A flag behind "--" may be a URL with a password, such as --database-url.  Other users may read
 * the files of a run and must not learn the password, also if the URL is wrong.  So only what
 * surely is no part of a login is kept.
 */
#ifndef LOADTEST_KIT_URL_MASK_H
#define LOADTEST_KIT_URL_MASK_H

/* A copy of a word of a command line, or of another text, in which URL_MASK stands for all that a
 * URL or a value of a flag --...-url has before its last @, for all of it if no hosts and ports
 * begin there, and for the value of each "password=".  `before` is the word before it, which may be
 * the flag; NULL: there is none.  The caller frees the copy; without memory the program ends.  Any
 * thread. */
char *url_mask(const char *before, const char *word);

#define URL_MASK "***"

#endif /* LOADTEST_KIT_URL_MASK_H */
