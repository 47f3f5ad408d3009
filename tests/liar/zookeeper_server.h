/* SPDX-License-Identifier: MIT */
/* zookeeper_server.h -- what the stand-in for the client library of ZooKeeper can be told to do.
 *
 * Threads     Any. */
#ifndef LIAR_ZOOKEEPER_SERVER_H
#define LIAR_ZOOKEEPER_SERVER_H

#include <stdbool.h>
#include <stdint.h>

/* A wrong answer to any request: each request gets the parts that its answer has.  The `bytes` of a
 * struct lie point to one. */
struct zookeeper_lie {
    int at_once;      /* the library refuses to send the request, with this code; 0: it sends it */
    bool is_silent;   /* no answer comes, until the handle is closed */
    int rc;
    bool keeps_path;  /* `path` stands behind the path of the request, after its execution */
    const char *path; /* NULL: none */
    const char *data;
    int len;
    bool has_stat;
    int64_t czxid;
    int version;
    const char *const *names; /* of a directory */
    int name_count;
};

/* What is wrong with the sessions of the lying server, from now on.  All zero: nothing. */
struct zookeeper_session_lie {
    bool fails_to_open;     /* the library makes no handle */
    int first_state;        /* of a new handle; 0: connected */
    bool grants_other_time;
    int granted_ms;
    int watch_type;         /* of the event when a watch fires; 0: the honest one */
};

void zookeeper_server_be(const struct zookeeper_session_lie *lie);

/* Tell all handles of the lying server that their sessions are in this state. */
void zookeeper_server_tell(int state);

/* The requests of the lying server's keepers that only keep a session, since the last
 * zookeeper_server_be().  The script does not count them. */
long zookeeper_server_beats(void);

#endif /* LIAR_ZOOKEEPER_SERVER_H */
