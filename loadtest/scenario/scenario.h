/* SPDX-License-Identifier: MIT */
/* scenario.h -- the contract for scenarios: a failure that an article describes, performed
 * on real servers, with the same outcome each time.
 *
 * A scenario is one file in loadtest/scenario/scenarios/, one line in scenarios.def, and rows
 * in loadtest/expect/expectations.def with the expected outcome under each lock.  It has
 * data (the participants, the texts) and one function, play(), which runs once for each
 * lock.  One such run is a performance.
 *
 * Every actor is a process of its own with a lock system of its own.  play() runs in
 * the process of the laboratory, which sends each actor its next call and reads the
 * answer.  Each connection of an actor goes through a proxy of its own, which injects
 * faults and records the messages.
 *
 * play() does not decide the outcome.  The checker of histories looks for two holders at
 * once, and the rows in PostgreSQL show the stock and the orders.  play() only reports, by
 * stage_sign(), what neither of them can see.
 *
 * Errors      If a step does not happen, the performance ends with "did not happen", which
 *             never counts as expected.  Therefore play() handles no failures, and each
 *             function returns the answer of the lock or of the database.
 * Threads     play() runs in one thread, and only this thread may call these functions.
 * Time        Wait for states, never for times: actor_await_*() and stage_need_*().
 */
#ifndef LOADTEST_SCENARIO_SCENARIO_H
#define LOADTEST_SCENARIO_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loadtest/expect/expectation.h"
#include "loadtest/lab/lab.h"
#include "db/sale_types.h"
#include "lock/fault.h"
#include "lock/record/record.h"
#include "lock/store.h"

struct stage; /* a performance: one scenario under one lock */
struct actor; /* one thread of one process                  */

enum {
    SCENARIO_LINES = 5,      /* of the story, in each language                        */
    SCENARIO_ACTORS_MAX = 16,
    SCENARIO_LEASE_MS = 500, /* unless the scenario says another one                  */
    SCENARIO_STEP_MS = 15000, /* in which every step has to come about                */
    SCENARIO_LONG_MS = 10000, /* a lease that outlasts the story                      */
    SCENARIO_TRIES = 4,      /* see stage_need_in_time()                              */
};

struct scenario {
    const char *name;      /* as in the command; the file has _ for -                 */
    const char *number;    /* of the catalogue: "S1"                                  */
    const char *title, *title_zh;
    const char *source;    /* the article or paper that describes the failure         */
    const char *story[SCENARIO_LINES], *story_zh[SCENARIO_LINES];
    const char *actors[SCENARIO_ACTORS_MAX]; /* none: Ann and Bo.  A "+" before one:
                                              * another thread of the process of the
                                              * one before it                         */
    unsigned breaks;       /* signs, any of which is a break here                     */
    int64_t stock;         /* of the voucher; 0: 1                                    */
    const struct stock_guard *guard; /* NULL: read-write, which hides nothing        */
    bool commits_lazily;   /* the shop runs with synchronous_commit off               */
    int lease_ms;          /* 0: SCENARIO_LEASE_MS                                    */
    int store_timeout_ms;  /* of one request to a store; 0: the library's             */
    int node_timeout_ms;   /* the same of redlock's; 0: store_timeout_ms, if any      */
    int earlier_fences;    /* the number of holders before the story, if the lock counts holders */
    int replicas_acknowledge; /* the number of replicas that acknowledge each grant; 0: none */
    bool has_fence_epochs; /* fences that Redis counts begin at epochs of the database */
    bool needs_own_servers; /* it injects faults into servers, so it has its own lab, as
                            * every scenario with a topology does                     */
    enum lab_topology topology; /* whose servers have the lock; CORE: the store's own.  It
                            * runs by its name or with `topologies`, not with `all`   */
    int64_t duration_ms;   /* 0: a story.  Else a measurement, see below, of that length */
    const char *published; /* of a measurement: the published figure, with its source */
    void (*play)(struct stage *s);
};

