/* SPDX-License-Identifier: MIT */
/* servers.h -- servers in front of a real Redis, PostgreSQL and etcd, which answer as
 * script.h says.  A process has one of each. */
#ifndef LIAR_SERVERS_H
#define LIAR_SERVERS_H

/* Serve in front of the server at `url`.  Answers the URL to connect to; NULL: failed.
 * The text is valid as long as the process runs. */
const char *redis_server_start(const char *url);
const char *postgres_server_start(const char *url);
const char *etcd_server_start(const char *url);
void redis_server_stop(void);
void postgres_server_stop(void);
void etcd_server_stop(void);

#endif /* LIAR_SERVERS_H */
