/* SPDX-License-Identifier: MIT */
/* checker.h -- the second judge of a seed: applies the rules of `seckill check` to the seed's
 * records, and compares the result with the verdict of the oracles.
 *
 *   overlap          the checker finds `exclusion` broken, or `kept`, or cannot tell: `kept` if the
 *                    earlier owner abandoned the lock and heard of its loss in that moment
 *   fence            the checker finds the property broken too, or cannot tell
 *   fine, no overlap may occur   the checker finds neither broken; in calm, no property at all
 *   fine, an overlap may occur   not compared: the checker sees more violations, such as a
 *                                promise that its holder had given up
 *
 * A violation that a recorded release by force explains is no fault of the lock. */
#ifndef SIMULATION_CHECKER_H
#define SIMULATION_CHECKER_H

#include <stdbool.h>
#include <stddef.h>

/* The verdict of the oracles. */
struct checker_claim {
    bool is_fine, is_overlap, is_fence;
    bool is_sound; /* no overlap may occur for the variant in this class */
    bool is_calm;  /* no fault was planned                              */
};

/* Does the checker agree with the claim about the records in `dir`? If it returns false, `why` says
 * where they differ, or that there are no records. */
bool checker_agrees(const char *dir, const struct checker_claim *claim, char *why,
                    size_t why_size);

#endif /* SIMULATION_CHECKER_H */
