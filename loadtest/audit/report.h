/* SPDX-License-Identifier: MIT */
/* report.h -- the verdict of an audit, for people. */
#ifndef LOADTEST_AUDIT_REPORT_H
#define LOADTEST_AUDIT_REPORT_H

#include <stdio.h>

#include "loadtest/audit/audit.h"

/* Print the verdict, and then each finding with its examples. */
void report_verdict(FILE *out, const struct audit_verdict *verdict, const char *source);

#endif /* LOADTEST_AUDIT_REPORT_H */
