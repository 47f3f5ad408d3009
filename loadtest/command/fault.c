/* SPDX-License-Identifier: MIT */
/* fault.c -- `seckill fault list|run NAME`. */
#include "loadtest/command/commands.h"
#include "loadtest/fault/catalogue.h"
#include "loadtest/kit/command.h"

#include <string.h>

#include "base/text/duration.h"
#include "base/text/suggest.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/name_list.h"
#include "lock/record/recorder.h"

struct fault_settings {
    const char *dir, *server, *key, *by, *record;
    int64_t for_ms;
};

static NAME_LIST(action_at, "list", "run")

#define AT(field) offsetof(struct fault_settings, field)
static const struct setting settings[] = {
    OPTION(TEXT, "server", AT(server), .meta = "SERVER",
           .help = "the server; default: the first server of the lab that can have the fault"),
    OPTION(DURATION, "for", AT(for_ms), .fallback = "2s", .meta = "TIME", .min = 0,
           .max = 3600000,
           .help = "the duration, for faults that last; Ctrl-C ends them earlier"),
    OPTION(TEXT, "key", AT(key), .meta = "LOCK",
           .help = "the lock that is lost, for faults that need a lock"),
    OPTION(TEXT, "by", AT(by), .meta = "TIME",
           .help = "clock: the jump, over 500ms, such as 30s or -1h; client-pause: the length "
                   "of the pause"),
    OPTION(TEXT, "record", AT(record), .meta = "DIR", .output = SETTING_WRITES_DIRECTORY,
           .help = "also write the fault into this history, such as RUN/locks of `seckill load "
                   "--record`"),
    COMMAND_DIR(AT(dir)),
};

const struct setting_program command_fault_program = {
    .name = "seckill fault",
    .synopsis = "list|run NAME [--server=SERVER] [--for=TIME] [OPTIONS]",
    .intro =
        "Inject one fault into a server of a running lab, ask the server for the proof, and\n"
        "end the fault.\n\n"
        "  seckill lab up\n"
        "  seckill fault list\n"
        "  seckill fault run server-stop --server=redis --for=5s\n"
        "  seckill fault run redis-restart-empty --key=lock:voucher:1\n"
        "  seckill fault run redis-failover --key=lock:voucher:1   take the lock when told\n"
        "  seckill fault run clock --server=redlock-2 --by=-1h --for=10s\n"
        "  seckill fault run postgres-kill-backend --key=lock:voucher:1",
    EXITS({EXIT_VALID, "the fault happened and was proven"},
          {EXIT_INVALID, "the fault did not happen, or the server does not work afterwards"},
          {EXIT_USAGE, NULL}, {EXIT_UNAVAILABLE, "no such lab, or the server is down"},
          {EXIT_BUG, NULL}, {EXIT_CANNOT_WRITE, "the record cannot be written"},
          {EXIT_INTERRUPTED, NULL}),
    SETTINGS(settings),
    .max_operands = 2,
};

/* The assumptions that it breaks, without repeating one. */
static void print_breaks(const struct server_fault *fault)
{
    unsigned seen = 0;

    for (int kind = 0; kind < LAB_KIND_COUNT; kind++) {
        dlock_assumption breaks = fault->breaks[kind];

        if (!(fault->servers & FAULT_ON(kind)) || (seen & 1u << breaks))
            continue;
        printf("%s%s", seen ? ", " : "", dlock_assumption_name((int)breaks));
        seen |= 1u << breaks;
    }
}

static enum exit_code list(void)
{
    for (size_t i = 0; server_fault_at(i); i++) {
        const struct server_fault *fault = server_fault_at(i);

        printf("%s%s\n    %s\n    on", fault->name,
               fault->needs_key ? "  --key=LOCK"
               : fault->by_min_ms || fault->by_max_ms ? "  --by=TIME"
                                                      : "",
               fault->does);
        for (int kind = 0; kind < LAB_KIND_COUNT; kind++) {
            if (fault->servers & FAULT_ON(kind))
                printf(" %s", lab_kind_name((enum lab_kind)kind));
        }
        printf("; breaks: ");
        print_breaks(fault);
        printf("; %s\n",
               server_fault_lasts(fault) ? "lasts until it is ended" : "an instant");
        if (fault->needs)
            printf("    needs %s\n", fault->needs);
    }
    return EXIT_VALID;
}

