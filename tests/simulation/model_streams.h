/* SPDX-License-Identifier: MIT */
/* model_streams.h -- what the commands of streams and those of groups share. */
#ifndef SIMULATION_MODEL_STREAMS_H
#define SIMULATION_MODEL_STREAMS_H

#include "tests/simulation/model.h"

/* The command has another form than those that the model knows: the seed ends with its words. */
void model_stream_refuse(struct call *call);

/* An argument "MS" or "MS-SEQ"; without a number behind it, `seq` is that.  False: the reply
 * says that it is none. */
bool model_stream_id(struct call *call, size_t arg, uint64_t seq, struct stream_id *out);

void model_stream_reply_id(struct buffer *out, struct stream_id id);
void model_stream_reply(struct buffer *out, const struct stream_part *part);

/* The stream of that name; *out is NULL if there is none.  False: the reply says that the key is
 * something else. */
bool model_stream_find(struct call *call, size_t arg, struct model_stream **out);

/* The stream, which is made if it is NULL. */
struct model_stream *model_stream_made(struct call *call, size_t arg,
                                       struct model_stream *stream);

#endif /* SIMULATION_MODEL_STREAMS_H */
