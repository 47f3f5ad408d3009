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

bool lab_say_install(const char *packages)
{
    eprintf("  install it: apt-get install %s\n", packages);
    return false;
}

bool lab_server_run(struct lab *lab, struct lab_server *server,
                    struct child_options *options, const char *packages)
{
    char path[FILES_PATH_MAX];
    bool ok;
    int log;

    child_command(server->command, options->argv[0]);
    lab_log_path(lab, server, path);
    log = files_open_log(path);
    options->stdout_fd = options->stderr_fd = log;
    if (!lab->owned)
        options->death_signal = 0;
    options->keep = keep;
    options->keeper = lab;
    ok = child_start(&server->child, options);
    if (!ok) {
        bool is_missing = errno == ENOENT;

        eprintf("seckill: cannot start %s: %s\n", options->argv[0], strerror(errno));
        if (is_missing)
            (void)lab_say_install(packages);
    }
    if (log >= 0)
        close(log);
    return ok;
}
