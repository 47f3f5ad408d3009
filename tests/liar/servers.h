/* SPDX-License-Identifier: MIT */
/* servers.h -- lying servers in front of a real Redis, PostgreSQL and etcd, whose answers script.h
 * chooses. A process has one server of each kind. */
#ifndef LIAR_SERVERS_H
#define LIAR_SERVERS_H

/* Start the server in front of the server at `url`. Returns the URL for clients; NULL after a
 * failure. The text is valid as long as the process runs. */
const char *redis_server_start(const char *url);
const char *postgres_server_start(const char *url);
const char *etcd_server_start(const char *url);
const char *zookeeper_server_start(const char *url); /* replaces the client library */
void redis_server_stop(void);
void postgres_server_stop(void);
void etcd_server_stop(void);
void zookeeper_server_stop(void);

#endif /* LIAR_SERVERS_H */
