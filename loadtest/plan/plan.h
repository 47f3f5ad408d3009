/* SPDX-License-Identifier: MIT */
/* plan.h -- computes the number of servers that a sale needs from measured rates.
 *
 * Each part has a demand per second, and a rate that one instance can take.  The number of
 * instances is so large that none is busy for more than `utilisation` of the time.  These
 * functions only compute.
 *
 * Threads     Any.
 */
#ifndef LOADTEST_PLAN_PLAN_H
#define LOADTEST_PLAN_PLAN_H

#include <stdbool.h>
#include <stdint.h>

/* The parts of a sale: id, name, and what one of them is. */
#define PLAN_PARTS(X)                                                                  \
    X(LANE, "lane", "the row of the hottest voucher, in one database")                 \
    X(PARTITION, "partition", "a PostgreSQL that has a part of the vouchers")          \
    X(REDIS, "redis", "a Redis that keeps a part of the users' locks")                 \
    X(REPLICA, "replica", "a process of the service")

enum plan_part {
#define X(id, name, text) PLAN_##id,
    PLAN_PARTS(X)
#undef X
    PLAN_PART_COUNT
};

/* What was measured, per second. */
struct plan_rates {
    double orders;  /* that one database stores of one voucher, and one process accepts */
    double refused; /* that one process answers "sold out" */
    double locks;   /* taken and released at one Redis */
};

struct plan_sale {
    double buyers;
    double tries; /* requests of each buyer */
    double window_s;
    double peak;  /* the busiest second has so many times the average */
    double vouchers;
    double stock; /* of each voucher */
    double hot;   /* the share of all requests that is for the hottest voucher, 0 to 1 */
    double utilisation; /* at most, above 0 and below 1 */
    double outage_s;    /* for which nothing is answered; 0: none */
};

struct plan_need {
    double demand;      /* per second, of all of that part together */
    double rate;        /* per second, of one */
    double busy_of_one; /* the share of time for which one would be busy: demand / rate */
    int64_t count;      /* the number needed; always 1 for the lane */
    double utilisation; /* of each, with so many */
};

struct plan {
    double arrivals; /* requests per second */
    double orders;   /* rows per second */
    double refused;  /* arrivals that get no row, per second */
    double hot;      /* rows per second of the hottest voucher */
    struct plan_need needs[PLAN_PART_COUNT];
    enum plan_part first; /* the part that the demand keeps busiest if there is one of each */
    bool lane_is_enough;  /* the hottest voucher's row takes its orders at the utilisation */
    double lane_sells_s;  /* the least time in which one row sells the hottest voucher's stock */
    double returning;     /* requests of an outage that clients send again */
    double retry_spread_s; /* the time over which they must come, so that no part is overloaded */
};

/* Compute.  All rates and numbers are above 0, but outage_s. */
void plan_compute(const struct plan_sale *sale, const struct plan_rates *rates,
                  struct plan *out);

const char *plan_part_name(enum plan_part part);
const char *plan_part_text(enum plan_part part);

/* A measured sale over several partitions of one machine. */
struct plan_point {
    int64_t partitions, replicas;
    int64_t vouchers, connections; /* sold at once, and clients of all replicas together */
    double orders;       /* per second, accepted */
    double cpu_us;       /* of processors for one order: service, PostgreSQL, Redis and load */
    double own_cores;    /* processors that the sale used */
    double idle_cores;   /* processors that nobody used meanwhile */
    double others_cores; /* processors that other programs used meanwhile */
};

/* Of a list of points, from which the others are predicted. */
enum plan_learned {
    PLAN_POINT_ONE,            /* one partition, one replica           */
    PLAN_POINT_MORE_VOUCHERS,  /* the same, in smaller transactions    */
    PLAN_POINT_MORE_REPLICAS,  /* one partition, and several replicas  */
    PLAN_POINT_MORE_PARTITIONS, /* several partitions, and one replica */
    PLAN_POINTS_LEARNED
};

/* The costs of a sale on one machine whose processors load, service, Redis and PostgreSQL share. */
struct plan_costs {
    double order_us;       /* of processors for an order */
    double transaction_us; /* of processors for a transaction, whatever its orders */
    double replica_us;     /* more for an order, for each replica beyond the first */
    double spread_us;      /* more for an order where there are several partitions */
    double cores;          /* that the sale can have */
    double orders;         /* per second, at one partition */
};

/* Transactions for each order.  A voucher has a lane in each replica, and an order waits in its
 * lane for the next transaction, so each lane has connections / (vouchers * replicas) orders:
 *
 *     min(1, vouchers * replicas / connections)                                            */
double plan_transactions(const struct plan_point *point);

/* Can costs be learned from these, of which there are PLAN_POINTS_LEARNED? */
bool plan_can_learn(const struct plan_point *points);

/* Learn one cost from each of these points: by how much an order costs more there than the costs
 * of the points before predict.  A point with cheaper orders, which is noise, gives a cost of 0. */
void plan_learn(const struct plan_point *points, struct plan_costs *out);

/* Microseconds of processors for an order at a point of which only the numbers are known:
 *
 *     order + transactions * transaction + (replicas - 1) * replica + (several
 *         partitions) * spread */
double plan_predict_cpu_us(const struct plan_costs *costs, const struct plan_point *at);

/* Orders per second there.  More partitions take more only as far as processors allow:
 *
 *     min(partitions * orders, cores * 10^6 / cpu_us)                                      */
double plan_predict(const struct plan_costs *costs, const struct plan_point *at);

#endif /* LOADTEST_PLAN_PLAN_H */
