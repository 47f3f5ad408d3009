/* SPDX-License-Identifier: MIT */
/* etcd_advice.c -- words of libcurl and OpenSSL, and the setting that each points to. */
#include "lock/stores/etcd_advice.h"

#include <string.h>

#define TRUST ": ca=FILE names the authority to trust"
#define SHOW ": cert=FILE&key=FILE shows one of this client"
#define SCHEME ": is its port one of https?"

const char *etcd_advice(const struct etcd_answer *answer)
{
    static const struct {
        const char *words, *advice;
        bool is_unsent; /* the words say so only if no part of the request was sent */
    } ADVICE[] = {
        {"issuer certificate", TRUST, false},
        {"self-signed certificate", TRUST, false},
        {"subject name", ": server-name=NAME says which name to expect", false},
        {"certificate required", SHOW, false},
        {"bad certificate", SHOW, false},
        {"wrong version number", SCHEME, false},
        {"OpenSSL SSL_connect: ", SCHEME, false},
        {"Empty reply", SCHEME, false},
        /* A port without TLS may reset a handshake.  A server that dies resets requests, too. */
        {"Recv failure: ", SCHEME, true},
    };

    for (size_t i = 0; i < sizeof(ADVICE) / sizeof(ADVICE[0]); i++)
        if (strstr(answer->words, ADVICE[i].words) != NULL &&
            !(ADVICE[i].is_unsent && answer->was_sent))
            return ADVICE[i].advice;
    return "";
}
