/* SPDX-License-Identifier: MIT */
/* lab.h -- the private servers: one PostgreSQL cluster, six Redis servers, and the topologies
 * that are asked for, such as a ZooKeeper.
 *
 * A lab is a directory.  Its file state.json names the processes of the lab and their ports; its
 * file env has the variables by which a shell or a service uses them.  A lab is either kept
 * (started by `seckill lab up`, and outlives that command) or owned (started by a command for
 * itself, and ends with that command).
 */
#ifndef LOADTEST_LAB_LAB_H
#define LOADTEST_LAB_LAB_H

#include <stdbool.h>

#include "base/text/exit_codes.h"
#include "db/lab_db.h"
#include "loadtest/kit/child.h"
#include "loadtest/kit/files.h"
#include "lock/store.h"

enum {
    LAB_SECRET_LEN = 32,
    LAB_PART_MAX = 64,
    LAB_WHY_MAX = 256,
    LAB_ADDRESS_MAX = 640,
    LAB_PEER_PORT_MAX = 2,
    LAB_READY_MS = 30000, /* the longest start of a server                         */
};

/* The kind of a server is its program: LAB_IS_REDIS. */
enum lab_kind {
#define KIND(id, file) LAB_IS_##id,
#include "loadtest/lab/kinds.def"
#undef KIND
    LAB_KIND_COUNT
};

/* The topologies that a server can belong to: the core of every lab, or one that `lab up` is asked
 * for. */
enum lab_topology {
    LAB_TOPOLOGY_CORE,
#define TOPOLOGY(id, file, flag, adds) LAB_TOPOLOGY_##id,
#include "loadtest/lab/topologies.def"
#undef TOPOLOGY
    LAB_TOPOLOGY_COUNT
};

/* A set of topologies: LAB_WITH(SENTINEL) | LAB_WITH(ENSEMBLE).  The core needs no bit. */
typedef unsigned lab_topologies;
#define LAB_WITH(id) (1u << LAB_TOPOLOGY_##id)

/* The purpose of a server: LAB_POSTGRES, LAB_REDIS for locks on one server, LAB_REDLOCK for locks
 * on several servers, LAB_ZOOKEEPER, and so on.  LAB_COUNT_REDLOCK is the number of servers of a
 * role. */
enum lab_role {
#define ROLE(id, topology, kind, count, peer_ports, name) LAB_##id,
#include "loadtest/lab/roles.def"
#undef ROLE
    LAB_ROLE_COUNT
};

enum {
#define ROLE(id, topology, kind, count, peer_ports, name) LAB_COUNT_##id = (count),
#include "loadtest/lab/roles.def"
#undef ROLE
#define ROLE(id, topology, kind, count, peer_ports, name) + (count)
    LAB_SERVER_MAX = 0
#include "loadtest/lab/roles.def"
#undef ROLE
};

enum {
    LAB_PARTITIONS_MAX = 16,
    LAB_DATABASE_URL_MAX = 256,
    LAB_DATABASE_URLS_MAX = LAB_PARTITIONS_MAX * LAB_DATABASE_URL_MAX,
};

struct lab_server {
    enum lab_role role;
    int node;      /* of several with that role, from 0 on                         */
    char name[16]; /* "postgres", "redis", "redlock-1", ...; its log is NAME.log   */
    struct child child;
    char command[CHILD_COMMAND_MAX]; /* of the child's program, "redis-server"     */
    int port;
    int placeholder_fd; /* holds the port until the server listens; or -1          */
    int peer_ports[LAB_PEER_PORT_MAX];           /* 0: it has fewer                */
    int peer_placeholder_fds[LAB_PEER_PORT_MAX];
    bool own_clock;     /* Redis: started so that its wall clock can be moved      */
    char replaces[16];  /* of the spare: the server whose append-only file it keeps */
};

