/* SPDX-License-Identifier: MIT */
/* reference_service.c -- the pages of docs/reference about the service's HTTP side, and the
 * cells of all pages. */
#include <string.h>

#include "app/metrics_list.h"
#include "app/outcome.h"
#include "app/routes.h"
#include "tools/reference.h"

/* A cell of a table: no bar and no line's end may stand in it. */
void reference_cell(FILE *out, const char *text)
{
    fputs("| ", out);
    for (; text != NULL && *text != '\0'; text++) {
        if (*text == '|')
            fputs("\\|", out);
        else
            fputc(*text == '\n' ? ' ' : *text, out);
    }
    fputc(' ', out);
}

void reference_code_cell(FILE *out, const char *text)
{
    if (text == NULL || *text == '\0') {
        fputs("| ", out);
        return;
    }
    fputs("| `", out);
    for (; *text != '\0'; text++) /* a bar in code needs a backslash, too */
        fprintf(out, "%s%c", *text == '|' ? "\\" : "", *text);
    fputs("` ", out);
}

void reference_end_row(FILE *out)
{
    fputs("|\n", out);
}

/* The answers of the routes, which the handlers write: app/api_*.c, app/answer.c, and
 * app/voucher_json.c for the fields of a voucher. */
static void print_answers(FILE *out)
{
    fputs(
        "\n## Answers\n\n"
        "A request has its token in the header `Authorization: Bearer TOKEN`; the orders "
        "listener also accepts\n`authorization: TOKEN`. A token of another role gets 403, and so "
        "does a foreign `Host` or `Origin` on the admin\nlistener. Each answer has the header "
        "`X-Request-Id`: the "
        "`Idempotency-Key` of the request, or a new id.\n\n"
        "Only an order is placed once for all requests with its `Idempotency-Key`. At the two "
        "routes that create a voucher\nthe header has no such effect: two equal requests make two "
        "vouchers. If the answer of such a request was lost, look\nfor the voucher with GET "
        "`/api/v1/vouchers`, whose first page has the newest vouchers, before you repeat the "
        "request.\n\n"
        "| path | status | body of a success |\n|---|---|---|\n"
        "| POST `/api/v1/vouchers/{id}/orders` | 201, `Location` | "
        "`{\"id\": \"7\", \"voucherId\": \"1\", \"userId\": \"3\"}` |\n"
        "| the same with `--order-path=stream` | 202, `Location` | "
        "`{\"requestId\": \"...\", \"outcome\": \"queued\", \"id\": \"7\", "
        "\"voucherId\": \"1\"}` |\n"
        "| GET `/api/v1/orders/{id}` | 200 | the same as for the new order; 404 also for an "
        "order of another user |\n"
        "| GET `/api/v1/requests/{word}` | 200 | the same as for a queued order. `word` is the "
        "id of the request; `outcome` is `accepted`, `queued`, `lost`, `none` or a refusal; "
        "`?voucher=ID` asks "
        "only the database of this voucher |\n"
        "| POST `/api/v1/vouchers` | 201, `Location` | `{\"id\": \"1\"}` |\n"
        "| GET `/api/v1/vouchers` | 200 | an array of vouchers, the highest id first. "
        "`?shop=ID&limit=20&after=ID` chooses a shop and a page; the header `Link` has the next "
        "page |\n"
        "| GET `/api/v1/vouchers/{id}` | 200 | a voucher |\n"
        "| POST `/voucher-order/seckill/{id}` | 200 | `{\"success\": true, \"data\": 7}`: the "
        "number of the order |\n"
        "| POST `/voucher/seckill` | 200 | `{\"success\": true, \"data\": 1}`: the id of the "
        "voucher |\n"
        "| GET `/voucher/list/{id}` | 200 | `{\"success\": true, \"data\": [...]}`: the vouchers "
        "of the shop with this id |\n\n"
        "A refusal on `/api/v1` and on the admin listener is `application/problem+json` with "
        "`title`, `status`, `outcome`,\n`requestId`, and often `detail`, a sentence. A refusal of "
        "the course face is `{\"success\": false, \"errorMsg\": \"...\"}`;\na 401 of the course "
        "face has no body.\n",
        out);
}

