/* SPDX-License-Identifier: MIT */
/* show.c -- the thread that runs the sale which is shown.  It carries out the wishes of browsers,
 * looks at the sale, and writes the state to the board. */
#include "loadtest/show/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/http/secret.h"
#include "base/text/duration.h"
#include "loadtest/kit/files.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/run_directory.h"
#include "loadtest/show/board.h"
#include "loadtest/show/lesson_progress.h"
#include "loadtest/show/lesson_wish.h"
#include "loadtest/show/server.h"
#include "loadtest/show/sight.h"
#include "lock/dlock.h"

enum { DOCUMENT_FORMAT = 1 };

struct document {
    const struct sight *sight;
    enum show_phase phase;
    const char *boot_id;
    int64_t seq, run_id, limit_ms;
    const struct lesson_progress *lesson;
};

static const char *phase_name(enum show_phase phase)
{
    static const char *const names[] = {"starting", "ready", "running", "ended", "failed"};

    return names[phase];
}

static json_int_t ms_since(int64_t ns)
{
    return (monotonic_ns() - ns) / 1000000;
}

/* The JSON of a number that may be unknown. */
static json_t *known(int64_t value, bool is_known)
{
    return is_known ? json_integer(value) : json_null();
}

static json_t *text_or_null(const char *text)
{
    return *text ? json_string(text) : json_null();
}

static json_t *run_json(const struct document *d)
{
    const struct show_sale *sale = d->sight->sale;
    char command[SHOW_COMMAND_MAX];
    int64_t end_ns = sale->is_loaded ? monotonic_ns() : sale->end_ns;
    int64_t elapsed_ms = sale->begin_ns ? (end_ns - sale->begin_ns) / 1000000 : 0;

    show_command_line(command, &sale->switches, d->limit_ms, d->lesson->number);
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:s, s:o, s:o}", "id", (json_int_t)d->run_id,
                     "voucher", (json_int_t)sale->voucher, "elapsed_ms", (json_int_t)elapsed_ms,
                     "limit_ms", (json_int_t)d->limit_ms, "made_ms", (json_int_t)sale->made_ms,
                     "command", command, "settings", show_switches_json(&sale->switches), "why",
                     text_or_null(sale->why));
}

static json_t *stock_json(const struct sight *sight)
{
    const struct tally *t = &sight->tally;

    if (!sight->has_tally)
        return json_null();
    return json_pack("{s:I, s:I, s:I}", "issued", (json_int_t)t->issued, "left",
                     (json_int_t)t->left, "sold", (json_int_t)t->orders);
}

/* A violation is final.  "Sound" is provisional until no request is on its way. */
static json_t *verdict_json(const struct document *d)
{
    const struct sight *sight = d->sight;
    const struct tally *t = &sight->tally;
    int64_t over = t->orders - t->issued, lost = t->left + t->orders - t->issued;
    int64_t in_flight = 0, refused = 0;
    bool is_broken, is_settled = d->phase == SHOW_ENDED && sight->is_settled;
    json_t *valid;

    if (!sight->has_tally)
        return json_null();
    for (int i = 0; i < sight->sale->service_count; i++)
        in_flight += sight->processes[i].in_flight, refused += sight->processes[i].refused;
    is_broken = sight->was_oversold || sight->was_lost || sight->was_double ||
                (is_settled && lost != 0);
    valid = is_broken                                ? json_false()
            : sight->sale->has_run && t->orders > 0 ? json_true()
                                                     : json_string("unknown");
    return json_pack("{s:o, s:b, s:I, s:I, s:I, s:I, s:I, s:I}", "valid", valid, "final",
                     is_broken || is_settled, "oversold", (json_int_t)(over > 0 ? over : 0),
                     "duplicates", (json_int_t)t->doubles, "lost_updates", (json_int_t)lost,
                     "refused", (json_int_t)refused, "in_flight", (json_int_t)in_flight, "age_ms",
                     ms_since(sight->tally_ns));
}