struct lab {
    char id[LAB_SECRET_LEN + 1];  /* of this lab, never of another one               */
    char dir[FILES_PATH_MAX];     /* absolute                                       */
    char data_root[FILES_PATH_MAX]; /* the data of PostgreSQL and ZooKeeper; may be outside
                                     * `dir`                                        */
    struct lab_server servers[LAB_SERVER_MAX]; /* in the order in which they were added;
                                                * see lab_server() for one of them   */
    int server_count;
    int partition_count; /* databases that vouchers are spread over, at least 1         */
    struct lab_server spare; /* an additional Redis server, while a fault needs one */
    char lab_password[LAB_SECRET_LEN + 1];
    char service_password[LAB_SECRET_LEN + 1];
    char redis_password[LAB_SECRET_LEN + 1];
    bool owned;
    int lock_fd; /* held while the lab is changed, and as long as an owned one lives */
};

/* --dir if given, else $SECKILL_LAB_DIR, else .lab */
const char *lab_choose_dir(const char *given);

/* Use the kept lab in `dir`, and start its servers that have ended again.  If there is no kept
 * lab, start one in `dir` that dies with this program.  `wanted`: the topologies that the lab
 * must have; a missing topology is started, and stderr says so.  Anything but EXIT_VALID: the
 * reason is on stderr, and nothing is left behind.  EXIT_CANNOT_WRITE: the lab's directory, or
 * the directory of $SECKILL_LAB_DATA, cannot be made or written. */
enum exit_code lab_open(struct lab *lab, const char *dir, lab_topologies wanted);

/* Use the lab in `dir`, which must be up.  EXIT_VALID; EXIT_UNAVAILABLE: stderr says why. */
enum exit_code lab_use(struct lab *lab, const char *dir);

/* Take an owned lab down; leave a kept one alone.  A zeroed lab is fine. */
void lab_close(struct lab *lab);

/* `seckill lab up`: make one that outlives this program, unless it is up already.  Servers
 * of a kept lab that have ended are started again, as lab_mend() does. */
enum exit_code lab_keep(struct lab *lab, const char *dir, lab_topologies wanted,
                        bool *was_up);

/* `seckill lab down`: whatever is left of the lab in `dir`, dead or alive.  EXIT_USAGE: `dir` is
 * no lab; EXIT_UNAVAILABLE: another command uses it, or nobody knows its processes.  Nothing was
 * removed then, and stderr says why.  EXIT_CANNOT_WRITE: its servers were stopped, and stderr names
 * the files that could not be removed; the next call tries again. */
enum exit_code lab_remove(const char *dir, bool *was_there);

/* A process that removes a kept lab whose starter ends without removing it, for example by SIGKILL.
 * The starter is this process, with every process that it forks later and that does not become
 * another program: the lab is removed when the last of them has ended. */
struct lab_keeper {
    int line;             /* its end tells the keeper; never passed to another program   */
    struct child process; /* pid 0: there is none                                        */
};

/* Call it before lab_keep(), in a process with one thread.  False: the reason is on stderr. */
bool lab_keeper_start(struct lab_keeper *keeper, const char *dir);
/* With `is_removed` the keeper ends and removes nothing.  Without it the keeper removes the lab
 * now, and tries for half a minute to get the lock of the lab; it may go on after this call and
 * after this process.  A zeroed keeper is fine. */
void lab_keeper_end(struct lab_keeper *keeper, bool is_removed);

/* Stop one server of a lab that is up and start it again on its port; a Redis server
 * without its data.  EXIT_VALID, EXIT_USAGE (no such server), EXIT_UNAVAILABLE, both said on
 * stderr; EXIT_INTERRUPTED: a signal ended the wait for the new process, which runs on.  Of a kept
 * lab stderr says so. */
enum exit_code lab_restart(struct lab *lab, const char *name);

/* Kill one server, as a loss of power would; lab_restart() starts it again, with the data
 * that it wrote.  EXIT_VALID, EXIT_USAGE (no such server), EXIT_UNAVAILABLE, both said on
 * stderr. */
enum exit_code lab_kill(struct lab *lab, const char *name);

/* Start the servers of the lab that have ended, each with the data that it wrote, and say
 * so on stderr.  EXIT_VALID; EXIT_UNAVAILABLE, EXIT_INTERRUPTED: the reason is on stderr, and
 * the data stays, too. */
enum exit_code lab_mend(struct lab *lab);

