/* SPDX-License-Identifier: MIT */
/* process_inside.h -- the process of an actor, and the orders to it and their answers.
 *
 * Its main thread reads orders from a socket.  An order for one thread (a lease belongs
 * to the thread that acquired it) is carried out by that thread; any other order, such as the
 * release of a named point, is carried out at once, also while every thread hangs. */
#ifndef LOADTEST_SCENARIO_PARTICIPANTS_PROCESS_INSIDE_H
#define LOADTEST_SCENARIO_PARTICIPANTS_PROCESS_INSIDE_H

#include "loadtest/scenario/participants/part.h"

enum { ACTOR_THREADS_MAX = SCENARIO_ACTORS_MAX };

/* The orders of an actor: id, in words, in Chinese.  The main thread executes those from
 * AT_ONCE on. */
#define ACTOR_ORDERS(X)                                                               \
    X(ACQUIRE, "asks for the lock", "申请锁")                                          \
    X(RELEASE, "releases the lock", "释放锁")                                          \
    X(RELEASE_AGAIN, "releases once more what it has released", "再次释放已释放的锁")  \
    X(RELEASE_FOR, "releases the lease of another thread", "释放另一个线程的租约")      \
    X(RENEW, "renews its lease", "续期")                                               \
    X(READ, "reads the stock", "读库存")                                               \
    X(GLANCE, "looks at the stock", "看一眼库存")                                    \
    X(BUY, "buys one", "买一张")                                                       \
    X(BUY_AGAIN, "sends the same order again", "重发同一订单")                         \
    X(RESERVE, "takes one from the counter in Redis", "在 Redis 计数器里预扣一张")      \
    X(CHILD_TRY, "forks, and the child asks for the lock", "fork 后子进程申请锁")      \
    X(CHILD_RELEASE, "forks, and the child releases the lock", "fork 后子进程释放锁")  \
    X(AT_ONCE, "", "")                                                                 \
    X(OPEN, "opens its lock system", "打开锁系统")                                     \
    X(IS_PROTECTED, "looks at its lease", "查看自己的租约")                            \
    X(INSPECT, "looks at the lock in its store", "查看存储里的锁")                     \
    X(ARM, "arms a named point", "布置断点")                                           \
    X(LET_GO, "goes on from a named point", "从断点继续")                              \
    X(LOOK, "looks at a named point", "查看断点")                                      \
    X(CHANGE_THREAD, "ends its thread, and another one takes its place and its id",    \
      "线程结束，由 id 相同的新线程接替")                                              \
    X(SHIFT_CLOCK, "has a wall clock that jumps", "的系统时钟跳变")                      \
    X(FREE, "frees the lock by force", "强制释放锁")                                   \
    X(END, "ends", "退出")

enum actor_action {
#define X(id, english, chinese) ACTOR_##id,
    ACTOR_ORDERS(X)
#undef X
};

struct actor_order {
    enum actor_action what;
    int thread;
    int64_t wait_ms;
    int lease_ms;
    uint64_t fence;      /* of a sale; 0: that of what the thread holds                 */
    int64_t ahead_ms;    /* of SHIFT_CLOCK                                            */
    int holder;          /* of RELEASE_FOR: the thread whose lease it is                */
    dlock_fault_point point;
    dlock_fault_action action;
};

struct actor_answer {
    enum actor_action what;
    int thread;
    dlock_status status;
    enum sale_answer sale;
    int64_t stock;
    uint64_t fence;      /* of what was acquired                                      */
    int64_t user;        /* of an order                                               */
    char request[96];    /* its number                                                */
    int level;           /* how many it holds now                                     */
    bool is_so;          /* the answer to IS_PROTECTED and LOOK; of CHANGE_THREAD: the new
                          * thread has the id                                     */
    dlock_info info;
    char error[200];     /* the message of the library or the database about a failure */
};

const char *actor_words(enum actor_action what, bool is_chinese);

/* Open the lock system that the part speaks of. */
dlock_status actor_open(dlock_system **out, const struct actor_part *part);

/* Run an actor until the socket ends or the order END comes; never return. */
void actor_process_run(int fd, const struct actor_part *part) __attribute__((noreturn));

#endif /* LOADTEST_SCENARIO_PARTICIPANTS_PROCESS_INSIDE_H */
