/* SPDX-License-Identifier: MIT */
/* wrk.h -- wrk as the laboratory runs it: started, watched, ended early. */
#ifndef LOADTEST_SALE_WRK_H
#define LOADTEST_SALE_WRK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text/exit_codes.h"
#include "loadtest/kit/why.h"
#include "loadtest/lab/lab.h"
#include "loadtest/sale/control.h"
#include "loadtest/sale/start_signal.h"

enum { WRK_CLIENTS_MAX = 16 };

struct wrk_plan {
    const struct lab *lab; /* NULL: none, and no start signal                          */
    const char *dir;      /* the run's: wrk.txt, ledgers, load.json, control          */
    const char *script;   /* file in loadtest/wrk                                     */
    const char *urls;     /* with commas; wrk's threads take one each                 */
    int clients;          /* wrk processes, which then need keep_ledger; 0: one        */
    const char *vouchers; /* with commas                                              */
    int threads;          /* of each                                                  */
    int connections;      /* of all                                                   */
    int64_t duration_ms;  /* at most                                                  */
    int64_t target;       /* the user whose lock a hazard aims at; 0: the voucher's   */
    bool keep_ledger;     /* false: no ledger, no load.json of the script             */
    const char *extra[6]; /* more of its environment, NULL at the end                 */
    char *why;            /* WHY_MAX bytes for the reason of a failed start; NULL: the reason
                           * goes to stderr                                            */
};

struct wrk {
    struct child clients[WRK_CLIENTS_MAX];
    int client_count;
    struct start_signal start_signal;
    struct control control;
    char control_path[FILES_PATH_MAX];
    int64_t started_ns;
};

/* Anything but EXIT_VALID: plan->why or stderr says why, and none runs. */
enum exit_code wrk_start(struct wrk *w, const struct wrk_plan *plan);

bool wrk_runs(const struct wrk *w);

/* After wrk_runs() has answered false: say in `why` (WHY_MAX bytes; NULL: on stderr) how the first
 * wrk process that does not run has ended, with the last line of wrk.txt in `dir` unless a signal
 * ended the process.  EXIT_CANNOT_WRITE: the process could not write its ledger; else
 * EXIT_UNAVAILABLE. */
enum exit_code wrk_explain_end(struct wrk *w, const char *dir, char *why);

/* Let wrk send no more requests, wait for missing answers for `drain_ms` at most, and end wrk,
 * which then writes its summary.  False: wrk had to be killed. */
bool wrk_stop(struct wrk *w, int64_t drain_ms);

#endif /* LOADTEST_SALE_WRK_H */
