/* SPDX-License-Identifier: MIT */
/* etcd_advice.h -- the setting of an address that an error of the connection points to.
 *
 * Threads     Any. */
#ifndef DLOCK_ETCD_ADVICE_H
#define DLOCK_ETCD_ADVICE_H

#include "lock/stores/etcd_wire.h"

/* The end of the error's message, such as ": ca=FILE names the authority to trust".  The text is
 * static; "" if the words of libcurl and OpenSSL point to no setting. */
const char *etcd_advice(const struct etcd_answer *answer);

#endif /* DLOCK_ETCD_ADVICE_H */
