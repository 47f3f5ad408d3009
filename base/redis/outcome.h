/* SPDX-License-Identifier: MIT */
/* outcome.h -- the outcome of a request to a server. */
#ifndef BASE_REDIS_OUTCOME_H
#define BASE_REDIS_OUTCOME_H

enum { REDIS_WHY_SIZE = 160 }; /* of a text with the reason of a failure */

enum redis_outcome {
    REDIS_ANSWERED,  /* the answer fits the command's shape                       */
    REDIS_NOT_DONE,  /* it was certainly not sent, or not executed                */
    REDIS_UNKNOWN,   /* no answer came: it may have been executed                 */
    REDIS_PROTOCOL,  /* the server refused it, or its answer does not fit the shape */
    REDIS_NO_MEMORY, /* no memory, and it was not sent                            */
};

#endif /* BASE_REDIS_OUTCOME_H */