static const struct server_fault *find(const char *name)
{
    const struct server_fault *fault = name ? server_fault_find(name) : NULL;

    if (fault)
        return fault;
    eprintf("seckill fault run: %s%s%s", name ? "no fault \"" : "which fault",
            name ? name : "?", name ? "\"" : "");
    suggest_tell(name ? name : "", server_fault_name_at);
    return NULL;
}

/* "30s", "-1h" */
static bool read_by(const char *text, int64_t *ms)
{
    bool is_back = text && *text == '-';

    *ms = 0;
    if (text && !duration_parse(text + is_back, ms)) {
        eprintf("seckill fault: --by must be a time such as 500ms, 30s or -1h, not \"%s\"\n", text);
        return false;
    }
    *ms = is_back ? -*ms : *ms;
    return true;
}

static bool say(const struct fault_scene *scene, const char *stage)
{
    if (*scene->note)
        printf("%-6s %s\n", stage, scene->note);
    fflush(stdout);
    return true;
}

/* Say what has to happen between arm and begin. */
static bool ask_for_lock(const struct server_fault *fault, const struct fault_scene *scene)
{
    if (fault->taken_ms > 0)
        printf("       now take %s, within %d s\n", scene->key, fault->taken_ms / 1000);
    fflush(stdout);
    return true;
}

static bool make(const struct server_fault *fault, struct fault_scene *scene,
                 int64_t for_ms)
{
    bool ok = server_fault_arm(fault, scene) && say(scene, "armed") &&
              ask_for_lock(fault, scene) && server_fault_begin(fault, scene) && say(scene, "begun");

    if (ok && server_fault_lasts(fault)) {
        interrupt_sleep_ms(for_ms);
        ok = server_fault_end(fault, scene) && say(scene, "ended");
    }
    return server_fault_disarm(fault, scene) && ok;
}

/* The server may be down in this lab, which is no mistake of the user. */
static enum exit_code run_in(struct lab *lab, const struct server_fault *fault,
                             const struct fault_settings *v)
{
    struct fault_scene scene = {.lab = lab,
                                .server = v->server ? lab_find_server(lab, v->server)
                                                    : server_fault_aim(fault, lab),
                                .key = v->key};
    enum exit_code rc = EXIT_VALID;

    if (!read_by(v->by, &scene.by_ms))
        return EXIT_USAGE;
    if (!server_fault_fits(fault, &scene))
        return scene.server && !child_runs(&scene.server->child) ? EXIT_UNAVAILABLE
                                                                 : EXIT_USAGE;
    if (v->record && !(scene.history = fault_history_open(v->record)))
        return EXIT_CANNOT_WRITE;
    if (!make(fault, &scene, v->for_ms))
        rc = EXIT_INVALID;
    if (!fault_history_close(scene.history))
        rc = EXIT_BUG;
    return interrupted() ? EXIT_INTERRUPTED : rc;
}

static enum exit_code run_one(const struct fault_settings *v, const char *name)
{
    const struct server_fault *fault = find(name);
    const char *dir = lab_choose_dir(v->dir);
    struct lab lab;

    if (!fault)
        return EXIT_USAGE;
    if (!lab_state_read(&lab, dir))
        return lab_use(&lab, dir);
    return run_in(&lab, fault, v);
}

static enum exit_code run(const struct settings *s, const void *values)
{
    const char *word = s->operand_count > 0 ? s->operands[0] : "";

    if (strcmp(word, "list") == 0 && s->operand_count == 1)
        return list();
    if (strcmp(word, "run") == 0)
        return run_one(values, s->operand_count > 1 ? s->operands[1] : NULL);
    if (*word && words_place(action_at, word) == SIZE_MAX) {
        suggest_command(command_fault_program.name, word, action_at);
        return EXIT_USAGE;
    }
    eprintf("seckill fault: say `list` or `run NAME`\n"
                    "  for example: seckill fault run server-stop --server=redis\n");
    return EXIT_USAGE;
}

COMMAND_FUNCTION(fault, command_run)