static void print_voucher(FILE *out)
{
    fputs(
        "\n## A voucher\n\n"
        "| field | when it is created | value |\n|---|---|---|\n"
        "| `title` | required | 1 to 255 characters |\n"
        "| `payValue`, `actualValue` | required | the price and the value of the voucher, in "
        "cents, 1 to 1000000000 |\n"
        "| `stock` | required | 0 to 100000000 |\n"
        "| `beginTime`, `endTime` | required | a time such as `2026-01-31T18:00:00Z` or "
        "`2026-01-31T18:00:00+08:00`; a time without a zone, such as `2026-01-31T18:00:00`, is in "
        "UTC. The time may have a fraction of a second, and is in the years 1900 to 9999 in UTC |\n"
        "| `subTitle`, `rules` | optional | at most 255 and 1024 characters |\n"
        "| `shopId`, `type` | optional, 1 by default | a number from 1; 0 or 1 |\n"
        "| `id`, `status` | not allowed | the id, a text on `/api/v1` and a number on the course "
        "face; 1 on sale, 2 off sale, 3 expired |\n\n"
        "The service sells a voucher from `beginTime` to `endTime` while its `status` is 1. An "
        "order for a voucher with another\n`status` gets 410 and the outcome `ended`, and the "
        "lists have only vouchers with the `status` 1. The service reads the\n`status` and both "
        "times from PostgreSQL again within 2 s, so a change counts for each order that comes "
        "2 s later.\n[Operate the service](../how-to/operate-the-service.md#stop-a-sale) has the "
        "statement that stops a sale.\n",
        out);
}

static void print_fault_points(FILE *out)
{
    fputs(
        "\n## Fault points\n\n"
        "`POST /faults/arm?point=POINT&action=ACTION&key=LOCK` arms a "
        "[fault point](faults.md#points-in-a-process). ACTION is `hold`,\n`stop`, `kill`, `fail` "
        "or `cut`; without `key` the point catches a thread under any lock.\n"
        "`POST /faults/release?point=POINT` lets a held thread continue, and disarms the point.\n",
        out);
}

void reference_routes(FILE *out)
{
    static const char *const needs[] = {
        [NEED_NOTHING] = "nothing",
        [NEED_BUYER] = "a buyer's token",
        [NEED_OPERATOR] = "an operator's token",
        [NEED_ADMIN] = "the admin token",
    };
    const struct route *r;

    fputs(
        "# Routes\n\n"
        "The service has two listeners: `orders` is the listener of `--listen`, and `admin` is "
        "the listener of\n`--admin-listen`. Each path with GET also answers HEAD. The header "
        "`X-Outcome` of each answer names its\n[outcome](outcomes.md).\n\n"
        "A request to any route may have the header `traceparent` of W3C's Trace Context. The "
        "answer then has\n`traceresponse` with the same trace and the span of the service: "
        "[follow a request through the logs]"
        "(../how-to/operate-the-service.md#follow-a-request-through-the-logs).\n\n"
        "The table of the routes shows which have a body. `--body-limit` limits its size. The "
        "service checks the head of a\nrequest before it reads the body, and refuses it by the "
        "first matching row:\n\n"
        "| the request | status | outcome | the connection |\n|---|---|---|---|\n"
        "| a chunked body, at any route | 400 | `bad-request` | is closed |\n"
        "| on the admin listener, without the token that the route needs | 401 | "
        "`unauthorized` | is closed if there is a body |\n"
        "| a `Content-Length` above `--body-limit`, at any route | 413 | `too-large` | is "
        "closed; the body is not read |\n"
        "| a body at a route without one | 400 | `bad-request` | is closed |\n"
        "| no `Content-Length` at a route with a body | 411 | `bad-request` | stays open |\n"

        "| on the orders listener, without the token that the route needs | 401 | "
        "`unauthorized` | is closed if there is a body |\n\n"
        "With `Expect: 100-continue` the client gets such an answer before it sends the body.\n\n"
        "| listener | method | path | needs | body | only |\n|---|---|---|---|---|---|\n",
        out);
    for (size_t i = 0; (r = route_at(i)) != NULL; i++) {
        reference_cell(out, r->listener == LISTENER_ORDERS ? "orders" : "admin");
        reference_cell(out, r->method);
        reference_code_cell(out, r->path);
        reference_cell(out, needs[r->needs]);
        reference_cell(out, r->flags & ROUTE_BODY ? "JSON" : "");
        reference_cell(out, r->flags & ROUTE_FAULT ? "with `--allow-faults`" : "");
        reference_end_row(out);
    }
    print_answers(out);
    print_voucher(out);
    print_fault_points(out);
}

