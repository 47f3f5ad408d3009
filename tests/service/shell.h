/* SPDX-License-Identifier: MIT */
/* shell.h -- runs programs of the machine for tests. */
#ifndef TESTS_SERVICE_SHELL_H
#define TESTS_SERVICE_SHELL_H

/* Run a command of the shell, which must succeed, and answer the first 8 kB of what it says;
 * valid until the next call. */
const char *shell(const char *command);

#endif /* TESTS_SERVICE_SHELL_H */