/* The lease that a thread of the process believes to have; null: it is not known to have one. */
static json_t *belief_json(const struct sight *sight, int i)
{
    int fault = trouble_of_process(sight->trouble, i);
    char state = sight->processes[i].state;
    const struct service_lock *lock = &sight->lock;
    bool by_right = state != SIGHT_LATE && state != SIGHT_FROZEN_LATE;

    if (state == SIGHT_FROZEN || state == SIGHT_WORKS)
        return json_null();
    if (fault >= 0)
        lock = trouble_hold_of(sight->trouble, i);
    else if (state != SIGHT_HOLDS)
        return json_null();
    if (by_right)
        lock = &sight->lock;
    return json_pack("{s:s, s:b, s:o, s:o, s:o}", "name", sight->sale->key, "by_right",
                     by_right, "fence", known((int64_t)lock->fence, lock->fence != 0), "count",
                     known(lock->hold_count, lock->hold_count >= 0), "left_ms",
                     known(lock->left_ms, lock->left_ms >= 0));
}

static const char *state_name(char state)
{
    switch (state) {
    case SIGHT_WAITS:
        return "waiting";
    case SIGHT_WORKS:
        return "working";
    case SIGHT_HOLDS:
        return "holding";
    case SIGHT_SLOW:
        return "slow";
    case SIGHT_LATE:
        return "late";
    case SIGHT_FROZEN_HOLDS:
    case SIGHT_FROZEN_LATE:
    case SIGHT_FROZEN:
        return "frozen";
    case SIGHT_DEAD:
        return "dead";
    default:
        return "serving";
    }
}

static json_t *processes_json(const struct sight *sight)
{
    json_t *list = json_array();

    for (int i = 0; i < sight->sale->service_count; i++) {
        const struct sight_process *p = &sight->processes[i];

        json_array_append_new(
            list, json_pack("{s:i, s:i, s:s, s:I, s:I, s:I, s:o, s:s}", "n", i + 1, "pid",
                            (int)sight->sale->services[i].child.pid, "state",
                            state_name(p->state), "since_ms", ms_since(p->since_ns), "in_flight",
                            (json_int_t)p->in_flight, "orders", (json_int_t)p->orders, "lease",
                            belief_json(sight, i), "lane", p->lane));
    }
    return list;
}

static json_t *store_json(const struct sight *sight)
{
    const struct show_sale *sale = sight->sale;
    const dlock_variant_info *variant = dlock_variant_find(sale->switches.lock);
    const struct service_lock *lock = &sight->lock;
    json_t *locks = json_array();

    if (*sale->key && sight->store_ns)
        json_array_append_new(
            locks,
            json_pack("{s:s, s:b, s:o, s:i, s:o, s:o, s:o, s:o, s:I}", "name", sale->key, "locked",
                      lock->is_locked, "owner", text_or_null(lock->owner), "process",
                      sight_process_of(sight), "ttl_ms",
                      known(lock->left_ms, lock->is_locked && lock->left_ms >= 0), "count",
                      known(lock->hold_count, lock->hold_count >= 0), "fence",
                      known((int64_t)lock->fence, lock->fence != 0), "waiters",
                      known(lock->waiter_count, lock->waiter_count >= 0), "renewals",
                      (json_int_t)sight->renewals));
    return json_pack("{s:s, s:b, s:o, s:o, s:o}", "kind", variant ? variant->store : "-", "answers",
                     sight->store_answers, "nodes", text_or_null(sight->nodes), "age_ms",
                     sight->store_ns ? json_integer(ms_since(sight->store_ns)) : json_null(),
                     "locks", locks);
}

/* The holders that the fault took the lock from; null: it was not given, or is not judged yet. */
static json_t *met_json(const struct show_met *met)
{
    if (met->is_unknown && met->count == 0)
        return json_string("unknown");
    return known(met->count, met->is_told);
}

