/* SPDX-License-Identifier: MIT */
/* picture.c -- records the events of locks as a history for the checker, and the messages of the
 * simulation as lines of the story. The page is made of both. */
#include "tests/simulation/picture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loadtest/kit/memory.h"
#include "loadtest/page/story.h"

#define NS_PER_MS INT64_C(1000000)

enum { WIRES_MAX = 512, HOLDS_MAX = 128, NOT_CALLED = -1, PICTURE_NAME = 24 };

static const char *page_path; /* NULL: no page is wanted */
static struct stage stage;
static char actor_names[SCENARIO_ACTORS_MAX][PICTURE_NAME];
static int actor_tasks[SCENARIO_ACTORS_MAX];
static uint64_t actor_owners[SCENARIO_ACTORS_MAX]; /* changes when a task abandons a lock */
static int wire_actors[WIRES_MAX];
static int64_t hold_calls[HOLDS_MAX];    /* calls of the history, by the slot of the hold */
static const void *hold_slots[HOLDS_MAX];
static int64_t release_calls[SCENARIO_ACTORS_MAX]; /* NOT_CALLED: no release is under way */

void picture_to(const char *path)
{
    page_path = path;
    for (size_t i = 0; i < WIRES_MAX; i++)
        wire_actors[i] = -1;
}

bool picture_is_wanted(void)
{
    return page_path != NULL;
}

static int64_t now(void)
{
    int64_t at_ns;
    int process, task;

    (void)picture_here(&at_ns, &process, &task);
    return at_ns;
}

/* The lane of the running task; -1: no task runs, or the page has no room for it. In the history
 * each task is a process of its own, because the page finds the caller by its process. */
static int actor_here(void)
{
    struct history_process *entry;
    int at = 0, process, task;
    int64_t at_ns;

    if (!picture_here(&at_ns, &process, &task))
        return -1;
    while (at < stage.actor_count && actor_tasks[at] != task)
        at++;
    if (at < stage.actor_count || at == SCENARIO_ACTORS_MAX)
        return at < stage.actor_count ? at : -1;
    (void)snprintf(actor_names[at], PICTURE_NAME, "p%d task %d", process, task);
    actor_tasks[at] = task;
    actor_owners[at] = 1;
    release_calls[at] = NOT_CALLED;
    stage.processes[at].pid = (uint32_t)at + 1;
    stage.actors[at] = (struct actor){.stage = &stage, .process = &stage.processes[at],
                                      .name = actor_names[at], .index = at};
    entry = history_add_process(&stage.history);
    entry->pid = (uint32_t)at + 1;
    entry->is_closed = true;
    entry->dropping_ns = HISTORY_NEVER;
    (void)snprintf(entry->uuid, sizeof(entry->uuid), "process-%d-task-%d", process, task);
    (void)snprintf(entry->label, sizeof(entry->label), "p%d task %d", process, task);
    return stage.actor_count++;
}

/* ---- lines ---- */

static void add_line(enum stage_line_kind kind, int actor, const char *text)
{
    struct stage_line *line;

    if (stage.line_count == stage.line_room) {
        stage.line_room = stage.line_room * 2 + 256;
        stage.lines = memory_need(realloc(stage.lines, stage.line_room * sizeof(*line)));
    }
    line = &stage.lines[stage.line_count++];
    *line = (struct stage_line){.kind = kind, .from_ns = now(), .at_ns = now(),
                                .actor = actor};
    (void)snprintf(line->text[0], sizeof(line->text[0]), "%s", text);
    memcpy(line->text[1], line->text[0], sizeof(line->text[1]));
}

static void add_fault(const char *text)
{
    struct history_mark *mark;
    uint32_t name = history_name(&stage.history, text, strlen(text));

    add_line(LINE_FAULT, -1, text);
    mark = history_add_mark(&stage.history);
    mark->kind = DLOCK_EVENT_FAULT;
    mark->detail = DLOCK_FAULT_HAPPENED;
    mark->at_ns = now();
    mark->name = name;
}

void picture_line(const char *text)
{
    static const char fault[] = "FAULT ";

    if (strncmp(text, fault, strlen(fault)) == 0)
        add_fault(text + strlen(fault));
    else if (strncmp(text, "VERDICT ", strlen("VERDICT ")) == 0)
        add_line(LINE_TOLD, -1, text);
    else if (strstr(text, " asks for ") != NULL || strstr(text, " answers ") != NULL)
        add_line(LINE_ACT, actor_here(), text);
}

void picture_wire(int64_t connection, bool is_request, const char *text)
{
    char line[SCENARIO_LINE_MAX];

    if (connection < 0 || connection >= WIRES_MAX)
        return;
    if (is_request)
        wire_actors[connection] = actor_here();
    if (wire_actors[connection] < 0)
        return;
    (void)snprintf(line, sizeof(line), "%s redis: %s", is_request ? "->" : "<-", text);
    add_line(LINE_WIRE, wire_actors[connection], line);
}

/* ---- calls ---- */

/* The acquire of a hold; NULL: the page has none. */
static struct history_call *call_of(const void *hold)
{
    for (size_t i = 0; i < HOLDS_MAX; i++)
        if (hold_slots[i] == hold && hold_calls[i] != NOT_CALLED)
            return &stage.history.calls[hold_calls[i]];
    return NULL;
}

