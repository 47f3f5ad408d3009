/* SPDX-License-Identifier: MIT */
/* premise.h -- checks whether the machine was as fast as a law presumes.
 *
 * A law that measures a quarter of a second proves nothing on a machine that stood still for as
 * long. So a law states what it presumes, by a clock and never by the answers of the lock. When a
 * premise did not hold, the law is not judged: everything that it opened is closed, and it begins
 * again with its times twice as long. After PREMISE_TRIES the law fails, because the machine was
 * never steady enough. Each new beginning is printed.
 *
 * A check that fails while its premise holds fails the law at once. */
#ifndef CONFORMANCE_PREMISE_H
#define CONFORMANCE_PREMISE_H

#include <stdbool.h>
#include <stdint.h>

enum { PREMISE_TRIES = 5 };

/* The factor by which the times of the law are longer than usual: 1, then 2, 4, 8, 16. */
extern int premise_stretch;
#define STRETCHED(ms) ((ms) * premise_stretch)

/* Run `law` until its premises hold to its end. `name` is printed with each new beginning;
 * `begin_anew` closes what the law opened. */
void premise_run(const char *name, void (*law)(const char *variant),
                 const char *variant, void (*begin_anew)(void));

/* If the premise did not hold, begin the law again; this call then does not return. Only the thread
 * of the law may call it. */
void premise_check(bool held, const char *what, const char *file, int line);
#define presume(premise) premise_check((premise), #premise, __FILE__, __LINE__)

/* Start a thread that sleeps for a moment again and again, and records the longest delay of a
 * wake-up since the last call of this function: other threads are delayed as much as this one. */
void premise_watch_pace(void);

/* Note the time of a request, whose wake-ups were delayed by an eighth of that each. */
void premise_note_request(int64_t took_ms);

/* The longest delay so far, including the sleep that goes on now. */
int64_t premise_latest_ms(void);

/* Was no thread kept from the processor for longer than a twentieth of `ms`? A request takes about
 * eight wake-ups: the thread that asks, the thread that writes, the server and the parts of the
 * server that it waits for, the thread that reads, and the way back. Other programs on the
 * processor delay each of these steps. */
#define is_steady(ms) (premise_latest_ms() <= (ms) / 20)

/* Join the thread. */
void premise_end_pace(void);

/* The check has to hold while the premise does. The premise is evaluated after the check: a premise
 * that holds after the check held during the check. */
#define assert_provided(premise, check)                                                \
    do {                                                                               \
        if (!(check)) {                                                                \
            premise_check((premise), #premise "; so this was not judged: " #check,     \
                          __FILE__, __LINE__);                                         \
            print_error("does not hold: %s\n", #check);                                \
            _fail(__FILE__, __LINE__);                                                 \
        }                                                                              \
    } while (0)

/* The same for as long as the lease is valid by its own clock. */
#define assert_while_valid(sys, lease, check)                                          \
    assert_provided(dlock_lease_valid((sys), (lease)), (check))

/* The answer of `call` has to be `want` while the premise holds. */
#define assert_status_provided(premise, want, call)                                    \
    do {                                                                               \
        dlock_status provided_ = (call);                                               \
        if (provided_ != DLOCK_##want)                                                 \
            premise_check((premise), #premise "; so this was not judged: " #call,      \
                          __FILE__, __LINE__);                                         \
        rig_check_status(DLOCK_##want, provided_, #call, __FILE__, __LINE__);          \
    } while (0)

/* A state that must last, provided that the premise holds. Its check is at most one request. */
#define assert_stays_provided(premise, state, for_ms)                                  \
    do {                                                                               \
        int64_t lasts_until_ms_ = rig_now_ms() + (for_ms);                             \
        do {                                                                           \
            int64_t asked_ms_ = rig_now_ms();                                          \
            bool holds_ = (state);                                                     \
            premise_note_request(rig_now_ms() - asked_ms_);                            \
            if (!holds_) {                                                             \
                premise_check((premise), #premise "; so this was not judged: " #state, \
                              __FILE__, __LINE__);                                     \
                print_error("does not hold: %s\n", #state);                            \
                _fail(__FILE__, __LINE__);                                             \
            }                                                                          \
            rig_pause_ms(10);                                                          \
        } while (rig_now_ms() < lasts_until_ms_);                                      \
    } while (0)

#endif /* CONFORMANCE_PREMISE_H */