/* ---- the stage ---- */

/* The `i`th of scenario.actors. */
struct actor *stage_actor(struct stage *s, int i);

/* The catalogue's row of the lock that is performed, and whether it has all of these
 * caps. */
const dlock_variant_info *stage_lock(const struct stage *s);
bool stage_has(const struct stage *s, unsigned caps);
/* Does a watchdog renew the lock? */
bool stage_is_renewed(const struct stage *s);
enum dlock_store stage_store(const struct stage *s);

/* If the process of a holder stops or dies, does its lock end by itself?  True for a lock with
 * a lease, and for a session that ends without heartbeats.  False for a connection, which stays
 * open while its process is stopped. */
bool stage_lock_ends(const struct stage *s);

/* If a process dies or its connection is cut, does the store notice that and free the lock?
 * The store may need a moment. */
bool stage_store_hears_of_death(const struct stage *s);

int stage_lease_ms(const struct stage *s);

/* The stock guard of this performance. */
const struct stock_guard *stage_guard(const struct stage *s);

/* The name of the lock, for scenarios that use the lock without an actor. */
const char *stage_lock_name(const struct stage *s);

/* The time since play() began. */
int64_t stage_now_ms(const struct stage *s);

/* Add a line to the story about the present step, in both languages. */
void stage_tell(struct stage *s, const char *english, const char *chinese);

/* The usual first steps: Ann takes the lock and sees that one unit is left. */
void stage_open_sale(struct stage *s, struct actor *ann);

/* The steps of a master that is stopped after its replicas have copied the lock: Ann learns
 * of the fail-over, and Bo waits for the end of the copied lock.  The texts name the program
 * that chooses the new master. */
void stage_play_copied_lock(struct stage *s, const char *english, const char *chinese);

/* Report a sign that neither the checker nor the database can see, with the reason. */
void stage_sign(struct stage *s, enum scenario_sign sign, const char *why);

/* If `is_so` is false, the scenario did not happen, and the performance ends. */
void stage_need(struct stage *s, bool is_so, const char *what);

/* If `is_so` is false, perform the scenario again, at most SCENARIO_TRIES times in all.  For
 * conditions that fail on a busy machine, such as a lease that has to last for a step. */
void stage_need_in_time(struct stage *s, bool is_so, const char *what);

