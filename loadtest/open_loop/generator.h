/* SPDX-License-Identifier: MIT */
/* generator.h -- HTTP requests at a fixed rate, whatever the answers do (an open loop).
 *
 * Request n is due n / rate seconds after the step began.  The request is sent then on a
 * connection that is free, or as soon as one becomes free; its latency is measured from when it
 * was due. A client that waits for each answer before it sends the next request (a closed loop,
 * as wrk is) sends less while the service stalls, and so does not see most of the stall; Gil Tene
 * named that "coordinated omission".
 *
 * Nothing is sent twice.  A request whose connection breaks before
 * the answer counts as unanswered.
 *
 * Threads     One runs all of it.
 */
#ifndef LOADTEST_OPEN_LOOP_GENERATOR_H
#define LOADTEST_OPEN_LOOP_GENERATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loadtest/open_loop/step.h"
#include "loadtest/proxy/target.h"

/* ---- an HTTP/1.1 answer, taken from a connection's bytes as they come ----
 *
 * The reader takes only the form that the service sends: a status line, header fields, and a body
 * of Content-Length bytes.  After any other form the connection cannot be used any more. */

enum { HTTP_ANSWER_MAX = 8192, HTTP_ANSWER_OUTCOME_MAX = 32 };

struct received_answer {
    int status;
    char outcome[HTTP_ANSWER_OUTCOME_MAX]; /* X-Outcome; "" if there is none or it is too long */
    const char *body;                      /* into the bytes; not terminated                  */
    size_t body_size;
    size_t size; /* of all of it                                                       */
    bool closes; /* the server closes the connection behind it                         */
};

enum http_answer_state { HTTP_ANSWER_WHOLE, HTTP_ANSWER_PART, HTTP_ANSWER_NONSENSE };

/* Look at the `size` bytes that came so far.  WHOLE: *out is filled, and points into
 * `bytes`.  PART: more has to come.  NONSENSE: this is no such answer, or one longer than
 * HTTP_ANSWER_MAX. */
enum http_answer_state http_answer_read(const char *bytes, size_t size,
                                        struct received_answer *out);

/* ---- the generator ---- */

enum {
    GENERATOR_CONNECTIONS_MAX = 4096,
    GENERATOR_REQUEST_MAX = 1024,
    GENERATOR_TARGETS_MAX = 16,
};

/* The requests and the reader of their answers.  `n` counts from 0 over all steps. */
struct generator_client {
    void *arg;
    /* Write request n for this target: the bytes written, at most `size`. */
    size_t (*write_request)(void *arg, int64_t n, int target, char *out, size_t size);
    /* The answer to request n came; `answer` is valid during the call. */
    enum answer_kind (*take_answer)(void *arg, int64_t n, int target,
                                    const struct received_answer *answer);
    /* Request n was sent, and no answer will come. */
    void (*take_silence)(void *arg, int64_t n, int target);
    /* Called each time that the generator has waited.  False: send no more, and give up what
     * has no answer yet. */
    bool (*tick)(void *arg, int64_t since_begin_ns);
};

struct generator_plan {
    const int *ports; /* of the targets, on 127.0.0.1                                    */
    int targets;      /* 1 to GENERATOR_TARGETS_MAX                                      */
    int connections;  /* at most, all targets together; at least one each                */
    const struct generator_client *client;
    const struct proxy_target *address; /* of the only target; NULL: 127.0.0.1 and the ports */
};

struct generator;

/* Connect to the targets.  NULL: errno says why; `plan` and what it points to must outlive
 * the generator. */
struct generator *generator_open(const struct generator_plan *plan);

/* Close the connections.  NULL is fine. */
void generator_close(struct generator *generator);

/* Send `rate` requests a second for `duration_ms`, and wait for the answers.  A request
 * without an answer `drain_ms` after the last request was due is given up; its connection is
 * made anew.  The run ends early if the program is interrupted.  False: errno says
 * why the generator could not go on. */
bool generator_run(struct generator *generator, int64_t rate, int64_t duration_ms,
                   int64_t drain_ms, struct step_result *out);

/* The same, but the rate rises evenly from 0 to `rate` within `duration_ms`: request n is due when
 * n requests fit below the line, so half as many are sent. */
bool generator_ramp(struct generator *generator, int64_t rate, int64_t duration_ms,
                    int64_t drain_ms, struct step_result *out);

#endif /* LOADTEST_OPEN_LOOP_GENERATOR_H */
