/* SPDX-License-Identifier: MIT */
/* redis_shapes.c -- the shapes of the answers to the scripts of locks and
 * primitives. */
#include "lock/stores/redis_shapes.h"

/* The first fence of the first epoch: see lua/fenced_acquire.lua. */
#define EPOCH (INT64_C(1) << 32)

/* The largest answer of lua/permits_acquire.lua. */
#define PERMIT_MS_MOST INT64_C(922337203685477)

/* Negative numbers with a special meaning. */
#define NO_END -1   /* held without an end */
#define NO_LEVELS (1u << 3) /* -3: the levels below are not held, as a set of -n */
#define NO_EPOCH (1u << 4)  /* -4: an epoch is needed */

/* No other integers than the special negative ones. */
#define NO_INTEGER .least = 0, .most = -1
#define NUMBER(from, to)                                                               \
    .bulk = REDIS_BULK_IS_NUMBER, .number_least = (from), .number_most = (to)

redis_shape_name REDIS_SHAPE_ACQUIRE = {{.what = "an acquire",
                                         .kinds = REDIS_MAY_BE_NIL | REDIS_MAY_BE_INTEGER,
                                         .least = NO_END,
                                         .most = REDIS_MS_MOST}};
redis_shape_name REDIS_SHAPE_ACQUIRE_MORE = {{.what = "an acquire",
                                              .kinds = REDIS_MAY_BE_NIL | REDIS_MAY_BE_INTEGER,
                                              NO_INTEGER,
                                              .negatives = NO_LEVELS}};
redis_shape_name REDIS_SHAPE_READ_MORE = {{.what = "an acquire",
                                           .kinds = REDIS_MAY_BE_NIL | REDIS_MAY_BE_INTEGER,
                                           .least = NO_END,
                                           .most = REDIS_MS_MOST,
                                           .negatives = NO_LEVELS}};
redis_shape_name REDIS_SHAPE_PERMIT = {{.what = "an acquire",
                                        .kinds = REDIS_MAY_BE_NIL | REDIS_MAY_BE_INTEGER,
                                        .least = NO_END,
                                        .most = PERMIT_MS_MOST}};
redis_shape_name REDIS_SHAPE_FENCE = {{.what = "an acquire",
                                       .kinds = REDIS_MAY_BE_BULK | REDIS_MAY_BE_INTEGER,
                                       .least = NO_END,
                                       .most = REDIS_MS_MOST,
                                       NUMBER(1, INT64_MAX)}};
redis_shape_name REDIS_SHAPE_FENCE_MORE = {{.what = "an acquire",
                                            .kinds = REDIS_MAY_BE_BULK | REDIS_MAY_BE_INTEGER,
                                            NO_INTEGER,
                                            .negatives = NO_LEVELS,
                                            NUMBER(1, INT64_MAX)}};
redis_shape_name REDIS_SHAPE_EPOCH = {{.what = "an acquire",
                                       .kinds = REDIS_MAY_BE_BULK | REDIS_MAY_BE_INTEGER,
                                       .least = NO_END,
                                       .most = REDIS_MS_MOST,
                                       .negatives = NO_EPOCH,
                                       NUMBER(EPOCH + 1, INT64_MAX)}};
redis_shape_name REDIS_SHAPE_EPOCH_MORE = {{.what = "an acquire",
                                            .kinds = REDIS_MAY_BE_BULK | REDIS_MAY_BE_INTEGER,
                                            NO_INTEGER,
                                            .negatives = NO_LEVELS | NO_EPOCH,
                                            NUMBER(1, INT64_MAX)}};
redis_shape_name REDIS_SHAPE_RELEASE = {{.what = "a release",
                                         .kinds = REDIS_MAY_BE_NIL | REDIS_MAY_BE_INTEGER,
                                         .least = 1,
                                         .most = 1}};
redis_shape_name REDIS_SHAPE_RELEASE_TOLD = {{.what = "a release",
                                              .kinds = REDIS_MAY_BE_NIL | REDIS_MAY_BE_INTEGER,
                                              .least = 1,
                                              .most = INT32_MAX}};
redis_shape_name REDIS_SHAPE_RELEASE_MORE = {{.what = "a release",
                                              .kinds = REDIS_MAY_BE_NIL | REDIS_MAY_BE_INTEGER,
                                              .least = 0,
                                              .most = 0}};
redis_shape_name REDIS_SHAPE_READ_RELEASE = {{.what = "a release",
                                              .kinds = REDIS_MAY_BE_NIL | REDIS_MAY_BE_INTEGER,
                                              .least = 0,
                                              .most = 1}};
redis_shape_name REDIS_SHAPE_INSPECT = {{.what = "an inspect",
                                         .kinds = REDIS_MAY_BE_BULK,
                                         .bulk = REDIS_BULK_IS_ANYTHING}};
redis_shape_name REDIS_SHAPE_INSPECT_OR_NIL = {{.what = "an inspect",
                                                .kinds = REDIS_MAY_BE_NIL | REDIS_MAY_BE_BULK,
                                                .bulk = REDIS_BULK_IS_ANYTHING}};
