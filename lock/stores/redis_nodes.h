/* SPDX-License-Identifier: MIT */
/* redis_nodes.h -- one question to several independent Redis servers, and the count of
 * their answers.
 *
 * A node that did not answer is not asked for a short time, as long as the other nodes
 * are a majority.  So most requests do not wait for a dead or hung node.
 *
 * Threads     Any, but for open and close. */
#ifndef DLOCK_REDIS_NODES_H
#define DLOCK_REDIS_NODES_H

#include "lock/stores/redis_rights.h"

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
    uint64_t asked;    /* a bit per node */
    uint64_t agreed;   /* the nodes that said yes */
    uint64_t answered; /* the nodes that said yes or no */
    int yes;
    int no;
    int failed;
    int unknown;          /* failed nodes that may have executed the question */
    int refused;          /* failed nodes that will refuse again */
    dlock_status failure; /* if a node failed: UNKNOWN or otherwise IO if any was so,
                           * otherwise the last */
    char why[REDIS_TEXT_SIZE]; /* the reason of the last failure */
};

/* Make links to the servers of `urls`, separated by commas, without connecting.  OK;
 * INVALID (also if a server is named twice); NOMEM. */
dlock_status redis_nodes_open(struct redis_nodes *nodes, const char *urls,
                              int timeout_ms, bool sequential);
void redis_nodes_close(struct redis_nodes *nodes);

/* Ask every node, except those that did not answer lately (see above).  Returns the
 * count of the answers. */
struct redis_vote redis_nodes_ask(struct redis_nodes *nodes,
                                  const struct redis_question *question,
                                  int64_t give_up_ns);

/* Ask the nodes whose bit is set in `who`.  Nodes that did not answer lately are asked
 * too, but not waited for. */
struct redis_vote redis_nodes_ask_again(struct redis_nodes *nodes, uint64_t who,
                                        const struct redis_question *question,
                                        int64_t give_up_ns);

/* Ask every node for the rights of the user.  OK if nothing is missing on a majority, otherwise a
 * failure. */
dlock_status redis_nodes_check(struct redis_nodes *nodes, struct redis_rights rights);

/* Load a script on the first node that accepts it.  The other nodes get its text with
 * the first call that they do not know.  OK, or a failure. */
dlock_status redis_nodes_load(struct redis_nodes *nodes, struct redis_script *script);

/* For a question that has an effect only once, such as a release: a node that has
 * executed it answers no when it is asked again.  So if some nodes have executed it and
 * others failed, the failure IO becomes UNKNOWN, because a later no does not prove that
 * another client freed the lock. */
void redis_vote_works_once(struct redis_vote *vote);

/* An attempt that answers `st` was taken back with a release: `release` is its vote, and
 * `granted` the nodes that the attempt had got.  Returns `st`; or UNKNOWN, if one of
 * these nodes has not answered the release, so that it may still hold the lock. */
dlock_status redis_nodes_taken_back(uint64_t granted, const struct redis_vote *release,
                                    dlock_status st);

/* Fail with the vote's failure, and with a reason that names the nodes: no majority
 * answered. */
dlock_status redis_nodes_failed(const struct redis_nodes *nodes,
                                const struct redis_vote *vote);

#endif /* DLOCK_REDIS_NODES_H */