static json_t *fault_json(const struct show_faults *trouble, int i)
{
    static const char *const states[] = {"off", "armed", "on", "busy"};
    const struct trouble_wish wish = {.fault = i, .process = -1};
    struct trouble_look look = trouble_look(trouble, i);
    struct show_refusal refusal = trouble_refuses(trouble, &wish);

    return json_pack(
        "{s:s, s:s, s:i, s:o, s:o, s:b, s:o, s:o}", "name", trouble_name(i), "state",
        states[look.state],
        "process", look.process + 1, "server", text_or_null(look.server), "since_ms",
        known(look.since_ns ? ms_since(look.since_ns) : 0, look.state != SHOW_FAULT_OFF), "ended",
        look.has_ended, "met", met_json(&trouble->met[i]), "refuses",
        refusal.text ? json_string(refusal.code) : json_null());
}

static json_t *faults_json(const struct show_faults *trouble)
{
    json_t *list = json_array();

    for (int i = 0; trouble_name(i); i++)
        json_array_append_new(list, fault_json(trouble, i));
    return list;
}

/* The text, which the caller frees. */
static char *document_make(const struct document *d)
{
    const struct sight *sight = d->sight;
    json_t *json = json_pack(
        "{s:i, s:s, s:I, s:I, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "format",
        DOCUMENT_FORMAT, "boot_id", d->boot_id, "seq", (json_int_t)d->seq, "at_ms",
        ms_since(sight->journal->begin_ns), "phase", phase_name(d->phase),
        "run", run_json(d),
        "stock", stock_json(sight), "verdict", verdict_json(d), "processes",
        processes_json(sight), "store", store_json(sight), "rates", points_json(&sight->points),
        "faults", faults_json(sight->trouble), "events", journal_json(sight->journal),
        "lesson", lesson_progress_json(d->lesson));
    char *text = files_json_text(json, JSON_COMPACT);

    json_decref(json);
    return text;
}

enum {
    TICK_MS = 10,
    IDLE_MS = 500,       /* between two looks while nothing runs                        */
    AFTER_SOLD_OUT_MS = 1500, /* the load ends when the sale was sold out for this time  */
    LESSON_LIMIT_MS = 180000, /* a lesson has to be sold out, on a busy machine too      */
    STOCKS_MAX = 5,      /* lost updates can make a stock last for ever                  */
    BOOT_BYTES = 8,
};

struct show {
    const struct show_plan *plan;
    struct show_board board;
    struct show_server server;
    struct show_sale sale;
    struct show_journal journal;
    struct show_faults trouble;
    struct sight sight;
    struct lesson_progress lesson;
    struct lesson_script script;
    enum show_phase phase;
    char boot_id[2 * BOOT_BYTES + 1];
    char dir[FILES_PATH_MAX]; /* of this run */
    int64_t seq, run_id, look_ns; /* look_ns: of the last look; 0: look now */
};

/* The next state that browsers have to ask for: while a load runs, the next one with new counts. */
static struct show_pace pace_of(const struct show *show)
{
    if (show->phase == SHOW_RUNNING)
        return (struct show_pace){sight_next_ns(&show->sight), SIGHT_COUNT_MS};
    if (show->phase == SHOW_STARTING)
        return (struct show_pace){0};
    return (struct show_pace){show->look_ns + IDLE_MS * INT64_C(1000000), 0};
}

static void publish(struct show *show)
{
    const struct document document = {.sight = &show->sight,
                                      .phase = show->phase,
                                      .boot_id = show->boot_id,
                                      .seq = ++show->seq,
                                      .run_id = show->run_id,
                                      .limit_ms = show->plan->limit_ms,
                                      .lesson = &show->lesson};

    show_board_publish(&show->board, document_make(&document), show->phase, &show->sale.switches,
                       pace_of(show));
}

static void begin_trouble(struct show *show)
{
    show->trouble = (struct show_faults){.sale = &show->sale,
                                          .journal = &show->journal,
                                          .servers = show->trouble.servers,
                                          .are_servers_well = true};
}