/* Spread vouchers over so many databases of the lab's PostgreSQL, which are made.  EXIT_USAGE:
 * there are more already.  Anything but EXIT_VALID: the reason is on stderr. */
enum exit_code lab_spread(struct lab *lab, int count);

/* The server of that name, "redis" or "redlock-3"; NULL: the lab has none. */
struct lab_server *lab_find_server(struct lab *lab, const char *name);

/* The server of that role; of several, the server with the number `node`, from 0 on.  NULL: the
 * lab has none.  Its port; 0: none.  Its name; "": none.  The number of servers of the role in a
 * lab that has the role. */
struct lab_server *lab_server(struct lab *lab, enum lab_role role, int node);
int lab_port(const struct lab *lab, enum lab_role role, int node);
const char *lab_server_name(const struct lab *lab, enum lab_role role, int node);
int lab_role_count(enum lab_role role);

enum lab_kind lab_role_kind(enum lab_role role);
enum lab_kind lab_server_kind(const struct lab_server *server);
const char *lab_kind_name(enum lab_kind kind); /* "redis" */

/* The URLs of the databases for the laboratory's own role: of partition 0; of any partition; of
 * all partitions, with blanks between them, as --database-url takes them. */
void lab_database_url(const struct lab *lab, char *out, size_t size);
void lab_partition_url(const struct lab *lab, int partition, char *out, size_t size);
void lab_database_urls(const struct lab *lab, char out[LAB_DATABASE_URLS_MAX]);
/* A connection to the database of partition 0, which the caller closes by lab_db_close().
 * NULL: the reason is on stderr, behind the name of the program. */
lab_db *lab_database_open(const struct lab *lab, const char *program);
/* The URLs of all partitions for the service's role. */
void lab_service_urls(const struct lab *lab, char out[LAB_DATABASE_URLS_MAX]);
/* The URL of partition 0 for the service's role, with this port: the server's, or a proxy's. */
void lab_service_url(const struct lab *lab, int port, char *out, size_t size);

/* The topologies beside the core that a --lock needs: the topology of its store.  An unknown lock
 * needs none. */
lab_topologies lab_lock_needs(const char *lock);

/* The topologies that the lab has.  Does the lab have all of the wanted ones? */
lab_topologies lab_has_which(const struct lab *lab);
bool lab_has(const struct lab *lab, lab_topologies wanted);

/* The topology of a role; the flag of `seckill lab up` for it, without "--" ("": the core). */
enum lab_topology lab_role_topology(enum lab_role role);
const char *lab_topology_flag(enum lab_topology topology);

/* Do the servers of that topology work as one, with nobody missing?  False: why says what
 * is wrong, such as "ensemble-2 is in no quorum".  True for one that the lab has not. */
bool lab_topology_stands(const struct lab *lab, enum lab_topology topology,
                         char why[LAB_WHY_MAX]);

/* The server of that topology that decides for the others now: the master, the leader.
 * NULL: none does, or the lab has no such topology. */
struct lab_server *lab_topology_leader(struct lab *lab, enum lab_topology topology);
/* Do its servers choose a leader?  False: its servers have their parts from outside, as a standby
 * has. */
bool lab_topology_has_leaders(enum lab_topology topology);
/* Its address (LAB_ADDRESS_MAX), if a client asks the servers where they are, as it asks
 * Sentinels.  False: the address is the list of the servers of lab_topology_role(). */
bool lab_topology_address(const struct lab *lab, enum lab_topology topology, char *out);
/* The role of its servers that keep locks. */
enum lab_role lab_topology_role(enum lab_topology topology);
/* Ask a topology for another leader, without waiting for it.  False: why says what was
 * answered, or that it elects none on request. */
bool lab_topology_promote(const struct lab *lab, enum lab_topology topology,
                          char why[LAB_WHY_MAX]);

/* The part of a server among its peers, such as "master"; "": none, or it did not say. */
void lab_server_describe(const struct lab *lab, const struct lab_server *server,
                         char out[LAB_PART_MAX]);

/* --- for the files in lab/ --- */

