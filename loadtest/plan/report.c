/* SPDX-License-Identifier: MIT */
/* report.c -- prints a plan: inputs, formulas with their numbers, results. */
#include "loadtest/plan/report.h"

#include <inttypes.h>
#include <math.h>
#include <unistd.h>

static void print_inputs(FILE *out, const struct plan_report *r)
{
    const struct plan_sale *s = &r->sale;
    const struct plan_rates *rates = &r->read.rates;

    fprintf(out, "The sale, as the flags say\n\n");
    fprintf(out, "  B = %-10.0f buyers, k = %.0f requests of each, in T = %.3g s\n", s->buyers,
            s->tries, s->window_s);
    fprintf(out, "  p = %-10.0f the busiest second has so many times the average\n", s->peak);
    fprintf(out, "  V = %-10.0f vouchers with a stock of S = %.0f each\n", s->vouchers, s->stock);
    fprintf(out, "  h = %-10.4g the part of all requests that is for the hottest voucher\n",
            s->hot);
    fprintf(out, "  u = %-10.2g the utilisation of each part, at most\n\n", s->utilisation);
    fprintf(out, "The rates of one, measured: %s\n\n", r->read.measured);
    fprintf(out, "  X = %-8.0f/s  %s\n", rates->orders, r->read.orders_origin);
    fprintf(out, "  F = %-8.0f/s  %s\n", rates->refused, r->read.refused_origin);
    fprintf(out, "  R = %-8.0f/s  %s\n\n", rates->locks, r->read.locks_origin);
}

static void print_demand(FILE *out, const struct plan_report *r)
{
    const struct plan_sale *s = &r->sale;
    const struct plan *p = &r->plan;

    fprintf(out, "The demand in the busiest second\n\n");
    fprintf(out, "  a = B * k * p / T       = %.0f * %.0f * %.0f / %.3g = %.0f requests/s\n",
            s->buyers, s->tries, s->peak, s->window_s, p->arrivals);
    fprintf(out, "  o = min(B, V * S) * p / T = min(%.0f, %.0f) * %.0f / %.3g = %.0f orders/s\n",
            s->buyers, s->vouchers * s->stock, s->peak, s->window_s, p->orders);
    fprintf(out, "  f = a - o               = %.0f refused/s\n", p->refused);
    fprintf(out, "  o(hot) = min(h * B, S) * p / T = min(%.0f, %.0f) * %.0f / %.3g = %.0f "
                 "orders/s of one voucher\n\n",
            s->hot * s->buyers, s->stock, s->peak, s->window_s, p->hot);
}

static void print_needs(FILE *out, const struct plan_report *r)
{
    const struct plan_need *n = r->plan.needs;
    double u = r->sale.utilisation;

    fprintf(out, "What it needs\n\n");
    fprintf(out, "  partitions = ceil(o / (X * u)) = ceil(%.0f / (%.0f * %.2g)) = %" PRId64
                 ", each busy for %.2f\n",
            n[PLAN_PARTITION].demand, n[PLAN_PARTITION].rate, u, n[PLAN_PARTITION].count,
            n[PLAN_PARTITION].utilisation);
    fprintf(out, "  Redis      = ceil(a / (R * u)) = ceil(%.0f / (%.0f * %.2g)) = %" PRId64
                 ", each busy for %.2f\n",
            n[PLAN_REDIS].demand, n[PLAN_REDIS].rate, u, n[PLAN_REDIS].count,
            n[PLAN_REDIS].utilisation);
    fprintf(out, "  replicas   = ceil((o / X + f / F) / u) = ceil(%.3g / %.2g) = %" PRId64
                 ", each busy for %.2f; and one to spare\n",
            n[PLAN_REPLICA].busy_of_one, u, n[PLAN_REPLICA].count, n[PLAN_REPLICA].utilisation);
    fprintf(out, "  connections to each partition = (replicas + 1) * %" PRId64 " = %" PRId64
                 ", of its max_connections\n\n",
            r->database_connections, (n[PLAN_REPLICA].count + 1) * r->database_connections);
}

static void print_lane(FILE *out, const struct plan_report *r)
{
    const struct plan_need *lane = &r->plan.needs[PLAN_LANE];

    fprintf(out, "The hottest voucher is one row, in one database: o(hot) / X = %.0f / %.0f = "
                 "%.2f.\n",
            lane->demand, lane->rate, lane->utilisation);
    if (r->plan.lane_is_enough)
        fprintf(out, "One row takes that.");
    else
        fprintf(out, "That is above u = %.2g, and no number of partitions, Redis servers or "
                     "replicas changes it:\nsell the voucher as several vouchers, or let "
                     "buyers wait.",
                r->sale.utilisation);
    fprintf(out, "  Its stock is sold in %.1f s at the least.\n\n", r->plan.lane_sells_s);
    fprintf(out, "First to saturate: the %s (%s), which the demand would keep busy for %.2f "
                 "if there were one.\n",
            plan_part_name(r->plan.first), plan_part_text(r->plan.first),
            r->plan.needs[r->plan.first].busy_of_one);
}

static void print_outage(FILE *out, const struct plan_report *r)
{
    if (r->sale.outage_s <= 0)
        return;
    fprintf(out, "\nAn outage of d = %.3g s keeps a * d = %.0f requests for later.  Spread over "
                 "J seconds they add\na * d / J, and the parts above take a / u: so J = d * u / "
                 "(1 - u) = %.1f s at the least.\nThe service answers Retry-After: 1; the "
                 "clients have to spread their tries.\n",
            r->sale.outage_s, r->plan.returning, r->plan.retry_spread_s);
}

