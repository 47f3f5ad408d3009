/* SPDX-License-Identifier: MIT */
/* reference.h -- what the files behind write-reference share. */
#ifndef TOOLS_REFERENCE_H
#define TOOLS_REFERENCE_H

#include <stdio.h>

/* A cell of a table.  No bar and no end of a line may stand in it, so they are replaced.
 * `text` may be NULL: an empty cell. */
void reference_cell(FILE *out, const char *text);
/* The same as code. */
void reference_code_cell(FILE *out, const char *text);
void reference_end_row(FILE *out);

/* Pages.  They are apart from the laboratory's, whose headers have names of their own for
 * what the service has, too. */
void reference_locks(FILE *out);
void reference_routes(FILE *out);
void reference_outcomes(FILE *out);
void reference_metrics(FILE *out);

/* The names of the outcomes for the scripts of wrk: a table whose keys they are. */
void reference_outcomes_in_lua(FILE *out);

#endif /* TOOLS_REFERENCE_H */