/* A server that does not run yet: its name and role. */
void lab_server_init(struct lab_server *server, enum lab_role role, int node);
/* Add the servers of a topology to lab->servers. */
void lab_servers_add(struct lab *lab, enum lab_topology topology);
/* Add the server of that name.  NULL: none is called so, or it is there already. */
struct lab_server *lab_server_add(struct lab *lab, const char *name);
/* Has the lab all servers of the core, and of each topology all servers or none? */
bool lab_servers_are_whole(const struct lab *lab);

/* state.json, env and the lock. */
enum lab_state {
    LAB_STATE_NONE,    /* there is no state.json                                     */
    LAB_STATE_ALIEN,   /* it is another program's                                    */
    LAB_STATE_UNKNOWN, /* it may be a lab's, and does not say which processes run, or another
                        * user may have written it                                   */
    LAB_STATE_ENDABLE, /* a lab of another version, or damaged: *lab is enough for its end */
    LAB_STATE_READ,    /* *lab is whole                                              */
};
/* Why `path` is not trusted: it is not this user's, it is a symbolic link, or its mode has one of
 * the bits in `writers`.  NULL: it is trusted. */
enum { LAB_WRITERS = 022, LAB_OTHERS = 077 };
const char *lab_distrust(const char *path, mode_t writers);
/* Read the state.json in `dir`.  The children of *lab are processes whose pid, start time and
 * command are those of the file. */
enum lab_state lab_state_find(struct lab *lab, const char *dir);
/* Is it LAB_STATE_READ? */
bool lab_state_read(struct lab *lab, const char *dir);
/* Say on stderr what is wrong with an ALIEN, UNKNOWN or ENDABLE one, and what to do. */
void lab_state_complain(enum lab_state state, const char *dir);
bool lab_state_write(const struct lab *lab);
bool lab_env_write(const struct lab *lab);
/* False: another command is changing this lab; stderr says so. */
bool lab_lock(struct lab *lab);
void lab_unlock(struct lab *lab);
/* The same for a lab whose lock this command may already hold, as with an owned lab; pass
 * *was_held to lab_change_end().  Afterwards the pids of the servers are those of state.json,
 * because another command may have restarted servers. */
bool lab_change_begin(struct lab *lab, bool *was_held);
void lab_change_end(struct lab *lab, bool was_held);
/* The name of the first server that does not run.  NULL: all servers run. */
const char *lab_ended_server(const struct lab *lab);
bool lab_is_up(const struct lab *lab);
void lab_log_path(const struct lab *lab, const struct lab_server *server, char *out);

/* How many ports a server of that role has for its peers. */
int lab_role_peer_ports(enum lab_role role);
/* Choose free loopback ports and keep them: port, peer_ports and the placeholders are
 * set.  False: the reason is on stderr. */
bool lab_reserve_port(struct lab_server *server);
void lab_release_port(struct lab_server *server);
/* A connection to 127.0.0.1:port, which waits for an answer for half a second at most;
 * -1 (and errno): none. */
int lab_connect(int port);

/* Start the servers of a lab that is new, and wait for them; add topologies to a lab that is
 * up.  With the lab's lock held.  EXIT_VALID; EXIT_UNAVAILABLE, EXIT_CANNOT_WRITE,
 * EXIT_INTERRUPTED: the reason is on stderr, and the added servers are gone. */
enum exit_code lab_bring_up(struct lab *lab, lab_topologies wanted);
enum exit_code lab_add(struct lab *lab, lab_topologies missing);

/* Functions for a server of any kind.  lab_server_start() is for every start but the first of
 * PostgreSQL; afterwards state.json names the process.  lab_server_wait() waits until the server
 * answers; false: it ended, took too long, or the program is to stop, and the end of its log is on
 * stderr.  lab_server_bring_up() starts and waits.  lab_server_kill() kills every process of the
 * server, as a loss of power would; none of them runs when it returns. */
bool lab_server_answers(const struct lab *lab, const struct lab_server *server);
bool lab_server_start(struct lab *lab, struct lab_server *server);
/* Run the program of a server, with its output in NAME.log.  The start function of every kind
 * ends with this call.  state.json names the process before the program begins, so a command that
 * is killed leaves no unknown server; options->death_signal is set for a lab that must not
 * outlive its command.  False: the reason is on stderr; if the program is missing, the packages
 * that have it are named. */
