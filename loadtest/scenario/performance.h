/* SPDX-License-Identifier: MIT */
/* performance.h -- what the files of scenario_*.c share: a stage and what is on it. */
#ifndef LOADTEST_SCENARIO_PERFORMANCE_H
#define LOADTEST_SCENARIO_PERFORMANCE_H

#include <pthread.h>

#include "base/text/exit_codes.h"
#include "loadtest/check/check.h"
#include "loadtest/fault/history.h"
#include "loadtest/fault/server_fault.h"
#include "loadtest/lab/lab.h"
#include "loadtest/proxy/proxy.h"
#include "loadtest/sale/service.h"
#include "loadtest/scenario/background/load.h"
#include "loadtest/scenario/participants/process_inside.h"
#include "loadtest/scenario/variation.h"
#include "lock/record/recorder.h"

struct stage;

/* Writes pages; the rooms above this one have it.  False: said on stderr why. */
struct scenario_pages {
    /* A performance as a part of a page, in page.part among its files. */
    bool (*write_part)(const struct stage *s);
    /* The page at `path` from `count` parts, of the scenario (or of all) named `name`. */
    bool (*write_page)(const char *path, const char *name, char *const *parts,
                       size_t count);
};

enum { SCENARIO_NODES_MAX = LAB_REDIS_COUNT - 1, SCENARIO_LINE_MAX = 600,
       STAGE_LEFT_OUT_MAX = 16, STAGE_SERVICES_MAX = 4,
       STAGE_POSTS_MAX = 16, STAGE_FAULTS_MAX = 8 };

/* A scenario under one lock and one stock guard. */
struct scenario_cast {
    const struct scenario *scenario;
    const dlock_variant_info *lock;
    const char *guard;
    const struct scenario_expectation *expected;
};

/* What came of it, in memory that the process that performs it shares with the command. */
struct scenario_result {
    bool has_happened;
    bool was_spoilt;  /* it may happen if it is performed again                        */
    int tries;
    char spoilt[300];   /* why the try before this one did not count; "": there was none  */
    enum scenario_outcome outcome;
    unsigned signs;
    unsigned gave_way;  /* set of 1 << dlock_assumption: what did not hold, as the
                         * checker says of what it calls a break                      */
    bool is_expected;
    enum exit_code rc;
    struct scenario_tally tally; /* of a measurement                                   */
    char why[400];      /* of a scenario that did not happen, or came out unexpected   */
    int64_t took_ns;
    int64_t holds, faults;    /* of the story, as the checker and the records have them  */
    int64_t crowd_holds, crowd_failures;
    int64_t stalls, delays; /* of the crowd's processes and wires; of its wires          */
    enum crowd_blame crowd_blame;
    char crowd_why[300];
};

/* What happened on stage, and on the wires. */
enum stage_line_kind { LINE_TOLD, LINE_ACT, LINE_FAULT, LINE_WIRE };

struct stage_line {
    enum stage_line_kind kind;
    int64_t from_ns;    /* since when it was waited for, if it was; otherwise as at_ns  */
    int64_t at_ns;
    int actor;          /* index; -1: none                                             */
    char text[2][SCENARIO_LINE_MAX]; /* English and Chinese                            */
};

/* A wire of an actor's process, and its proxy. */
struct stage_wire {
    struct stage *stage;
    struct proxy *proxy; /* NULL: there is none between them                           */
    int port;           /* to connect to                                               */
    int actor;          /* the first of its process                                    */
    enum proxy_protocol protocol;
    char server[24];    /* "redis", "redlock-2", "postgres"                            */
    int last_fault;     /* that was armed on it; -1: none                              */
    int mended_count;   /* how many of them, from 0, were mended                       */
    struct {
        uint64_t connection, number;
    } left_out[STAGE_LEFT_OUT_MAX]; /* requests whose replies go unseen too; a ring    */
    unsigned left_out_next;
};

/* A fault of a server that was armed. */
struct stage_server_fault {
    const struct server_fault *fault;
    struct fault_scene scene;
};

/* A process with its actors, or one of the crowd. */
struct stage_process;

/* What it does once it has its part, and never returns from. */
typedef void stage_body(struct stage *s, struct stage_process *p, int fd);