static int64_t add_call(int kind, int actor, const char *text)
{
    uint32_t number = history_name(&stage.history, text, strlen(text));
    struct history_call *call = history_add_call(&stage.history);

    call->kind = (uint8_t)kind;
    call->process = (uint32_t)actor;
    call->name = number;
    call->owner = actor_owners[actor];
    call->invoke_ns = now();
    call->answer_ns = call->deadline_ns = HISTORY_NEVER;
    return (int64_t)stage.history.call_count - 1;
}

void picture_asked(const void *hold, const char *name)
{
    int actor = actor_here();
    size_t at = 0;

    while (at + 1 < HOLDS_MAX && hold_slots[at] != NULL && hold_slots[at] != hold)
        at++;
    hold_slots[at] = hold;
    hold_calls[at] = actor < 0 ? NOT_CALLED : add_call(DLOCK_EVENT_ACQUIRE, actor, name);
    if (actor >= 0)
        stage.history.calls[hold_calls[at]].wait_ns = 60000 * NS_PER_MS;
}

static void answer(struct history_call *call, dlock_status st)
{
    call->is_answered = true;
    call->status = st;
    call->answer_ns = now();
}

void picture_granted(const void *hold, const dlock_lease *lease, int64_t left_ms)
{
    struct history_call *call = call_of(hold);

    if (call == NULL)
        return;
    answer(call, DLOCK_OK);
    call->sent_ns = call->invoke_ns;
    call->mode = lease->shared ? DLOCK_MODE_SHARED : DLOCK_MODE_EXCLUSIVE;
    call->fence = lease->fence;
    if (left_ms < INT32_MAX) /* the lease has an end */
        call->deadline_ns = now() + left_ms * NS_PER_MS;
    (void)snprintf(stage.lock, sizeof(stage.lock), "%s", lease->name);
}

void picture_refused(const void *hold)
{
    struct history_call *call = call_of(hold);

    if (call != NULL)
        answer(call, DLOCK_BUSY);
}

void picture_kept(const void *hold, int64_t left_ms)
{
    struct history_call *call = call_of(hold);

    if (call != NULL && call->is_answered && call->deadline_ns != HISTORY_NEVER &&
        call->deadline_ns < now() + left_ms * NS_PER_MS)
        call->deadline_ns = now() + left_ms * NS_PER_MS;
}

void picture_leaves(const void *hold, const char *name)
{
    int actor = actor_here();

    if (actor >= 0 && call_of(hold) != NULL)
        release_calls[actor] = add_call(DLOCK_EVENT_RELEASE, actor, name);
}

void picture_abandoned(void)
{
    int actor = actor_here();

    if (actor >= 0)
        actor_owners[actor]++;
}

void picture_answered(dlock_status st)
{
    int actor = actor_here();

    if (actor < 0 || release_calls[actor] == NOT_CALLED)
        return;
    answer(&stage.history.calls[release_calls[actor]], st);
    release_calls[actor] = NOT_CALLED;
}

/* ---- the page ---- */

static void judge(const struct picture_facts *facts)
{
    struct check_options options = {0};

    for (size_t i = 0; i < stage.history.process_count; i++) {
        struct history_process *process = &stage.history.processes[i];

        process->caps = facts->variant->caps;
        process->lease_ns = facts->lease_ms * NS_PER_MS;
        (void)snprintf(process->variant, sizeof(process->variant), "%s", facts->variant->name);
    }
    history_sort(&stage.history);
    stage.check = check_new();
    check_judge(stage.check, &stage.history, &options, &stage.verdict);
}

static bool write_pages(const char *name)
{
    char part[FILES_PATH_MAX], told[FILES_PATH_MAX], dir[] = "/tmp/simulate-XXXXXX";
    char *parts[] = {part};
    bool ok;

    if (mkdtemp(dir) == NULL) {
        (void)fprintf(stderr, "simulate: no directory for the page\n");
        return false;
    }
    stage.dir = dir;
    files_join(part, dir, "page.part");
    files_join(told, dir, STORY_ZH_FILE);
    ok = story_pages.write_part(&stage) && story_pages.write_page(page_path, name, parts, 1);
    (void)unlink(part);
    (void)unlink(told);
    (void)rmdir(dir);
    return ok;
}

bool picture_write(const struct picture_facts *facts)
{
    static struct scenario scenario = {.name = "simulate", .title = "a simulated world",
                                       .title_zh = "模拟世界", .breaks = SIGNS_TWO_INSIDE};
    static struct scenario_setup setup = {.scenario = &scenario, .guard = &guard_read_write};
    static struct scenario_result result = {.has_happened = true};
    static char number[PICTURE_NAME], source[512];

    (void)snprintf(number, sizeof(number), "%llu", (unsigned long long)facts->seed);
    (void)snprintf(source, sizeof(source), "%s in the class %s: %s %s", facts->variant->name,
                   facts->class, facts->verdict,
                   facts->text);
    scenario.number = number;
    scenario.source = scenario.story[0] = scenario.story_zh[0] = source;
    scenario.lease_ms = facts->lease_ms;
    setup.lock = facts->variant;
    result.outcome = facts->is_fine ? SCENARIO_HOLDS : SCENARIO_BREAKS;
    result.is_expected = true;
    stage.setup = &setup;
    stage.result = &result;
    stage.seed = facts->seed;
    judge(facts);
    return write_pages(number);
}
