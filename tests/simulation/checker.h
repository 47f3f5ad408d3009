/* SPDX-License-Identifier: MIT */
/* checker.h -- the second judge of a seed: the rules of `seckill check`, on the records that the
 * seed left, beside the verdict of the oracles.
 *
 *   overlap          the checker finds `exclusion` broken, or `kept`, or cannot tell: `kept` if the
 *                    earlier owner abandoned the lock and heard of its loss in that moment
 *   fence            the checker finds the property broken too, or cannot tell
 *   fine, no overlap must come   the checker finds neither broken; in calm, no property at all
 *   fine, an overlap may come    not compared: the checker sees more there, such as a promise
 *                                that its holder had given up
 *
 * A break that a recorded release by force explains is none of the lock's. */
#ifndef SIMULATION_CHECKER_H
#define SIMULATION_CHECKER_H

#include <stdbool.h>
#include <stddef.h>

/* What the oracles say. */
struct checker_claim {
    bool is_fine, is_overlap, is_fence;
    bool is_sound; /* no overlap must come of the variant in this class */
    bool is_calm;  /* no fault was planned                              */
};

/* Does the checker agree with the claim about the records in `dir`?  False: `why` says where
 * they differ, or that there are no records. */
bool checker_agrees(const char *dir, const struct checker_claim *claim, char *why,
                    size_t why_size);

#endif /* SIMULATION_CHECKER_H */