struct stage_process {
    stage_body *body;   /* NULL: an actor's                                            */
    struct child child; /* zeroed once it was reaped                                   */
    uint32_t pid;
    int fd;             /* to it; -1: none                                             */
    bool is_stopped, is_dead, is_open;
    dlock_fault_action armed; /* at the last point that was armed                       */
    bool has[PLAYER_HANDS_MAX][2]; /* answers that came: of the hand, of the main thread */
    struct player_answer answers[PLAYER_HANDS_MAX][2];
    struct stage_wire lock_wires[SCENARIO_NODES_MAX], shop_wire;
    int lock_wire_count;
    struct player_part part;
};

struct actor {
    struct stage *stage;
    struct stage_process *process;
    const char *name;
    int index, hand;
    bool is_busy;       /* something was begun that has not ended                      */
    enum player_what begun;
    int64_t begun_ns;
    struct player_answer last;
};

/* A request of a client to the service. */
struct stage_post {
    struct actor *actor;
    int fd;             /* -1: answered, or given up                                   */
    char outcome[32];   /* that it was answered with                                   */
};

struct stage {
    const struct scenario_cast *cast;
    struct scenario_variation vary;
    struct crowd *crowd; /* NULL: the actors are alone                                 */
    struct scenario_result *result;
    struct lab *lab;
    const char *dir;    /* of this performance's files                                 */
    const struct scenario_pages *pages;
    char records[FILES_PATH_MAX];
    char lock[DLOCK_NAME_MAX + 1];
    int64_t voucher;
    bool is_chinese, shows_wire;
    struct actor actors[SCENARIO_ACTORS_MAX];
    struct stage_process processes[SCENARIO_ACTORS_MAX];
    int actor_count, process_count;
    struct fault_history *faults; /* from outside                                      */
    struct stage_server_fault server_faults[STAGE_FAULTS_MAX];
    int server_fault_count;
    struct service services[STAGE_SERVICES_MAX];
    struct stage_post posts[STAGE_POSTS_MAX];
    int service_count, post_count;
    int64_t begin_ns, zero_ns; /* of the performance; of play(), from which times count */
    bool is_playing;    /* what goes over wires before and after is not the story      */
    unsigned signs;     /* that play() has seen                                        */
    pthread_mutex_t lock_of_lines;
    struct stage_line *lines;
    size_t line_count, line_room, told_count; /* told: on stdout                       */
    /* what the judge found */
    struct history history;
    struct check *check;
    struct check_verdict verdict;
    struct check_write writes[64];
    size_t write_count;
    int64_t issued, left, sold; /* of the voucher                                      */
    /* of a measurement */
    int64_t duration_ms;
    uint64_t streams[SCENARIO_ACTORS_MAX + 1]; /* states of stage_draw()               */
    int64_t told_sold;  /* how often an actor was told so                              */
    bool told_sold_out; /* was anybody?                                                */
};

/* ---- scenario_stage.c ---- */

/* Perform it: in a process of its own, which this call is the whole life of.  Writes
 * what there is to stdout, and page.part in `dir`. */
struct stage_options {
    struct lab *lab;
    const char *dir;
    const struct scenario_pages *pages;
    bool is_chinese, shows_wire;
    struct scenario_variation vary; /* zeroed: as it is written, without a crowd        */
    unsigned number;    /* makes names different from those of other performances      */
    int64_t duration_ms; /* of a measurement; 0: the scenario's                        */
    uint64_t seed;
};
enum exit_code stage_perform(const struct scenario_cast *cast,
                             const struct stage_options *options,
                             struct scenario_result *result);

/* Write down a line, and print it if it is told as it happens. */
void stage_add_line(struct stage *s, enum stage_line_kind kind, int64_t at_ns, int actor,
                    const char *english, const char *chinese);
void stage_say(struct stage *s, enum stage_line_kind kind, int actor,
               const char *english, const char *chinese);
/* Of what was waited for since then, so that what went over the wires meanwhile belongs
 * to it. */
void stage_say_since(struct stage *s, enum stage_line_kind kind, int64_t from_ns,
                     int actor, const char *english, const char *chinese);

/* ---- scenario_actor.c ---- */

