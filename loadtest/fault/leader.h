/* SPDX-License-Identifier: MIT */
/* leader.h -- steps that several faults share, for the leader of a topology: the master that
 * Sentinels name, the leader of an ensemble. */
#ifndef LOADTEST_FAULT_LEADER_H
#define LOADTEST_FAULT_LEADER_H

#include "loadtest/fault/server_fault.h"

/* The topology of the scene's server. */
enum lab_topology fault_leader_topology(const struct fault_scene *scene);

/* Is the scene's server the leader now?  False: the leader is named as server_fault_complain()
 * does. */
bool fault_leader_is_it(const struct fault_scene *scene);

/* Ask a Redis server of the lab.  False: the server does not answer, or its answer does not begin
 * with `begins` or does not contain `text`; the reason is said. */
bool fault_leader_ask(const struct fault_scene *scene, const struct lab_server *server,
                      const char *command, const char *begins, const char *text);

/* Another node of the cluster whose INFO replication has this text; NULL: none answers
 * so. */
const struct lab_server *fault_leader_find(const struct fault_scene *scene,
                                           const char *text);

/* How long another leader may take. */
enum { FAULT_LEADER_OTHER_MS = 20000 };

/* Wait until another server is the leader, and add to the note which one, and how long after
 * since_ns.  False: none came within limit_ms, or the program was interrupted; nothing is said. */
bool fault_leader_other_comes(struct fault_scene *scene, int64_t since_ns, int64_t limit_ms);

/* The same for FAULT_LEADER_OTHER_MS.  False: none came, which is said. */
bool fault_leader_await_other(struct fault_scene *scene, int64_t since_ns);

/* Wait until the topology stands with all its servers, and add that to the note. */
bool fault_leader_await_whole(struct fault_scene *scene);

#endif /* LOADTEST_FAULT_LEADER_H */
