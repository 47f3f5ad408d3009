/* SPDX-License-Identifier: MIT */
/* model_streams.h -- functions that the commands of streams and of groups share. */
#ifndef SIMULATION_MODEL_STREAMS_H
#define SIMULATION_MODEL_STREAMS_H

#include "tests/simulation/model.h"

/* End the seed because the command has a form that the model does not know; the text names the
 * form. */
void model_stream_refuse(struct call *call);

/* Read an argument "MS" or "MS-SEQ"; for "MS" alone the sequence number is `seq`. Returns false if
 * the argument is none; the reply then says so. */
bool model_stream_id(struct call *call, size_t arg, uint64_t seq, struct stream_id *out);

void model_stream_reply_id(struct buffer *out, struct stream_id id);
void model_stream_reply(struct buffer *out, const struct stream_part *part);

/* Find the stream of that name; *out is NULL if there is none. Returns false if the key is of
 * another kind; the reply then says so. */
bool model_stream_find(struct call *call, size_t arg, struct model_stream **out);

/* Return the stream, or a new one if `stream` is NULL. */
struct model_stream *model_stream_made(struct call *call, size_t arg,
                                       struct model_stream *stream);

#endif /* SIMULATION_MODEL_STREAMS_H */
