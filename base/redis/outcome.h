/* SPDX-License-Identifier: MIT */
/* outcome.h -- what became of a request to a server. */
#ifndef BASE_REDIS_OUTCOME_H
#define BASE_REDIS_OUTCOME_H

enum { REDIS_WHY_SIZE = 160 }; /* of a text that says why something failed */

enum redis_outcome {
    REDIS_ANSWERED,  /* by what its shape allows                                  */
    REDIS_NOT_DONE,  /* it certainly did not leave, or was not executed           */
    REDIS_UNKNOWN,   /* it may have been executed: no answer came                 */
    REDIS_PROTOCOL,  /* the server refused it, or answered what it never answers  */
    REDIS_NO_MEMORY, /* it did not leave, for want of memory                      */
};

#endif /* BASE_REDIS_OUTCOME_H */
