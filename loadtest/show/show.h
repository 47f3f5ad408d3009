/* SPDX-License-Identifier: MIT */
/* show.h -- `seckill show`: a sale on real servers, on one page, until Ctrl-C. */
#ifndef LOADTEST_SHOW_SHOW_H
#define LOADTEST_SHOW_SHOW_H

#include "base/text/exit_codes.h"
#include "db/lab_db.h"
#include "loadtest/lab/lab.h"
#include "loadtest/show/switches.h"

struct show_plan {
    struct lab *lab;    /* afterwards its servers may be other processes               */
    lab_db *db;
    const char *out;    /* in which this run makes its own directory                  */
    const char *listen; /* HOST:PORT, which address_parse() has accepted              */
    const char *host;   /* the only Host that is answered; NULL: those of loopback    */
    struct show_switches switches;
    int64_t limit_ms;   /* the longest that a load goes on                            */
    int lesson;         /* the lesson to begin with, by its number; 0: none            */
};

/* Listen, make the directory of the run, start the processes, print the address of the page on
 * stdout, and serve the page until an interrupt.  EXIT_VALID: the page was served.  Anything else:
 * the reason is on stderr.  In no case a process is left running.  If the address cannot be used,
 * there is no directory. */
enum exit_code show_run(const struct show_plan *plan);

#endif /* LOADTEST_SHOW_SHOW_H */