/* Offer a fresh voucher.  Meanwhile the page shows the phase STARTING. */
static enum exit_code offer(struct show *show, const struct show_switches *switches)
{
    enum exit_code rc;

    show->phase = SHOW_STARTING;
    publish(show);
    if (show->trouble.is_lesson)
        lesson_script_end(&show->script);
    trouble_leave(&show->trouble);
    show_servers_heal(show->trouble.servers);
    rc = show_sale_offer(&show->sale, switches);
    begin_trouble(show);
    sight_begin(&show->sight);
    show->run_id++;
    show->phase = rc == EXIT_VALID ? SHOW_READY : SHOW_FAILED;
    journal_add(&show->journal, rc == EXIT_VALID ? JOURNAL_OFFERED : JOURNAL_FAILED, 0,
                switches->stock);
    if (rc == EXIT_VALID)
        sight_look(&show->sight);
    publish(show);
    return rc;
}

/* Begin the load.  False: it could not be; the phase says so. */
static bool fire(struct show *show)
{
    show->phase = SHOW_STARTING;
    publish(show);
    if (!show_sale_load(&show->sale)) {
        show->phase = SHOW_FAILED;
        journal_add(&show->journal, JOURNAL_FAILED, 0, 0);
        return false;
    }
    show->phase = SHOW_RUNNING;
    points_resume(&show->sight.points);
    if (show->sale.switches.rate > 0)
        journal_add(&show->journal, JOURNAL_STARTED_RATED, 0, show->sale.switches.rate);
    else
        journal_add(&show->journal, JOURNAL_STARTED, 0, show->sale.switches.connections);
    return true;
}

/* Offer a fresh voucher, unless the one that is there is.  A server that has ended is started
 * before. */
static bool offer_fresh(struct show *show, const struct show_switches *switches)
{
    bool is_fresh = show->phase == SHOW_READY && !show->sale.has_run &&
                    !trouble_is_any(&show->trouble) &&
                    show_switches_equal(&show->sale.switches, switches);

    return is_fresh || offer(show, switches) == EXIT_VALID;
}

static void begin_load(struct show *show, const struct show_switches *switches)
{
    if (offer_fresh(show, switches))
        (void)fire(show);
}

/* Begin a round of the lesson.  Its fault is armed before the first order comes. */
static void begin_round(struct show *show)
{
    const struct lesson *lesson = lesson_progress_lesson(&show->lesson);
    struct show_switches switches = lesson_switches(lesson, show->lesson.round);

    show->script.is_over = false;
    if (offer_fresh(show, &switches)) {
        show->trouble.is_lesson = true;
        (void)lesson_script_begin(&show->script, lesson);
        if (fire(show))
            return;
    }
    lesson_script_end(&show->script);
}

static void end_load(struct show *show)
{
    if (show->trouble.is_lesson)
        lesson_script_end(&show->script);
    trouble_heal(&show->trouble);
    sight_look(&show->sight);
    show_sale_unload(&show->sale);
    show->phase = SHOW_ENDED;
    sight_count_all(&show->sight);
    journal_add(&show->journal, JOURNAL_ENDED, 0, show->sight.tally.orders);
}

/* Show this lesson, with a fresh voucher; 0: none. */
static void show_lesson(struct show *show, int number)
{
    struct show_switches switches;

    if (show->phase == SHOW_RUNNING)
        end_load(show);
    lesson_progress_show(&show->lesson, number);
    show->trouble.is_lesson = false;
    if (number == 0)
        return;
    switches = lesson_switches(lesson_progress_lesson(&show->lesson), 0);
    (void)offer(show, &switches);
    show->trouble.is_lesson = true;
}

static void run_lesson(struct show *show)
{
    lesson_progress_begin(&show->lesson);
    begin_round(show);
}

/* Go on with the lesson: its fault while the load runs, its outcome when nothing of the sale
 * is open any more. */
