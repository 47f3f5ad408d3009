/* SPDX-License-Identifier: MIT */
/* premise.h -- the speed that a law presumes of the machine, and measures.
 *
 * A law that speaks of a quarter of a second says nothing of a machine that stood still
 * for as long.  So it says what it presumes, by a clock and never by what the lock
 * answered, and where that did not hold it is not judged: it begins anew, with
 * everything closed, and with its times twice as long.  After PREMISE_TRIES it fails: the
 * machine was never steady enough.  Each new beginning is printed.
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

/* Run `law` until its premises hold to its end.  `name` is for what is printed;
 * `begin_anew` closes what the law opened. */
void premise_run(const char *name, void (*law)(const char *variant),
                 const char *variant, void (*begin_anew)(void));

/* If it did not hold, the law begins anew, and this does not return.  By the thread of
 * the law only. */
void premise_check(bool held, const char *what, const char *file, int line);
#define presume(premise) premise_check((premise), #premise, __FILE__, __LINE__)

/* A thread that sleeps for a moment, again and again, and takes note of the longest time
 * by which it was woken too late since the last call of this: what it suffers, other
 * threads suffer too. */
void premise_watch_pace(void);

/* The longest time so far, the sleep that goes on included. */
int64_t premise_latest_ms(void);

/* Has no thread been kept from the processor for longer than a small part of `ms`?  A
 * request takes some eight wake-ups: the thread that asks, that which writes, the server
 * and what it waits for, that which reads, and back; and whoever shares the processor
 * makes each step longer too. */
#define is_steady(ms) (premise_latest_ms() <= (ms) / 20)

/* Join the thread. */
void premise_end_pace(void);

/* The check has to hold while the premise does.  The premise is looked at after the
 * check: if it held then, it did before. */
#define assert_provided(premise, check)                                                \
    do {                                                                               \
        if (!(check)) {                                                                \
            premise_check((premise), #premise "; so this was not judged: " #check,     \
                          __FILE__, __LINE__);                                         \
            print_error("does not hold: %s\n", #check);                                \
            _fail(__FILE__, __LINE__);                                                 \
        }                                                                              \
    } while (0)

/* While the lease, by its own clock, lasts. */
#define assert_while_valid(sys, lease, check)                                          \
    assert_provided(dlock_lease_valid((sys), (lease)), (check))

/* The answer of `call`, provided that the premise holds. */
#define assert_status_provided(premise, want, call)                                    \
    do {                                                                               \
        dlock_status provided_ = (call);                                               \
        if (provided_ != DLOCK_##want)                                                 \
            premise_check((premise), #premise "; so this was not judged: " #call,      \
                          __FILE__, __LINE__);                                         \
        rig_check_status(DLOCK_##want, provided_, #call, __FILE__, __LINE__);          \
    } while (0)

/* A state that must last, provided that the premise holds. */
#define assert_stays_provided(premise, state, for_ms)                                  \
    do {                                                                               \
        int64_t lasts_until_ms_ = rig_now_ms() + (for_ms);                             \
        do {                                                                           \
            assert_provided((premise), (state));                                       \
            rig_pause_ms(2);                                                           \
        } while (rig_now_ms() < lasts_until_ms_);                                      \
    } while (0)

#endif /* CONFORMANCE_PREMISE_H */