bool lab_server_run(struct lab *lab, struct lab_server *server,
                    struct child_options *options, const char *packages);
/* Say on stderr how to install those Debian packages.  Always false. */
bool lab_say_install(const char *packages);
bool lab_server_wait(struct lab *lab, struct lab_server *server);
bool lab_server_bring_up(struct lab *lab, struct lab_server *server);
bool lab_server_kill(const struct lab *lab, struct lab_server *server);
/* Remove the file by which a server that has been killed looks as if it ran. */
void lab_server_forget(const struct lab *lab, const struct lab_server *server);
void lab_server_show_failure(const struct lab *lab, const struct lab_server *server,
                             const char *what);

/* Start lab->spare, an additional Redis server on a free port, and wait for it.  The spare may
 * take the place of `replaced`, so its append-only file has the path at which a restart of
 * `replaced` looks: the path of a running server cannot be changed.  False: the reason is on
 * stderr, and there is no spare.  lab_spare_end() does nothing without a spare. */
bool lab_spare_start(struct lab *lab, const char *name, const struct lab_server *replaced);
void lab_spare_end(struct lab *lab);

/* The file in which a Redis server saves its data, if it is told to; and the file that says by
 * how much its clock is ahead, if the server has a clock of its own. */
void lab_redis_data_path(const struct lab *lab, const struct lab_server *server,
                         char *out);
void lab_redis_clock_path(const struct lab *lab, const struct lab_server *server,
                          char *out);
/* Write the setting of a Redis server or a Sentinel that it works in the directory of the lab. */
void lab_redis_print_dir(const struct lab *lab, FILE *out);
/* The directory of its append-only file, if it was told to keep one. */
void lab_redis_log_path(const struct lab *lab, const struct lab_server *server, char *out);
/* By how much the wall clock of a server with own_clock is ahead of the machine's, from
 * now on.  False: the reason is on stderr. */
bool lab_redis_set_clock(const struct lab *lab, const struct lab_server *server,
                         int64_t ahead_ms);
/* The login of replicas and Sentinels at the Redis servers of --sentinel. */
#define LAB_PEER_USER "peer"
/* Of --cluster, the master that has the slot of this key is the leader.  Locks with "{scenario}" in
 * their names are in that slot. */
#define LAB_CLUSTER_KEY "scenario"

/* Does a Redis server or a Sentinel say PONG? */
bool lab_redis_answers(const struct lab *lab, const struct lab_server *server);
/* Does a Redis server refuse every client beside those that it has?  A fault that was killed, such
 * as client-limit, leaves it so. */
bool lab_redis_is_full(const struct lab *lab, const struct lab_server *server);
/* Send one line, such as "INFO replication", to a Redis server or a Sentinel of the lab.  The
 * answer is unchanged, with its "$N".  False: the answer was not complete or does not fit, or the
 * password was refused.  An error from the server is an answer. */
bool lab_redis_ask(const struct lab *lab, int port, const char *command, char *answer,
                   size_t size);

/* Ask the server on that port by a command of four letters, such as "dump"; an answer
 * that does not fit is cut.  False: not everything came. */
bool lab_zookeeper_ask(int port, const char *four_letters, char *answer, size_t size);

/* Find PostgreSQL's newest programs: PATH of one of them, such as "initdb". */
bool lab_postgres_program(char *out, const char *name);
/* The system user whose rights PostgreSQL and PgBouncer get; NULL: the user of this process. */
const struct child_user *lab_postgres_user(void);
/* Write a file with a secret, which that user owns.  False: the reason is on stderr. */
bool lab_postgres_write(const char *path, const char *text);
/* Make data_root, below the directory that $SECKILL_LAB_DATA names if it is set.  False:
 * stderr names the directory that cannot be used. */
bool lab_postgres_make_root(struct lab *lab);
/* Start initdb in data_root, as server->child; it ends by itself. */
bool lab_postgres_init(struct lab *lab, struct lab_server *server);
/* Roles, database, schema. */
bool lab_postgres_fill(const struct lab *lab);

#endif /* LOADTEST_LAB_LAB_H */
