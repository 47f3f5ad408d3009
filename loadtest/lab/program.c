/* SPDX-License-Identifier: MIT */
/* program.c -- starts the program of a server, whatever its kind. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "loadtest/lab/lab.h"

static bool keep(void *lab, const struct child *c)
{
    (void)c; /* the process is a child of one of the lab's servers */
    return lab_state_write(lab);
}

bool lab_server_run(struct lab *lab, struct lab_server *server,
                    struct child_options *options)
{
    int log = lab_open_log(lab, server);
    int error = 0;

    options->stdout_fd = options->stderr_fd = log;
    if (!lab->owned)
        options->death_signal = 0;
    options->keep = keep;
    options->keeper = lab;
    if (!child_start(&server->child, options)) {
        error = errno;
        fprintf(stderr, "seckill: cannot start %s: %s\n", options->argv[0],
                strerror(error));
    }
    if (log >= 0)
        close(log);
    errno = error;
    return error == 0;
}
