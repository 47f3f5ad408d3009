/* SPDX-License-Identifier: MIT */
/* orders_audit.h -- records the answers to the clients of a simulated sale, and applies the
 * project's own audit (loadtest/audit/) to the rows of the model of PostgreSQL.
 *
 * This header does not include world.h, because the laboratory's verdicts have the same names. */
#ifndef SIMULATION_ORDERS_AUDIT_H
#define SIMULATION_ORDERS_AUDIT_H

#include "tests/simulation/postgres_model.h"

enum { ORDERS_ASKED_MAX = 1024, ORDERS_ID_SIZE = 24, ORDERS_WHY_SIZE = 160 };

enum orders_answer { ORDERS_NO_ANSWER, ORDERS_REFUSED, ORDERS_ACCEPTED, ORDERS_QUEUED,
                     ORDERS_UNSURE, ORDERS_SOLD_OUT };

/* A request, and what its client knows about it. */
struct orders_asked {
    char id[ORDERS_ID_SIZE];
    int64_t user, voucher, order; /* order: of ACCEPTED and QUEUED */
    enum orders_answer answer;
    bool was_unsure;  /* the client got no definite answer earlier, and asked again */
    bool is_under_way;
    int process; /* the process to which it was sent last */
};

/* The first violation that the audit finds. */
enum orders_finding { ORDERS_VALID, ORDERS_OVERSOLD, ORDERS_LOST_UPDATE, ORDERS_DUPLICATE,
                      ORDERS_PROMISE, ORDERS_UNDERSOLD, ORDERS_WRONG };

/* Judge the sale, after everything in it has ended. Unless the result is ORDERS_VALID, `why` has
 * the name and an example of the violation. */
enum orders_finding orders_audit(const struct postgres_model *model,
                                 const struct orders_asked *asked, size_t count,
                                 char why[ORDERS_WHY_SIZE]);

#endif /* SIMULATION_ORDERS_AUDIT_H */
