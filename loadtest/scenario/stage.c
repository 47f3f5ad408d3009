/* SPDX-License-Identifier: MIT */
/* stage.c -- the calls that a scenario's play() makes on its performance, and the lines
 * of the narration. */
#include "loadtest/scenario/stage.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/clock.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/memory.h"
#include "lock/registry.h"

/* ---- questions of play() ---- */

struct actor *stage_actor(struct stage *s, int i)
{
    if (i < 0 || i >= s->actor_count)
        stage_fail(s, "the scenario has no actor number %d", i);
    return &s->actors[i];
}

/* The participants' names in both languages.  They begin with different letters and have
 * different vowels, so that a listener can tell them apart. */
const char *stage_person(const struct actor *a, bool is_chinese)
{
    static const struct {
        const char *english, *chinese;
    } people[] = {{"Ann", "小安"}, {"Ann's writer", "小安的写线程"}, {"Bo", "小博"}, {"Chu", "小楚"},
                  {"Dee", "小迪"}, {"Eli", "小易"}, {"Fay", "小菲"}, {"Gus", "小固"}};

    for (size_t i = 0; is_chinese && i < sizeof people / sizeof people[0]; i++)
        if (strcmp(a->name, people[i].english) == 0)
            return people[i].chinese;
    return a->name;
}

const dlock_variant_info *stage_lock(const struct stage *s)
{
    return s->setup->lock;
}

enum dlock_store stage_store(const struct stage *s)
{
    return dlock_store_of(s->setup->lock);
}

bool stage_is_renewed(const struct stage *s)
{
    return dlock_registry_find(s->setup->lock->name)->watched;
}

bool stage_has(const struct stage *s, unsigned caps)
{
    return (s->setup->lock->caps & caps) == caps;
}

/* A session of ZooKeeper ends if its client is silent.  A connection to PostgreSQL does
 * not end while its process is stopped, because the kernel goes on answering. */
bool stage_lock_ends(const struct stage *s)
{
    return stage_has(s, DLOCK_CAP_EXPIRES) ||
           (stage_has(s, DLOCK_CAP_SESSION) &&
            stage_store(s) == DLOCK_STORE_ZOOKEEPER) ||
           !stage_has(s, DLOCK_CAP_EXCLUSIVE);
}

bool stage_store_hears_of_death(const struct stage *s)
{
    return stage_has(s, DLOCK_CAP_SESSION) &&
           stage_store(s) == DLOCK_STORE_POSTGRES;
}

static int64_t varied_ms(const struct stage *s, int64_t ms)
{
    return s->vary.is_varied ? ms * s->vary.time_percent / 100 : ms;
}

int stage_lease_ms(const struct stage *s)
{
    int as_written = s->setup->scenario->lease_ms > 0 ? s->setup->scenario->lease_ms
                                                     : SCENARIO_LEASE_MS;

    return (int)varied_ms(s, as_written);
}

enum lab_role stage_lock_role(const struct stage *s)
{
    enum lab_topology topology = s->setup->scenario->topology;

    return topology != LAB_TOPOLOGY_CORE ? lab_topology_role(topology)
                                         : lab_store_role(stage_store(s));
}

int stage_node(const struct stage *s, enum lab_role role, int node)
{
    return (node + s->vary.first_node) % lab_role_count(role);
}

const struct stock_guard *stage_guard(const struct stage *s)
{
    return s->setup->guard;
}

const char *stage_lock_name(const struct stage *s)
{
    return s->lock;
}

int64_t stage_now_ms(const struct stage *s)
{
    return (dlock_clock_ns() - s->zero_ns) / DLOCK_NS_PER_MS;
}

struct lab *stage_lab(struct stage *s)
{
    return s->lab;
}

void stage_need(struct stage *s, bool is_so, const char *what)
{
    if (!is_so)
        stage_fail(s, "%s", what);
}

void stage_need_in_time(struct stage *s, bool is_so, const char *what)
{
    if (is_so)
        return;
    s->result->was_spoilt = true;
    stage_fail(s, "%s: the machine was too busy", what);
}

void stage_pass_ms(struct stage *s, int64_t ms)
{
    if (!interrupt_sleep_ms(varied_ms(s, ms)))
        stage_fail(s, "interrupted");
}

/* ---- lines ---- */

