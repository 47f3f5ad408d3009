/* SPDX-License-Identifier: MIT */
/* url_mask.h -- text of a run without the users and passwords of the URLs in it.
 *
 * A flag behind "--" may be a URL with a password, such as --database-url.  Other users may read
 * the files of a run and must not learn the password.
 */
#ifndef LOADTEST_KIT_URL_MASK_H
#define LOADTEST_KIT_URL_MASK_H

/* A copy of `text` in which URL_MASK stands for the user and password of each URL
 * (scheme://USER:PASSWORD@host), and for the value of each "password=" behind a "?", "&" or a
 * blank, as PostgreSQL's URLs and connection strings have.  The text may be plain, JSON or
 * HTML, and stays what it was.  A URL with a raw quotation mark in its password is cut at the
 * mark, since a quotation mark ends the text of JSON: URLs write %22.  The caller frees the copy;
 * without memory the program ends.  Any thread. */
char *url_mask(const char *text);

#define URL_MASK "***"

#endif /* LOADTEST_KIT_URL_MASK_H */
