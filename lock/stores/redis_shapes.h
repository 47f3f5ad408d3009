/* SPDX-License-Identifier: MIT */
/* redis_shapes.h -- the shapes of the answers to the scripts of locks and primitives:
 * see lua/, and base/redis/shape.h.
 *
 * Threads     Any. */
#ifndef DLOCK_REDIS_SHAPES_H
#define DLOCK_REDIS_SHAPES_H

#include "base/redis/shape.h"

extern redis_shape_name REDIS_SHAPE_ACQUIRE; /* of level 1: nil, or the holder's time */
extern redis_shape_name REDIS_SHAPE_ACQUIRE_MORE; /* of a level above: nil, or levels are missing */
extern redis_shape_name REDIS_SHAPE_READ_MORE; /* the same of a reader; a writer may exclude it */
extern redis_shape_name REDIS_SHAPE_PERMIT; /* nil, or the ms until the first permit ends */
extern redis_shape_name REDIS_SHAPE_FENCE; /* as ACQUIRE and ACQUIRE_MORE, with a fence for nil */
extern redis_shape_name REDIS_SHAPE_FENCE_MORE;
extern redis_shape_name REDIS_SHAPE_EPOCH; /* as those two, or an epoch is missing */
extern redis_shape_name REDIS_SHAPE_EPOCH_MORE;
extern redis_shape_name REDIS_SHAPE_RELEASE; /* of level 1: 1, or nil */
extern redis_shape_name REDIS_SHAPE_RELEASE_TOLD; /* the same, and 1 more per client told */
extern redis_shape_name REDIS_SHAPE_RELEASE_MORE; /* of a level above: 0, or nil */
extern redis_shape_name REDIS_SHAPE_READ_RELEASE; /* of a reader: 1 or 0, or nil */
extern redis_shape_name REDIS_SHAPE_INSPECT; /* a text */
extern redis_shape_name REDIS_SHAPE_INSPECT_OR_NIL;

#endif /* DLOCK_REDIS_SHAPES_H */
