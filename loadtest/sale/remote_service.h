/* SPDX-License-Identifier: MIT */
/* remote_service.h -- a service that this program did not start: its address, and its buyers with
 * their tokens.
 *
 * A load reads neither its database nor its locks, logs or processes, and has no audit.
 * The tokens are secrets, and are neither printed nor written into the files of a run.
 */
#ifndef LOADTEST_SALE_REMOTE_SERVICE_H
#define LOADTEST_SALE_REMOTE_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text/exit_codes.h"
#include "loadtest/proxy/target.h"

struct remote_service {
    const char *url, *host;  /* http://HOST:PORT, and the part of it behind http://      */
    const char *tokens_path;
    struct proxy_target address; /* after remote_service_reach()                         */
    int64_t voucher;
    int64_t buyer_count;
    struct remote_buyer {
        int64_t user;
        const char *token;
    } *buyers;
    char *text; /* of the file of tokens                                                 */
};

/* Check the URL, and read the file of tokens, whose lines "USER TOKEN" are as `seckill seed` writes
 * them.  Only their owner may read the file, and the tokens have to be good until `until_s`.  The
 * texts must outlive *remote, which is to be freed.  False: the mistake is on stderr. */
bool remote_service_read(struct remote_service *remote, const char *url, const char *tokens_path,
                         int64_t until_s);

/* Send a GET, to find out which of its addresses answers.  EXIT_UNAVAILABLE: none does, and stderr
 * says why. */
enum exit_code remote_service_reach(struct remote_service *remote);

/* A zeroed struct is fine. */
void remote_service_free(struct remote_service *remote);

#endif /* LOADTEST_SALE_REMOTE_SERVICE_H */
