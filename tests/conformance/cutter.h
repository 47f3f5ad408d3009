/* SPDX-License-Identifier: MIT */
/* cutter.h -- a proxy between a lock and its server, whose connections a law can cut.
 *
 * The cutter serves one connection at a time, over TCP on the loopback. */
#ifndef CONFORMANCE_CUTTER_H
#define CONFORMANCE_CUTTER_H

enum cutter_mode {
    CUTTER_OPEN,   /* everything passes                                          */
    CUTTER_DEAF,   /* requests arrive; answers are thrown away                   */
    CUTTER_SILENT, /* nothing arrives anywhere, and nobody is told               */
    CUTTER_CLOSED, /* who connects is hung up on                                 */
};

/* Begin, in front of `target` ("127.0.0.1:port"). Answers what to connect to
 * instead. */
const char *cutter_start(const char *target);

void cutter_set(enum cutter_mode mode);

/* Hang up every connection, on both sides, and let everything pass from now on. */
void cutter_cut(void);

/* The same in front of a postgresql:// URL, whose host is an address of this machine. */
const char *cutter_start_before(const char *url);

/* Hang up every connection, on both sides, and on everybody who comes. */
void cutter_refuse(void);

/* Let everything pass; nothing happens if there is none. */
void cutter_open(void);
void cutter_stop(void);

#endif /* CONFORMANCE_CUTTER_H */
