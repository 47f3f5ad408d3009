/* SPDX-License-Identifier: MIT */
/* plan.c -- the arithmetic of a plan. */
#include "loadtest/plan/plan.h"

#include <math.h>

static const struct {
    const char *name, *text;
} PARTS[] = {
#define X(id, name, text) {name, text},
    PLAN_PARTS(X)
#undef X
};

const char *plan_part_name(enum plan_part part)
{
    return PARTS[part].name;
}

const char *plan_part_text(enum plan_part part)
{
    return PARTS[part].text;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* As many as keep each below the utilisation.  A quotient that is whole but for rounding is
 * whole. */
static struct plan_need need_of(double demand, double rate, double utilisation)
{
    struct plan_need need = {.demand = demand, .rate = rate, .busy_of_one = demand / rate};
    double count = ceil(need.busy_of_one / utilisation - 1e-9);

    need.count = count < 1 ? 1 : (int64_t)count;
    need.utilisation = need.busy_of_one / (double)need.count;
    return need;
}

static struct plan_need lane_of(const struct plan *plan, const struct plan_rates *rates)
{
    struct plan_need need = need_of(plan->hot, rates->orders, 1);

    need.count = 1;
    need.utilisation = need.busy_of_one;
    return need;
}

/* Orders and refusals cost a replica differently: its rate is that of their mixture. */
static double mixed_rate(const struct plan *plan, const struct plan_rates *rates)
{
    return plan->arrivals / (plan->orders / rates->orders + plan->refused / rates->refused);
}

void plan_compute(const struct plan_sale *sale, const struct plan_rates *rates,
                  struct plan *out)
{
    double buyers_of_hot = sale->buyers * sale->hot;
    double rows = least(sale->buyers, sale->vouchers * sale->stock);
    double u = sale->utilisation;

    *out = (struct plan){
        .arrivals = sale->buyers * sale->tries * sale->peak / sale->window_s,
        .orders = rows * sale->peak / sale->window_s,
        .hot = least(buyers_of_hot, sale->stock) * sale->peak / sale->window_s,
    };
    out->refused = out->arrivals - out->orders;
    out->needs[PLAN_LANE] = lane_of(out, rates);
    out->needs[PLAN_PARTITION] = need_of(out->orders, rates->orders, u);
    out->needs[PLAN_REDIS] = need_of(out->arrivals, rates->locks, u);
    out->needs[PLAN_REPLICA] = need_of(out->arrivals, mixed_rate(out, rates), u);
    for (int part = 0; part < PLAN_PART_COUNT; part++)
        if (out->needs[part].busy_of_one > out->needs[out->first].busy_of_one)
            out->first = (enum plan_part)part;
    out->lane_is_enough = out->needs[PLAN_LANE].utilisation <= u;
    out->lane_sells_s = least(buyers_of_hot, sale->stock) / rates->orders;
    out->returning = out->arrivals * sale->outage_s;
    out->retry_spread_s = sale->outage_s * u / (1 - u);
}

double plan_transactions(const struct plan_point *point)
{
    return least(1, (double)(point->vouchers * point->replicas) / (double)point->connections);
}

bool plan_can_learn(const struct plan_point *points)
{
    const struct plan_point *one = &points[PLAN_POINT_ONE];
    const struct plan_point *vouchers = &points[PLAN_POINT_MORE_VOUCHERS];
    const struct plan_point *replicas = &points[PLAN_POINT_MORE_REPLICAS];
    const struct plan_point *partitions = &points[PLAN_POINT_MORE_PARTITIONS];

    return one->partitions == 1 && one->replicas == 1 && vouchers->partitions == 1 &&
           vouchers->replicas == 1 && plan_transactions(vouchers) != plan_transactions(one) &&
           replicas->partitions == 1 && replicas->replicas > 1 && partitions->partitions > 1 &&
           partitions->replicas == 1;
}

/* The microseconds by which an order at the point costs more than the known costs predict, divided
 * by `count`; at least 0. */
static double learn_from(const struct plan_costs *known, const struct plan_point *point,
                         double count)
{
    double more_us = (point->cpu_us - plan_predict_cpu_us(known, point)) / count;

    return more_us > 0 ? more_us : 0;
}

void plan_learn(const struct plan_point *points, struct plan_costs *out)
{
    const struct plan_point *one = &points[PLAN_POINT_ONE];
    const struct plan_point *vouchers = &points[PLAN_POINT_MORE_VOUCHERS];
    const struct plan_point *replicas = &points[PLAN_POINT_MORE_REPLICAS];

    *out = (struct plan_costs){.order_us = one->cpu_us,
                               .cores = one->own_cores + one->idle_cores,
                               .orders = one->orders};
    out->transaction_us =
        learn_from(out, vouchers, plan_transactions(vouchers) - plan_transactions(one));
    out->order_us -= out->transaction_us * plan_transactions(one);
    out->replica_us = learn_from(out, replicas, (double)(replicas->replicas - 1));
    out->spread_us = learn_from(out, &points[PLAN_POINT_MORE_PARTITIONS], 1);
}

double plan_predict_cpu_us(const struct plan_costs *costs, const struct plan_point *at)
{
    return costs->order_us + costs->transaction_us * plan_transactions(at) +
           costs->replica_us * (double)(at->replicas - 1) +
           (at->partitions > 1 ? costs->spread_us : 0);
}

double plan_predict(const struct plan_costs *costs, const struct plan_point *at)
{
    return least(costs->orders * (double)at->partitions,
                 costs->cores * 1e6 / plan_predict_cpu_us(costs, at));
}
