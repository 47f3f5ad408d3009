/* SPDX-License-Identifier: MIT */
/* servers.h -- injects the faults of fault/faults.def into the lab's servers under the sale that
 * is shown.  A separate thread injects and ends them, because a server takes longer to start than
 * the page may wait.
 *
 * A server may also end without a fault, for example because a user killed its process.  The page
 * then shows the fault server-kill, and the end of this fault starts the server again.
 *
 * Threads     One calls these functions.
 */
#ifndef LOADTEST_SHOW_SERVERS_H
#define LOADTEST_SHOW_SERVERS_H

#include "loadtest/fault/server_fault.h"
#include "loadtest/show/journal.h"

/* BUSY: it is being made or undone. */
enum show_server_state { SHOW_SERVER_WELL, SHOW_SERVER_BUSY, SHOW_SERVER_SUFFERS };

/* A copy of the state of one fault. */
struct show_server_fault {
    enum show_server_state state;
    char server[16]; /* the server with the fault; "": none                           */
    int64_t since_ns;
    bool has_failed; /* it could not be made, or not be undone                            */
    bool has_ended;  /* of server-kill: the server ended, and this page did not kill it  */
};

struct show_servers; /* opaque */

/* Faults of the servers of `lab`, of which a copy is kept. */
struct show_servers *show_servers_new(const struct lab *lab, struct show_journal *journal);
/* Undo everything, end the thread, and write to `lab` which processes its servers are now. */
void show_servers_free(struct show_servers *servers, struct lab *lab);

/* The first server that keeps the locks of this role and can suffer the fault; NULL: none. */
const char *show_servers_choose(const struct show_servers *servers, enum lab_role role,
                                const struct server_fault *fault);
/* Does the lab have a server of that name which can suffer the fault? */
bool show_servers_fits(struct show_servers *servers, const char *name,
                       const struct server_fault *fault);
/* The role of a server of that name. */
enum lab_role show_servers_role(struct show_servers *servers, const char *name);
/* Does the server suffer any fault? */
bool show_servers_suffers(struct show_servers *servers, const char *name);

/* Make the fault number `i` of faults.def, or undo it: returns at once, and the journal
 * says the result later.  Before the first call the fault is WELL.  A fault that is still being
 * made is undone when it has been made; a fault that is WELL, or is being undone, stays so. */
void show_servers_begin(struct show_servers *servers, size_t i, const char *server,
                        const char *key, int64_t by_ms);
void show_servers_end(struct show_servers *servers, size_t i);

/* The state of the fault, as the journal has it. */
struct show_server_fault show_servers_look(struct show_servers *servers, size_t i);

/* Add to the journal the faults that have begun, ended or failed, and a server that has ended
 * without a fault.  PostgreSQL is not looked at, since the page counts nothing without it.
 * Answers whether any fault is not WELL. */
bool show_servers_step(struct show_servers *servers);

/* Undo all, and wait until that is done. */
void show_servers_heal(struct show_servers *servers);

#endif /* LOADTEST_SHOW_SERVERS_H */