static void step_lesson(struct show *show)
{
    if (show->lesson.number == 0 || show->lesson.stage != LESSON_STAGE_RUNNING)
        return;
    if (show->phase == SHOW_RUNNING)
        lesson_script_step(&show->script);
    else if (show->phase == SHOW_FAILED ||
             (show->phase == SHOW_ENDED && show->sight.is_settled)) {
        if (lesson_progress_judge(&show->lesson, &show->script))
            begin_round(show);
        show->look_ns = 0;
    }
}

/* Is the sale over?  While a fault goes on it is not, whatever is sold. */
static bool is_over(struct show *show)
{
    struct sight *sight = &show->sight;
    int64_t now_ns = monotonic_ns();

    int64_t limit_ms = show->trouble.is_lesson && show->plan->limit_ms < LESSON_LIMIT_MS
                           ? LESSON_LIMIT_MS
                           : show->plan->limit_ms;

    if (now_ns - show->sale.begin_ns > limit_ms * 1000000 ||
        !show_sale_load_runs(&show->sale) ||
        sight->tally.orders > STOCKS_MAX * show->sale.switches.stock)
        return true;
    if (show->trouble.is_lesson && show->script.fault == LESSON_CRASH && show->script.is_over)
        return true;
    if (!sight->is_sold_out || trouble_is_any(&show->trouble) ||
        (show->trouble.is_lesson && !show->script.is_over))
        sight->sold_out_ns = now_ns;
    return now_ns - sight->sold_out_ns > AFTER_SOLD_OUT_MS * INT64_C(1000000);
}

/* The wish for a fault, as the faults know it. */
static struct trouble_wish fault_of(const struct show_wish *wish)
{
    return (struct trouble_wish){.fault = trouble_find(wish->fault),
                                 .process = wish->target,
                                 .server = wish->server,
                                 .by_ms = wish->by_ms};
}

/* The reason for which the wish cannot be carried out now. */
static struct show_refusal refuses(const struct show *show, const struct show_wish *wish)
{
    static const struct show_refusal not = {NULL, NULL};
    static const struct show_refusal changed = {
        "somebody has changed the settings meanwhile: look at them, and ask again",
        "settings-changed"};
    struct trouble_wish fault;

    /* The wish has all settings, and would take back what another browser has just changed. */
    if ((wish->kind == SHOW_WISH_RUN || wish->kind == SHOW_WISH_OFFER) &&
        !show_switches_equal(&wish->base, &show->sale.switches))
        return changed;
    if (wish->kind != SHOW_WISH_STOP && wish->kind != SHOW_WISH_FAULT &&
        wish->kind != SHOW_WISH_HEAL)
        return lesson_wish_refuses(&show->lesson, wish);
    if (show->phase != SHOW_RUNNING)
        return trouble_nothing_runs();
    if (wish->kind == SHOW_WISH_HEAL && show->trouble.is_lesson)
        return trouble_in_a_lesson();
    if (wish->kind != SHOW_WISH_FAULT)
        return not;
    fault = fault_of(wish);
    return trouble_refuses(&show->trouble, &fault);
}

static void carry_out(struct show *show, const struct show_wish *wish)
{
    struct trouble_wish fault;

    switch (wish->kind) {
    case SHOW_WISH_RUN:
        show->lesson.number = 0;
        if (show->phase == SHOW_READY) /* the lesson's voucher, if it fits, with no lesson */
            show->trouble.is_lesson = false;
        begin_load(show, &wish->switches);
        break;
    case SHOW_WISH_OFFER:
        show->lesson.number = 0;
        (void)offer(show, &wish->switches);
        break;
    case SHOW_WISH_STOP:
        end_load(show);
        break;
    case SHOW_WISH_FAULT:
        fault = fault_of(wish);
        trouble_toggle(&show->trouble, &fault);
        break;
    case SHOW_WISH_HEAL:
        trouble_heal(&show->trouble);
        break;
    case SHOW_WISH_LESSON:
        show_lesson(show, wish->lesson);
        break;
    case SHOW_WISH_PREDICT:
        (void)lesson_progress_predict(&show->lesson, wish->answer);
        break;
    case SHOW_WISH_LESSON_RUN:
        run_lesson(show);
        break;
    case SHOW_WISH_NONE:
        return;
    }
    show->look_ns = 0;
}