/* The scenario did not happen. */
void stage_fail(struct stage *s, const char *fmt, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/* Wait until the store reports to `actor` that the lock is free. */
void stage_need_free(struct stage *s, struct actor *actor);

/* Wait for `ms`, as work that takes longer than a lease.  Never use this to wait for an
 * event. */
void stage_pass_ms(struct stage *s, int64_t ms);

/* Record a fault that is made by play() itself: `what` it is, and what it breaks.
 * `pid`: of the process concerned, 0: a server. */
void stage_fault(struct stage *s, const char *what, dlock_fault_phase phase,
                 dlock_assumption breaks, int64_t pid);

/* The lab of the performance. */
struct lab *stage_lab(struct stage *s);

/* ---- measurements: scenarios that have a duration ----
 *
 * play() lets the actors repeat their steps for this duration.  Such a scenario is run by its
 * name only, not as a part of `all`.  The actions of its actors are not told, their connections
 * have no proxies, and one actor may buy many times.  The measurement counts which acknowledged
 * updates of the stock are still in it. */

/* The counts of play(), and below them those of the judge. */
struct scenario_tally {
    int64_t acknowledged; /* the client was told that its update is committed         */
    int64_t unsure;       /* COMMIT went unanswered                                   */
    int64_t stale;        /* refused by the row: an older fence                       */
    int64_t not_done;     /* the client gave up, or the database did not do it        */
    int64_t not_granted;  /* acquires that failed, or came to no grant in time        */
    int64_t stops, holders_stopped; /* clients that were paused; those at work        */
    int64_t longest_wait_ms; /* for the lock and the read, by one that was not paused */
    /* the judge's */
    bool is_counted;
    int64_t updates;      /* those acknowledged, and the unsure ones that are there   */
    int64_t lost;         /* of these                                                 */
    int at_once;          /* the most holders that worked at the same time            */
    bool is_short;        /* it took less than the scenario's duration                */
};

/* The tally in which play() counts; the progress reads it meanwhile. */
struct scenario_tally *stage_tally(struct stage *s);

/* The time for which play() repeats its steps in this performance of a measurement. */
int64_t stage_duration_ms(const struct stage *s);

/* The next number of the stream `stream`, which is from 0 to SCENARIO_ACTORS_MAX: a number from 0
 * to `below` - 1.  Each stream is the same for the same --seed under every lock. */
int64_t stage_draw(struct stage *s, int stream, int64_t below);

/* ---- what actors do ---- */

/* The answers to a write to the resource, in words. */
#define SCENARIO_SALES(X)                                                              \
    X(SOLD, "sold", "卖出")                                                            \
    X(SOLD_OUT, "sold out", "售罄")                                                    \
    X(STALE, "refused: an older fence", "拒绝：栅栏令牌太旧")                            \
    X(BUSY, "gave up: others were faster", "放弃：别人更快")                           \
    X(COUNTED, "refused: an earlier order was found", "拒绝：查到已有订单")            \
    X(DUPLICATE, "refused: one order per user", "拒绝：一人一单")                      \
    X(REPEATED, "refused: this request was sold before", "拒绝：请求已成交")           \
    X(GIVEN_UP, "given up", "中途放弃")                                               \
    X(UNSURE, "nobody knows: COMMIT went unanswered", "不确定：COMMIT 无应答")         \
    X(FAILED, "failed: the database did not do it", "失败：数据库未执行")

/* An actor holds up to so many leases of one lock at a time, one for each level. */
enum { ACTOR_LEVELS_MAX = 4 };

/* Ask for the lock once, or wait for wait_ms at most.  OK adds a level to the hold of the actor. */
dlock_status actor_try(struct actor *a);
dlock_status actor_acquire(struct actor *a, int64_t wait_ms);
/* Ask once, and again as long as there is no answer, because the old connection may be dead. */
dlock_status actor_try_until_answered(struct actor *a);
/* Acquire with a lease of `lease_ms`, which is not renewed. */
dlock_status actor_acquire_for(struct actor *a, int64_t wait_ms, int lease_ms);
/* Acquire, which must succeed; waits for half of SCENARIO_STEP_MS at most. */
void actor_enter(struct actor *a);
/* Acquire behind a holder that stands still.  If the lock of such a holder ends by itself
 * (stage_lock_ends()), wait for half of SCENARIO_STEP_MS at most; otherwise for twice the lease.
 * A lock with leases is asked for SCENARIO_LONG_MS, so that the new lease outlasts the story. */
dlock_status actor_outwait(struct actor *a);

/* Release the level that the actor acquired last. */
dlock_status actor_release(struct actor *a);
/* Release, which must succeed. */
void actor_leave(struct actor *a);
dlock_status actor_renew(struct actor *a);
/* Release a lease that was released before. */
dlock_status actor_release_again(struct actor *a);
/* Release the lease of `holder`, which is another thread of the same process. */
dlock_status actor_release_for(struct actor *a, struct actor *holder);

/* `late` asks for the lock while `early`, who has read the stock, works.  If `late` gets the
 * lock, it buys first, and then `early` buys.  Both release, `early` last.  Answers whether
 * `late` got the lock. */
bool actor_walk_in(struct actor *late, struct actor *early);

/* `stranger` asks for the lock that `holder` took after play() began.  True: the stranger was
 * refused, and the holder's lease is valid.  False: the lock broke its promise, a sign says how,
 * and both have released; play() is to return, so that the judge sees what happened.  If the
 * holder knows that its lease is over, and half of a lease has passed since play() began, the
 * story is performed again. */
bool stage_keeps_out(struct stage *s, struct actor *holder, struct actor *stranger);

/* Wait until dlock_lease_valid() is false for the actor's lease. */
void actor_await_unprotected(struct actor *a);

/* The actor's lease: is it still valid by the library, its fence, and its lock in the store. */
bool actor_is_protected(struct actor *a);
uint64_t actor_fence(const struct actor *a);
dlock_info actor_inspect(struct actor *a);

/* Does the store have the lock without an end, although the lock has leases?  Then no client has
 * set its lease. */
bool actor_finds_no_end(struct actor *a);

/* The shop: read the stock (in a transaction that stays open), then take one, write the
 * order and commit.  actor_buy() reads first if that was not done. */
int64_t actor_read(struct actor *a);
/* Read the stock in a transaction that ends at once; the connection stays open. */
int64_t actor_glance(struct actor *a);
enum sale_answer actor_buy(struct actor *a);
/* Send the same order again, as a client without an answer does. */
enum sale_answer actor_buy_again(struct actor *a);

/* Let `a` begin a purchase for `holder`, another thread of its process, under the fence of the
 * lease that `holder` has or had last.  To be ended by actor_end_buy(). */
void actor_begin_buy_for(struct actor *a, const struct actor *holder);
/* Subtract one from a counter in Redis, which begins at the stock.  In such a design Redis
 * decides who may buy, and the order is written later.  SOLD or SOLD_OUT. */
enum sale_answer actor_reserve(struct actor *a);

/* The child of a fork() of its process, which has inherited its system and its lease,
 * asks for the lock, or releases it. */
dlock_status actor_child_try(struct actor *a);
dlock_status actor_child_release(struct actor *a);

/* End the thread of the actor without a release.  A new thread, to which the system gives the same
 * pthread_t, executes the actor's next calls. */
void actor_change_thread(struct actor *a);

/* ---- begun now, answered later ---- */

void actor_begin_acquire(struct actor *a, int64_t wait_ms);
void actor_begin_release(struct actor *a);
void actor_begin_read(struct actor *a);
void actor_begin_buy(struct actor *a);
/* Wait for the answer of the call that was begun. */
dlock_status actor_end(struct actor *a);
enum sale_answer actor_end_buy(struct actor *a);
/* False: the database did not answer with the stock. */
bool actor_end_read(struct actor *a);
/* Has the call been answered?  Does not wait. */
bool actor_has_ended(struct actor *a);
/* Wait until the actor waits for the lock, in its store or in the library. */
void actor_await_waiting(struct actor *a);
/* Wait until the waiting actor was woken `times` times in this story. */
void actor_await_woken(struct actor *a, int times);

/* ---- what is done to actors ---- */

/* Stop the process, continue it, kill it: SIGSTOP, SIGCONT, SIGKILL. */
void actor_stop(struct actor *a);
void actor_continue(struct actor *a);
void actor_kill(struct actor *a);
/* The wall clock of its process is that far ahead from now on (behind, if negative). */
void actor_shift_clock(struct actor *a, int64_t ahead_ms);

/* The named points of lock/fault.h; those of the order path are reached by actor_buy().
 * Armed for this stage's lock. */
void actor_arm(struct actor *a, dlock_fault_point point, dlock_fault_action action);
/* Wait until the actor is held at the point, has stopped or died there, or went on with a
 * call that failed or a connection that was cut. */
void actor_await_point(struct actor *a, dlock_fault_point point);
void actor_let_go(struct actor *a, dlock_fault_point point);

/* Its wires: to the store of its lock, and to the shop's database. */
enum actor_wire { WIRE_LOCK, WIRE_SHOP };

/* Arm a fault of the grammar in proxy/script.h on this wire: on the wires to all servers of the
 * lock, or on the wire to one server. */
void actor_wire(struct actor *a, enum actor_wire wire, const char *fault);
void actor_wire_node(struct actor *a, int node, const char *fault);
/* Arm a fault, such as "cut to-client", for the next request for the lock. */
void actor_wire_asking(struct actor *a, const char *fault);
/* Wait until the last fault that was made on this wire has struck (on each server). */
void actor_await_wire(struct actor *a, enum actor_wire wire);
/* Cut, with a reset, the connections on which the last fault of this wire has struck; what
 * is held there is lost.  Those that are made later are as good as new. */
void actor_cut_wire(struct actor *a, enum actor_wire wire);
/* Disarm all faults of the wire.  Bytes that are held are sent on. */
void actor_wire_mend(struct actor *a, enum actor_wire wire);
/* Has the actor such a wire?  False for WIRE_LOCK of a lock without a store. */
bool actor_has_wire(const struct actor *a, enum actor_wire wire);

/* ---- what is done to servers (if the scenario has its own: needs_own_servers) ---- */

/* The name of the leader of the story's topology; the story did not happen if there is none. */
const char *stage_leader(struct stage *s);

/* The name of the server that has the lock, or of the `node`th, from 0, of several; NULL:
 * this lock has no server. */
const char *stage_lock_server(const struct stage *s, int node);

/* Prepare, begin and end a fault of `seckill fault list`.  stage_server_arm() is called before the
 * lock is taken if the help of the fault says so.  Only a fault that lasts is ended.  `server`
 * NULL: the leader, for a fault of topologies.  The key is that of the stage's lock.  by_ms is as
 * in struct fault_scene, or 0.  A fault that was not ended is undone at the end of the story. */
int stage_server_arm(struct stage *s, const char *fault, const char *server,
                     int64_t by_ms);
void stage_server_begin(struct stage *s, int number);
void stage_server_end(struct stage *s, int number);
/* arm and begin. */
int stage_server_hurt(struct stage *s, const char *fault, const char *server,
                      int64_t by_ms);

/* Wait until the standby of PostgreSQL has everything that was committed. */
void stage_await_standby(struct stage *s);

/* Stop one of PostgreSQL's own processes, such as "walwriter", until the server is
 * killed.  `standby`: of the walsenders, the one that serves that standby; "" for others. */
void stage_stop_in_postgres(struct stage *s, const char *backend_type,
                            const char *standby);

/* ---- the service, and actors as its clients ---- */

/* Start `count` processes of seckilld under the stage's lock, with these flags besides
 * (NULL at the end).  They buy in the same shop, their calls of locks are in the same
 * history, and they end with the performance. */
void stage_start_service(struct stage *s, int count, const char *const *flags);

/* A named point of the service's process number `process`, from 0. */
void stage_hold_service(struct stage *s, int process, dlock_fault_point point);
void stage_await_service(struct stage *s, int process, dlock_fault_point point);
void stage_let_service_go(struct stage *s, int process, dlock_fault_point point);

/* Send an order to that process, with this Idempotency-Key (NULL: with none); answers the
 * request's number.  An actor is one user, however often it posts. */
int actor_post(struct actor *a, int process, const char *key);
/* Wait for the answer of that request: X-Outcome, which app/outcome.def lists. */
const char *stage_answer(struct stage *s, int number);
/* Do not wait for the answer: reset the connection of the request. */
void stage_hang_up(struct stage *s, int number);

/* With --order-path=stream, before the first three actors order at process 0: they are told
 * `queued`, and the writer is held at before-commit with the first one's order in its hands. */
void stage_queue_orders(struct stage *s);

/* Kill a process of the service (SIGKILL), and start another one in its place. */
void stage_restart_service(struct stage *s, int process);

/* Stop a process of the service, which first writes what is queued. */
void stage_drain_service(struct stage *s, int process);

/* Note that the scenario itself, and not the service, told the actor "queued". */
void actor_promise(struct actor *a);

/* The pid of the actor's process. */
int64_t actor_pid(const struct actor *a);

#endif /* LOADTEST_SCENARIO_SCENARIO_H */
