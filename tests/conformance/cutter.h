/* SPDX-License-Identifier: MIT */
/* cutter.h -- a proxy between a lock and its server, whose connections a law can cut.
 *
 * The cutter serves one connection at a time, over TCP on the loopback. */
#ifndef CONFORMANCE_CUTTER_H
#define CONFORMANCE_CUTTER_H

enum cutter_mode {
    CUTTER_OPEN,   /* the cutter passes all bytes on */
    CUTTER_DEAF,   /* requests reach the server; the cutter drops the answers */
    CUTTER_SILENT, /* the cutter passes nothing on and closes no connection */
    CUTTER_CLOSED, /* the cutter closes each new connection at once */
};

/* Start the cutter in front of `target` ("127.0.0.1:port"). Returns the address to which a client
 * connects instead of `target`. */
const char *cutter_start(const char *target);

void cutter_set(enum cutter_mode mode);

/* Close every connection at both ends, and pass all bytes of later connections on. */
void cutter_cut(void);

/* The same in front of a postgresql:// URL, whose host is an address of this machine. */
const char *cutter_start_before(const char *url);

/* Close every connection at both ends, and each connection that is made later. */
void cutter_refuse(void);

/* Write `with`, which is as long as `what`, in the place of `what` in every later answer of the
 * server.  NULL: change no answer. Both are read until the next call. */
void cutter_replace(const char *what, const char *with);

/* Let all bytes pass; do nothing if no cutter runs. */
void cutter_open(void);
void cutter_stop(void);

#endif /* CONFORMANCE_CUTTER_H */
