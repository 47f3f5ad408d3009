/* SPDX-License-Identifier: MIT */
/* zookeeper_sessions.h -- a test of sessions with a lying ZooKeeper. */
#ifndef LIAR_ZOOKEEPER_SESSIONS_H
#define LIAR_ZOOKEEPER_SESSIONS_H

/* A test of cmocka; *state is a struct subject_of_lies. */
void believes_no_session(void **state);

#endif /* LIAR_ZOOKEEPER_SESSIONS_H */