void reference_outcomes(FILE *out)
{
    fputs(
        "# Outcomes\n\n"
        "An outcome says how a request ended. Its name is in the header `X-Outcome`, in logs and "
        "in metrics. The first\nstatus is the status on `/api/v1`, the second the status on the "
        "course face, where a refusal for business reasons is\n200 with `\"success\": false` and "
        "the message.\n\n"
        "| outcome | `/api/v1` | course face | title | message | comes with Retry-After |\n"
        "|---|---|---|---|---|---|\n",
        out);
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        const struct outcome_info *info = outcome_info((enum outcome)i);

        reference_code_cell(out, info->name);
        fprintf(out, "| %d | %d ", info->status, info->course_status);
        reference_cell(out, info->title);
        reference_cell(out, info->course_message);
        reference_cell(out, outcome_is_passing((enum outcome)i) ? "yes" : "");
        reference_end_row(out);
    }
}

void reference_outcomes_in_lua(FILE *out)
{
    fputs("-- SPDX-License-Identifier: MIT\n"
          "-- outcomes.lua -- what X-Outcome can say; written by `make docs` from\n"
          "-- app/outcome.def.\n"
          "return {\n",
          out);
    for (int i = 0; i < OUTCOME_COUNT; i++)
        fprintf(out, "    [\"%s\"] = true,\n", outcome_info((enum outcome)i)->name);
    fputs("}\n", out);
}

/* The names of the labels of one metric. */
static void label_cell(FILE *out, const struct metrics_entry *entry)
{
    fputs("|", out);
    for (int l = 0; l < METRICS_LABELS_MAX; l++)
        if (entry->labels[l] != METRICS_NO_LABEL)
            fprintf(out, " `%s`", metrics_label_name(entry->labels[l]));
    fputc(' ', out);
}

/* Files or directories, each as code. */
static void place_cell(FILE *out, const char *places)
{
    fputs("| `", out);
    for (; *places != '\0'; places++) {
        if (strncmp(places, ", ", 2) == 0) {
            fputs("` `", out);
            places++;
        } else {
            fputc(*places, out);
        }
    }
    fputs("` ", out);
}

void reference_metrics(FILE *out)
{
    const struct metrics_entry *entry;

    fputs("# Metrics\n\n"
          "`GET /metrics` on the admin listener, with the admin token. A metric of a histogram "
          "has the endings `_bucket`,\n`_sum` and `_count`. "
          "[Add a metric](../how-to/add-a-metric.md) says how to add one.\n\n"
          "| metric | type | unit | labels | what it counts | counted in |\n"
          "|---|---|---|---|---|---|\n",
          out);
    for (size_t i = 0; (entry = metrics_at(i)) != NULL; i++) {
        reference_code_cell(out, entry->name);
        reference_cell(out, metrics_type_name(entry->type));
        reference_cell(out, entry->unit);
        label_cell(out, entry);
        reference_cell(out, entry->help);
        place_cell(out, entry->counted_in);
        reference_end_row(out);
    }
}
