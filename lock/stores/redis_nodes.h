/* SPDX-License-Identifier: MIT */
/* redis_nodes.h -- one question to several independent Redis servers, and how they
 * voted.
 *
 * A node that did not answer lately is left alone for a short while, as long as the
 * others are a majority: a dead or hung node costs one timeout now and then.
 *
 * Threads     Any, but for open and close. */
#ifndef DLOCK_REDIS_NODES_H
#define DLOCK_REDIS_NODES_H

#include "lock/stores/redis_request.h"

enum { REDIS_NODES_MAX = 15 };

struct redis_nodes {
    int count;
    int quorum;
    bool sequential; /* ask one after another instead of all at once */
    struct redis_link *links[REDIS_NODES_MAX];
};

/* The answers that count as yes; any other sound answer is no. */
enum redis_yes {
    REDIS_YES_IS_ONE,     /* 1, or OK; no is nil or 0     */
    REDIS_YES_IS_NIL,     /* nil; no is any integer       */
    REDIS_YES_IS_INTEGER, /* any integer; no is nil       */
};

/* A question: a command or a script. */
struct redis_question {
    enum redis_yes yes;
    const struct redis_command *command; /* NULL: the script */
    const struct redis_script_call *script;
};

struct redis_vote {
    uint64_t asked; /* a bit per node */
    int yes;
    int no;
    int failed;
    int unknown;          /* of the failed: the question may have been executed */
    dlock_status failure; /* if there was one: UNKNOWN, or else the last        */
    char why[REDIS_TEXT_SIZE]; /* of the last */
};

/* Links to the servers of `urls`, separated by commas; does not connect.  INVALID (also
 * for a server named twice), NOMEM. */
dlock_status redis_nodes_open(struct redis_nodes *nodes, const char *urls,
                              int timeout_ms, bool sequential);
void redis_nodes_close(struct redis_nodes *nodes);

/* Ask every node, but for those left alone. */
struct redis_vote redis_nodes_ask(struct redis_nodes *nodes,
                                  const struct redis_question *question,
                                  int64_t give_up_ns);

/* Ask the nodes in `who`; those left alone too, without waiting for them. */
struct redis_vote redis_nodes_ask_again(struct redis_nodes *nodes, uint64_t who,
                                        const struct redis_question *question,
                                        int64_t give_up_ns);

/* PING all; OK if a majority answers. */
dlock_status redis_nodes_ping(struct redis_nodes *nodes);

/* Load a script on the first node that takes it; the others learn it at need. */
dlock_status redis_nodes_load(struct redis_nodes *nodes, struct redis_script *script);

/* Of a question that finds something to do only once, as a release does: a node that has done
 * it answers no if the question is put again.  So where other nodes failed without doing it, IO
 * becomes UNKNOWN: a later no is not a proof that somebody else did it. */
void redis_vote_works_once(struct redis_vote *vote);

/* Fail because no majority of nodes answered. */
dlock_status redis_nodes_failed(const struct redis_nodes *nodes,
                                const struct redis_vote *vote);

#endif /* DLOCK_REDIS_NODES_H */
