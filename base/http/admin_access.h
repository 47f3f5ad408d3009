/* SPDX-License-Identifier: MIT */
/* admin_access.h -- checks the access to the listener for operators.
 *
 * A request must carry the admin token, as `Authorization: Bearer`, must name this
 * listener as its Host, and must not come from a page of another site.  The check of
 * the Host refuses a web page whose name was pointed at this machine (DNS rebinding).
 * The check of the Origin refuses a page of another site that sends requests here.
 *
 * Threads     admin_access_check() on any; the struct is read-only after it was opened.
 */
#ifndef BASE_ADMIN_ACCESS_H
#define BASE_ADMIN_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/http/admin_token.h"
#include "base/text/exit_codes.h"

/* The settings of the listener.  The caller keeps the texts until the listener is
 * closed. */
struct admin_access_settings {
    const char *listen;     /* HOST:PORT */
    const char *hosts;      /* as in struct admin_access */
    const char *token_path;
};

struct admin_access {
    char token[ADMIN_TOKEN_LEN + 1];
    const char *hosts;  /* allowed names, separated by commas, besides those of
                         * loopback; "*": any; NULL: only loopback */
    bool are_all_hosts; /* and those of loopback are not allowed */
    char own_host[64];  /* the address of the listener */
};

/* The headers that tell where a request comes from; NULL: the header is missing. */
struct admin_origin {
    const char *host;
    const char *origin;
    const char *fetch_site; /* Sec-Fetch-Site */
};

enum admin_verdict {
    ADMIN_ALLOWED,
    ADMIN_FOREIGN_HOST,
    ADMIN_FOREIGN_ORIGIN,
    ADMIN_NO_TOKEN,
    ADMIN_WRONG_TOKEN,
};

/* Read the file of the admin token, which must belong to `owner` or to root.  If there
 * is no such file, make it with mode 0600 and a random token.  EXIT_CANNOT_WRITE: there
 * is no file, and it cannot be made.  EXIT_USAGE: the file cannot be used.  The log
 * says why. */
enum exit_code admin_access_open(struct admin_access *a,
                                 const struct admin_access_settings *settings,
                                 uid_t owner);

/* May this request be answered?  `token` is the text after Bearer; NULL: there is none.
 * The token is compared last, in a time that does not depend on where it is wrong. */
enum admin_verdict admin_access_check(const struct admin_access *a,
                                      const struct admin_origin *from,
                                      const char *token);

/* A verdict as a sentence for the client; NULL for ALLOWED. */
const char *admin_verdict_text(enum admin_verdict verdict);

/* Is it an IPv4 address of loopback, or "localhost", or "[::1]"?  The first `len` bytes count. */
bool admin_host_is_loopback(const char *host, size_t len);

/* Is `hosts` valid for --admin-host: names or addresses without ports, separated by
 * commas, or *? */
bool admin_hosts_are_good(const char *hosts);

#endif /* BASE_ADMIN_ACCESS_H */