/* Look when it is time to. */
static void look(struct show *show)
{
    bool is_busy = show->phase == SHOW_RUNNING ||
                   (show->phase == SHOW_ENDED && !show->sight.is_settled);
    int64_t now_ns = monotonic_ns();

    if (now_ns - show->look_ns < (is_busy ? SIGHT_LOOK_MS : IDLE_MS) * INT64_C(1000000))
        return;
    show->look_ns = now_ns;
    if (show->phase != SHOW_FAILED)
        sight_look(&show->sight);
    if (show->phase == SHOW_RUNNING && is_over(show))
        end_load(show);
    publish(show);
}

static void serve(struct show *show)
{
    while (interrupt_sleep_ms(TICK_MS)) {
        struct show_wish wish = show_board_take_wish(&show->board);
        struct show_refusal refusal = refuses(show, &wish);

        if (wish.kind != SHOW_WISH_NONE)
            show_board_answer(&show->board, refusal);
        if (wish.kind != SHOW_WISH_NONE && !refusal.text)
            carry_out(show, &wish);
        trouble_step(&show->trouble);
        step_lesson(show);
        look(show);
    }
}

static void say_address(const struct show *show)
{
    printf("open     http://%s:%d/#token=%s\n"
           "The token in the address lets a browser in.  Ctrl-C takes everything down.\n",
           show->plan->host ? show->plan->host : "127.0.0.1", show->server.port,
           show->server.access.token);
    fflush(stdout);
}

/* The server listens. */
static enum exit_code serve_run(struct show *show)
{
    const struct show_plan *plan = show->plan;
    enum exit_code rc;

    if (!runs_make_named(show->dir, plan->out, "show-"))
        return EXIT_CANNOT_WRITE;
    rc = offer(show, &plan->switches);
    if (rc == EXIT_VALID) {
        say_address(show);
        if (plan->lesson > 0)
            show_lesson(show, plan->lesson);
        serve(show);
    } else if (rc != EXIT_INTERRUPTED) {
        eprintf("seckill show: %s\n", show->sale.why);
    }
    return rc;
}

enum exit_code show_run(const struct show_plan *plan)
{
    struct show *show = memory_need(calloc(1, sizeof *show));
    enum exit_code rc = EXIT_UNAVAILABLE;

    show->plan = plan;
    show->sale = (struct show_sale){.lab = plan->lab,
                                    .db = plan->db,
                                    .dir = show->dir,
                                    .switches = plan->switches};
    show->journal.begin_ns = monotonic_ns();
    show->trouble.servers = show_servers_new(plan->lab, &show->journal);
    begin_trouble(show);
    show->script = (struct lesson_script){.sale = &show->sale,
                                          .trouble = &show->trouble,
                                          .journal = &show->journal,
                                          .sight = &show->sight};
    show->sight = (struct sight){.sale = &show->sale,
                                 .trouble = &show->trouble,
                                 .journal = &show->journal};
    secret_random_hex(show->boot_id, BOOT_BYTES);
    show_board_init(&show->board, &plan->switches);
    show->server.board = &show->board;
    show->server.topologies = lab_has_which(plan->lab);
    if (show_server_open(&show->server, plan->listen, plan->host))
        rc = serve_run(show);
    /* The thread of the servers defers interrupts itself while it undoes something. */
    show_servers_heal(show->trouble.servers);
    interrupt_defer(true);
    trouble_leave(&show->trouble);
    show_sale_close(&show->sale);
    interrupt_defer(false);
    show_servers_free(show->trouble.servers, plan->lab);
    show_server_close(&show->server);
    show_board_destroy(&show->board);
    free(show);
    return rc;
}