void plan_print(FILE *out, const struct plan_report *report)
{
    print_inputs(out, report);
    print_demand(out, report);
    print_needs(out, report);
    print_lane(out, report);
    print_outage(out, report);
    fprintf(out, "\nThe locks are counted for --lock-scope=user, where each request takes one.  "
                 "With voucher a whole\nbatch takes one, and a voucher's lock is on one server.  "
                 "All rates are of one machine on which load,\nservice, Redis and PostgreSQL "
                 "shared the processors: a server that has a machine for itself takes\nmore.\n");
}

static json_t *need_json(const struct plan_need *need)
{
    return json_pack("{s:f, s:f, s:f, s:I, s:f}", "demand_per_s", need->demand, "rate_per_s",
                     need->rate, "busy_of_one", need->busy_of_one, "count",
                     (json_int_t)need->count, "utilisation", need->utilisation);
}

json_t *plan_to_json(const struct plan_report *r)
{
    const struct plan *p = &r->plan;
    json_t *needs = json_object();

    for (int part = 0; part < PLAN_PART_COUNT; part++)
        json_object_set_new(needs, plan_part_name((enum plan_part)part),
                            need_json(&p->needs[part]));
    return json_pack(
        "{s:{s:s, s:f, s:f, s:f}, s:f, s:f, s:f, s:f, s:o, s:s, s:b, s:f, s:f, s:f, s:I}", "rates",
        "measured", r->read.measured, "orders_per_s", r->read.rates.orders, "refused_per_s",
        r->read.rates.refused, "locks_per_s", r->read.rates.locks, "arrivals_per_s", p->arrivals,
        "orders_per_s", p->orders, "refused_per_s", p->refused, "hot_orders_per_s", p->hot, "needs",
        needs, "first_to_saturate", plan_part_name(p->first), "lane_is_enough",
        p->lane_is_enough, "lane_sells_s", p->lane_sells_s, "returning_requests", p->returning,
        "retry_spread_s", p->retry_spread_s, "connections_to_each_partition",
        (json_int_t)((p->needs[PLAN_REPLICA].count + 1) * r->database_connections));
}

static void print_point(FILE *out, const struct plan_costs *costs, const struct plan_point *p,
                        bool is_learned)
{
    double predicted = plan_predict(costs, p);

    fprintf(out, "%10" PRId64 " %8" PRId64 " %8" PRId64 " ", p->partitions, p->replicas,
            p->vouchers);
    if (is_learned)
        fprintf(out, "%11s %11.0f %6s ", "-", p->orders, "-");
    else
        fprintf(out, "%11.0f %11.0f %+5.0f%% ", predicted, p->orders,
                (predicted / p->orders - 1) * 100);
    fprintf(out, "%8.0f %8.0f %6.2f %6.2f\n", plan_predict_cpu_us(costs, p), p->cpu_us,
            p->idle_cores, p->others_cores);
}

static void print_model(FILE *out, const struct plan_costs *costs)
{
    fprintf(out,
            "\nThe first %d lines are what the others are predicted from, each one cost:\n\n"
            "  c    = %.0f us for an order + t * %.0f us for a transaction\n"
            "         + (replicas - 1) * %.0f us + %.0f us if there are several partitions\n"
            "  t    = min(1, vouchers * replicas / connections) transactions for each order\n"
            "  X(n) = min(n * %.0f, %.2f processors * 10^6 / c) orders/s at n partitions\n\n",
            PLAN_POINTS_LEARNED, costs->order_us, costs->transaction_us, costs->replica_us,
            costs->spread_us, costs->orders, costs->cores);
    fprintf(out,
            "All partitions, service, Redis and load share the %ld processors here, so more "
            "partitions add no\nmore than the idle processors allow: the second term of X(n).  "
            "Partitions with machines of their own\nreach the first term at the most.  A "
            "replica has lanes of its own, so its transactions have fewer\norders.  `others` "
            "are processors that other programs of the machine used meanwhile: above 0.2,\nrepeat "
            "the measurement on a quiet machine.  An error above 0 is a prediction that was too "
            "high.\n",
            sysconf(_SC_NPROCESSORS_ONLN));
}

void plan_print_points(FILE *out, const struct plan_point *points, int count)
{
    struct plan_costs costs;
    double worst = 0;

    plan_learn(points, &costs);
    fprintf(out, "%28s %11s %11s %6s %17s\n", "", "orders/s", "orders/s", "", "us for an order");
    fprintf(out, "%10s %8s %8s %11s %11s %6s %8s %8s %6s %6s\n", "partitions", "replicas",
            "vouchers", "predicted", "measured", "error", "predict.", "measured", "idle",
            "others");
    for (int i = 0; i < count; i++) {
        double error = fabs(plan_predict(&costs, &points[i]) / points[i].orders - 1);

        print_point(out, &costs, &points[i], i < PLAN_POINTS_LEARNED);
        worst = i >= PLAN_POINTS_LEARNED && error > worst ? error : worst;
    }
    fprintf(out, "\nThe largest error of the orders/s is %.0f %%.\n", worst * 100);
    print_model(out, &costs);
}
