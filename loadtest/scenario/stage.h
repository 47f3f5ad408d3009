/* SPDX-License-Identifier: MIT */
/* stage.h -- a performance while it lasts: participants, wires, servers, and the lines that tell of
 * them. */
#ifndef LOADTEST_SCENARIO_STAGE_H
#define LOADTEST_SCENARIO_STAGE_H

#include <pthread.h>
#include <stdio.h>

#include "base/text/exit_codes.h"
#include "loadtest/check/check.h"
#include "loadtest/fault/history.h"
#include "loadtest/fault/server_fault.h"
#include "loadtest/lab/lab.h"
#include "loadtest/proxy/proxy.h"
#include "loadtest/sale/service.h"
#include "loadtest/scenario/orders.h"
#include "loadtest/scenario/result.h"
#include "loadtest/scenario/pages.h"
#include "loadtest/scenario/participants/process_inside.h"
#include "loadtest/scenario/variation.h"
#include "lock/record/recorder.h"

enum { SCENARIO_NODES_MAX = LAB_COUNT_REDLOCK, SCENARIO_LINE_MAX = 600,
       STAGE_LEFT_OUT_MAX = 16, STAGE_SERVICES_MAX = 4,
       STAGE_POSTS_MAX = 16, STAGE_FAULTS_MAX = 8 };

struct background;

/* The kinds of lines of a story. */
enum stage_line_kind { LINE_TOLD, LINE_ACT, LINE_FAULT, LINE_WIRE };

struct stage_line {
    enum stage_line_kind kind;
    int64_t from_ns;    /* the beginning of the wait for it, if any; otherwise as at_ns */
    int64_t at_ns;
    int actor;          /* index; -1: none                                            */
    char text[2][SCENARIO_LINE_MAX]; /* English and Chinese                           */
};

/* A wire of an actor's process, and its proxy. */
struct stage_wire {
    struct stage *stage;
    struct proxy *proxy; /* NULL: the connection has no proxy                         */
    int port;           /* to connect to                                              */
    int actor;          /* the first of its process                                   */
    enum proxy_protocol protocol;
    char server[24];    /* "redis", "redlock-2", "postgres"                           */
    int last_fault;     /* that was armed on it; -1: none                             */
    int mended_count;   /* how many of them, from 0, were mended                      */
    struct {
        uint64_t connection, number;
    } left_out[STAGE_LEFT_OUT_MAX]; /* hidden requests, whose replies are hidden too; a ring */
    unsigned left_out_next;
};

/* A fault of a server that was armed. */
struct stage_server_fault {
    const struct server_fault *fault;
    struct fault_scene scene;
};

/* A process with its actors, or one of the background load. */
struct stage_process;

/* The body of a process, called once it has its part; never returns. */
typedef void stage_body(struct stage *s, struct stage_process *p, int fd);

struct stage_process {
    stage_body *body;   /* NULL: an actor's                                           */
    struct child child; /* zeroed once it was reaped                                  */
    uint32_t pid;
    int fd;             /* to it; -1: none                                            */
    bool is_stopped, is_dead, is_open;
    dlock_fault_action armed; /* at the last point that was armed                     */
    bool has[ACTOR_THREADS_MAX][2]; /* answers that came: of the thread, of the main thread */
    struct actor_answer answers[ACTOR_THREADS_MAX][2];
    struct stage_wire lock_wires[SCENARIO_NODES_MAX], sale_wire;
    int lock_wire_count;
    struct actor_part part;
};

struct actor {
    struct stage *stage;
    struct stage_process *process;
    const char *name;
    int index, thread;
    bool is_busy;       /* something was begun that has not ended                     */
    enum actor_action begun;
    int64_t begun_ns;
    struct actor_answer last;
};

/* A request of a client to the service. */
struct stage_post {
    struct actor *actor;
    int fd;             /* -1: answered, or given up                                  */
    char outcome[32];   /* that it was answered with                                  */
};

struct stage {
    const struct scenario_setup *setup;
    struct scenario_variation vary;
    uint64_t seed;       /* of the streams of stage_draw(); 0: it has none            */
    struct background *background; /* NULL: the actors are alone                      */
    struct scenario_result *result;
    struct lab *lab;
    const char *dir;    /* of this performance's files                                */
    const struct scenario_pages *pages;
    /* The functions that print a line as it happens, and that end the whole performance. */
    void (*tell_line)(FILE *out, const struct stage *s, const struct stage_line *line);
    void (*clear)(struct stage *s);
    char records[FILES_PATH_MAX];
    char lock[DLOCK_NAME_MAX + 1];
    int64_t voucher;
    bool is_chinese, shows_wire;
    struct actor actors[SCENARIO_ACTORS_MAX];
    struct stage_process processes[SCENARIO_ACTORS_MAX];
    int actor_count, process_count;
    struct fault_history *faults; /* from outside                                     */
    struct stage_server_fault server_faults[STAGE_FAULTS_MAX];
    int server_fault_count;
    struct service services[STAGE_SERVICES_MAX];
    struct stage_post posts[STAGE_POSTS_MAX];
    const char *const *service_flags; /* of the story                                 */
    int service_count, post_count;
    int64_t begin_ns, zero_ns; /* of the performance; of play(), from which times count */
    bool is_playing;    /* false: messages on wires are not a part of the story       */
    unsigned signs;     /* that play() has seen                                       */
    pthread_mutex_t lock_of_lines;
    struct stage_line *lines;
    size_t line_count, line_room, told_count; /* told: on stdout                      */
    /* what the judge found */
    struct history history;
    struct check *check;
    struct check_verdict verdict;
    struct check_write writes[64];
    size_t write_count;
    int64_t issued, left, sold; /* of the voucher                                     */
    /* of a measurement */
    int64_t duration_ms;
    uint64_t streams[SCENARIO_ACTORS_MAX + 1]; /* states of stage_draw()              */
    int64_t told_sold;  /* answers "sold" to actors                                   */
    int64_t promised;   /* answers "queued" to actors                                 */
    struct order_told told[ORDERS_MAX]; /* of a story: these answers, with their requests */
    size_t told_order_count;
    bool told_sold_out; /* an actor got the answer "sold out"                         */
};

/* Add a line, and print it if the story is printed while it happens. */
void stage_add_line(struct stage *s, enum stage_line_kind kind, int64_t at_ns, int actor,
                    const char *english, const char *chinese);
void stage_say(struct stage *s, enum stage_line_kind kind, int actor,
               const char *english, const char *chinese);
/* Add a line for an event whose wait began at from_ns.  The messages on wires since then belong
 * to this line. */
void stage_say_since(struct stage *s, enum stage_line_kind kind, int64_t from_ns,
                     int actor, const char *english, const char *chinese);

/* Note that a client was told of an order: "queued", or "sold".  An empty request: the client does
 * not know its number. */
void stage_note_told(struct stage *s, bool is_queued, int64_t user, const char *request);

/* The actor's name in English or in Chinese. */
const char *stage_person(const struct actor *a, bool is_chinese);

/* The role of the servers that have the lock: of the story's topology, or of the lock's store.
 * LAB_ROLE_COUNT: the lock has no server. */
enum lab_role stage_lock_role(const struct stage *s);

/* The number of the server that is the `node`th of several in this performance. */
int stage_node(const struct stage *s, enum lab_role role, int node);

/* Print the lines that came since the last time. */
void stage_tell_lines(struct stage *s);

void stage_free(struct stage *s);

#endif /* LOADTEST_SCENARIO_STAGE_H */
