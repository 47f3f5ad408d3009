/* SPDX-License-Identifier: MIT */
/* shell.h -- runs programs of the machine for tests. */
#ifndef TESTS_SERVICE_SHELL_H
#define TESTS_SERVICE_SHELL_H

/* Run a shell command, which must succeed, and return the first 8 kB of its output; valid until the
 * next call. */
const char *shell(const char *command);

#endif /* TESTS_SERVICE_SHELL_H */