/* Keep a copy of the line and of its texts. */
static void add_line(struct stage *s, struct stage_line *line, const char *english,
                     const char *chinese)
{
    snprintf(line->text[0], sizeof line->text[0], "%s", english);
    snprintf(line->text[1], sizeof line->text[1], "%s", chinese);
    pthread_mutex_lock(&s->lock_of_lines);
    if (!s->is_playing ||
        (line->kind == LINE_ACT && scenario_is_measured(s->setup->scenario)))
        goto out;
    if (s->line_count == s->line_room) {
        s->line_room = 2 * s->line_room + 64;
        s->lines = memory_need(realloc(s->lines, s->line_room * sizeof *s->lines));
    }
    s->lines[s->line_count++] = *line;
out:
    pthread_mutex_unlock(&s->lock_of_lines);
}

void stage_add_line(struct stage *s, enum stage_line_kind kind, int64_t at_ns, int actor,
                    const char *english, const char *chinese)
{
    struct stage_line line = {
        .kind = kind, .from_ns = at_ns, .at_ns = at_ns, .actor = actor};

    add_line(s, &line, english, chinese);
}

/* Tell the lines since the last time. */
void stage_tell_lines(struct stage *s)
{
    pthread_mutex_lock(&s->lock_of_lines);
    for (; s->told_count < s->line_count; s->told_count++)
        s->tell_line(stdout, s, &s->lines[s->told_count]);
    pthread_mutex_unlock(&s->lock_of_lines);
    fflush(stdout);
}

void stage_say(struct stage *s, enum stage_line_kind kind, int actor,
               const char *english, const char *chinese)
{
    stage_add_line(s, kind, dlock_clock_ns(), actor, english, chinese);
    stage_tell_lines(s);
}

void stage_say_since(struct stage *s, enum stage_line_kind kind, int64_t from_ns,
                     int actor, const char *english, const char *chinese)
{
    struct stage_line line = {
        .kind = kind, .from_ns = from_ns, .at_ns = dlock_clock_ns(), .actor = actor};

    add_line(s, &line, english, chinese);
    stage_tell_lines(s);
}

void stage_tell(struct stage *s, const char *english, const char *chinese)
{
    stage_say(s, LINE_TOLD, -1, english, chinese);
}

void stage_sign(struct stage *s, enum scenario_sign sign, const char *why)
{
    char english[SCENARIO_LINE_MAX], chinese[SCENARIO_LINE_MAX];
    int number = 0;

    while ((unsigned)sign >> (number + 1) != 0)
        number++;
    s->signs |= (unsigned)sign;
    snprintf(english, sizeof english, "%s: %s", scenario_sign_name(number, false), why);
    snprintf(chinese, sizeof chinese, "%s：%s", scenario_sign_name(number, true), why);
    stage_say(s, LINE_TOLD, -1, english, chinese);
}

void stage_note_told(struct stage *s, bool is_queued, int64_t user, const char *request)
{
    struct order_told *told = &s->told[s->told_order_count];

    *(is_queued ? &s->promised : &s->told_sold) += 1;
    if (scenario_is_measured(s->setup->scenario) || s->told_order_count == ORDERS_MAX)
        return;
    told->is_queued = is_queued;
    snprintf(told->row.user, sizeof told->row.user, "%" PRId64, user);
    snprintf(told->row.request, sizeof told->row.request, "%s", request);
    s->told_order_count++;
}

void stage_fault(struct stage *s, const char *what, dlock_fault_phase phase,
                 dlock_assumption breaks, int64_t pid)
{
    fault_history_add(s->faults, phase, what, (pid_t)pid, breaks);
}

void stage_fail(struct stage *s, const char *fmt, ...)
{
    struct scenario_result *result = s->result;
    va_list args;

    va_start(args, fmt);
    vsnprintf(result->why, sizeof result->why, fmt, args);
    va_end(args);
    if (result->rc == EXIT_VALID)
        result->rc = EXIT_UNKNOWN;
    s->clear(s);
    printf("\nThe scenario did not happen: %s\n", result->why);
    result->took_ns = dlock_clock_ns() - s->begin_ns;
    stage_free(s);
    exit((int)result->rc);
}

void stage_free(struct stage *s)
{
    history_free(&s->history);
    check_free(s->check);
    free(s->lines);
    pthread_mutex_destroy(&s->lock_of_lines);
    free(s);
}
