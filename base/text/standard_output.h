/* SPDX-License-Identifier: MIT */
/* standard_output.h -- whether all that a program has printed was written. */
#ifndef BASE_STANDARD_OUTPUT_H
#define BASE_STANDARD_OUTPUT_H

#include <stdbool.h>

/* Flush stdout at the end of a program.  True: all was written, or the reader of the pipe has
 * left, as `head` does when it has enough.  False: stderr says that standard output cannot be
 * written, and why. */
bool standard_output_end(const char *program);

/* The same for output that went another way and met the errno `reason`; 0: it met none. */
bool standard_output_tell(const char *program, int reason);

#endif /* BASE_STANDARD_OUTPUT_H */
