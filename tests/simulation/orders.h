/* SPDX-License-Identifier: MIT */
/* orders.h -- simulated processes of the service, and clients who order from them.
 *
 * A process runs app/order.c and the order paths as the service does: pools, lanes, the writer of
 * the stream. Its threads place orders one after another, as requests would. Chance chooses the
 * lock, the scope and the guards among those that are correct for the class. A subject whose name
 * ends in `-bare` has neither lock nor guards, and the audit has to find its flaws.
 *
 * When all faults are over, every thread has to get a definite answer, and the stream has to become
 * empty. Then the audit compares the database with the answers to the clients. */
#ifndef SIMULATION_ORDERS_H
#define SIMULATION_ORDERS_H

#include "app/service.h"
#include "lock/process.h"
#include "tests/simulation/orders_audit.h"
#include "tests/simulation/orders_subject.h"

enum { ORDERS_PROCESS_NAME = 16 };

struct orders_process {
    struct site site;
    struct dlock_process own;
    struct service service;
    struct config config;
    char name[ORDERS_PROCESS_NAME];
    int thread_count, ended_count;
    struct task *main;
    bool is_open, is_over;
};

struct orders_world {
    enum class class;
    struct orders_process processes[PROCESSES_MAX];
    int process_count;      /* processes that have begun so far */
    struct config settings; /* of all processes       */
    int voucher_count, user_count, round_count;
    int64_t faults_end_ns;
    struct orders_asked asked[ORDERS_ASKED_MAX];
    size_t asked_count;
};

extern struct orders_world orders;

bool orders_add_process(void);

/* Kill the process: none of its tasks runs again. */
void orders_kill(struct orders_process *process);

/* ---- orders_client.c ---- */

/* Run a thread of the process, which places orders. */
void *orders_run_client(void *process);

/* ---- orders_service.c ---- */

/* Draw the settings of a world by chance. */
void orders_draw_settings(const char *path, bool is_bare);

/* Open the service of the process; try again until the stores answer. */
void orders_open_service(struct orders_process *process);
void orders_close_service(struct orders_process *process);

/* ---- orders_faults.c ---- */

void orders_faults_begin(void);

#endif /* SIMULATION_ORDERS_H */