/* Tell it and take its answer, without telling of it. */
const struct player_answer *actor_act(struct actor *a, const struct player_order *what);

/* Which server the `node`th of several is in this performance. */
int stage_node(const struct stage *s, int node);

/* ---- scenario_wires.c ---- */

/* The proxies of a process, after all processes were forked; fills in part's URLs.
 * STAGE_NOBODY: those of the crowd, whose talk is not the story. */
enum { STAGE_NOBODY = -1 };
void stage_open_wires(struct stage *s, struct stage_process *p, int actor);
void stage_close_wires(struct stage_process *p);

/* ---- scenario_process.c ---- */

/* Fork the process of an actor.  No thread may have been started yet. */
void stage_fork(struct stage *s, struct stage_process *p);
/* Tell it, and take its answer: of a hand, or of its main thread. */
void process_tell(struct stage *s, struct stage_process *p,
                  const struct player_order *order);
const struct player_answer *process_await(struct stage *s, const struct actor *a,
                                          enum player_what what);
/* Has the answer of the actor's hand come?  Takes what is there, does not wait. */
bool process_has_answered(struct stage *s, const struct actor *a);
/* End one; a busy one does not listen, and is killed.  Without a process: nothing. */
void process_end(struct stage_process *p, bool is_busy);
/* End them all: those that can are told to, the others are killed. */
void stage_end_processes(struct stage *s);

/* ---- scenario_server.c ---- */

/* Undo every fault of servers.  False: one of them is not as it was, said on stderr. */
bool stage_disarm_servers(struct stage *s);

/* ---- scenario_service.c ---- */

/* Stop the service, if there is one.  False: it did not stop as it should. */
bool stage_end_service(struct stage *s);

/* ---- scenario_judge.c ---- */

/* From the history and the database to the outcome. */
void stage_judge(struct stage *s);

/* ---- scenario_measure.c ---- */

bool scenario_is_measured(const struct scenario *scenario);

/* Set the length, and begin the streams of stage_draw(). */
void stage_begin_measuring(struct stage *s, const struct stage_options *options);

/* After the history and the rows are read: what became of the updates.  False: nobody
 * can tell, and result->why says the reason. */
bool stage_count_updates(struct stage *s);

/* The bounds between which the true share lies, in percent, with a probability of 95 %:
 * `part` of `whole` were seen (Wilson's score interval). */
void scenario_interval(int64_t part, int64_t whole, double *low, double *high);

/* ---- scenario_table.c ---- */

/* Measurements as one table: on a terminal row by row, and in dir/summary.md and
 * summary.json at the end. */
void table_head(FILE *out, const struct scenario *scenario);
void table_row(FILE *out, const struct scenario_cast *cast,
               const struct scenario_result *r);
void table_foot(FILE *out);
/* "15 of 93 acknowledged updates lost: 16.1 %, 95 % interval ..." */
void table_sentence(FILE *out, const struct scenario_tally *tally);

struct table_line {
    const struct scenario_cast *cast;
    const struct scenario_result *result;
};
/* False: said on stderr why. */
bool table_write(const char *dir, const struct table_line *lines, size_t count,
                 int64_t duration_ms, uint64_t seed);

/* ---- scenario_tell.c ---- */

void tell_opening(FILE *out, const struct stage *s);
void tell_line(FILE *out, const struct stage *s, const struct stage_line *line);
void tell_ending(FILE *out, const struct stage *s);
void tell_verdict(FILE *out, const struct scenario_cast *cast,
                  const struct scenario_result *r, bool is_chinese);

/* ---- scenario_cast.c ---- */

/* Every performance of a scenario: one for each lock that is spoken of (and in `locks`,
 * unless that is NULL) and each guard that it is expected under (and is `guard`, unless
 * that is NULL).  The caller frees *out. */
size_t scenario_cast_all(const struct scenario *scenario, const char *locks,
                         const char *guard, struct scenario_cast **out);

const char *scenario_outcome_name(enum scenario_outcome outcome, bool is_chinese);
const char *scenario_sign_name(int number, bool is_chinese);
const char *scenario_sale_name(enum scenario_sale sale, bool is_chinese);

#endif /* LOADTEST_SCENARIO_PERFORMANCE_H */
