/* SPDX-License-Identifier: MIT */
/* result.h -- a scenario under one lock and one stock guard, and the result of performing it. */
#ifndef LOADTEST_SCENARIO_RESULT_H
#define LOADTEST_SCENARIO_RESULT_H

#include <jansson.h>

#include "base/text/exit_codes.h"
#include "loadtest/kit/verdict.h"
#include "loadtest/scenario/background/blame.h"
#include "loadtest/scenario/scenario.h"

/* A scenario under one lock and one stock guard. */
struct scenario_setup {
    const struct scenario *scenario;
    const dlock_variant_info *lock;
    const struct stock_guard *guard;
    const struct expectation *expected;
};

/* The result of a performance, in memory that the performing process shares with the
 * command. */
struct scenario_result {
    bool has_happened;
    bool was_spoilt;  /* another performance may succeed                              */
    int tries;
    char spoilt[300];   /* the reason for which an earlier try did not count; "": none */
    enum scenario_outcome outcome;
    unsigned signs;
    unsigned gave_way;  /* set of 1 << dlock_assumption: the assumptions that did not
                         * hold where the checker found a break                       */
    bool is_expected;
    enum exit_code rc;
    struct scenario_tally tally; /* of a measurement                                  */
    char why[400];      /* the reason, if it did not happen or was not as expected    */
    int64_t took_ns;
    int64_t holds, faults;    /* of the story, as the checker and the records have them */
    int64_t background_holds, background_failures;
    int64_t stalls, delays; /* of the background load's processes and wires; of its wires */
    enum background_blame background_blame;
    char background_why[300];
};

/* Was the outcome the expected one?  UNKNOWN also if the scenario did not happen. */
enum verdict scenario_verdict(const struct scenario_result *result);

/* Does the scenario measure for a time, instead of telling a story? */
bool scenario_is_measured(const struct scenario *scenario);

/* Has the scenario a lab of its own, which no other performance uses? */
bool scenario_has_own_servers(const struct scenario *scenario);

/* Is the scenario a part of `run all` and of the matrix?  Measurements, and scenarios on a topology
 * beside the core of a lab, are not. */
bool scenario_is_in_all(const struct scenario *scenario);

const char *scenario_outcome_name(enum scenario_outcome outcome, bool is_chinese);
const char *scenario_sign_name(int number, bool is_chinese);
/* The English names of a set of signs, as a JSON array that the caller owns. */
json_t *scenario_signs_json(unsigned signs);
const char *scenario_sale_name(enum sale_answer sale, bool is_chinese);

#endif /* LOADTEST_SCENARIO_RESULT_H */
