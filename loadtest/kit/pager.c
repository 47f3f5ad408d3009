/* SPDX-License-Identifier: MIT */
/* pager.c -- the pager is a child process that reads a pipe; the shell splits $PAGER into words. */
#include "loadtest/kit/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loadtest/kit/files.h"
#include "loadtest/kit/style.h"

static pid_t pager; /* 0: none */

/* Is the program of the command installed?  True if the shell has to expand the word, since only
 * the shell knows the result. */
static bool is_installed(const char *command)
{
    char word[256], path[FILES_PATH_MAX];
    size_t length = strcspn(command, " \t");

    if (length >= sizeof word || strcspn(command, "|&;<>()$`\\\"'*?[#~=%") < length)
        return true;
    snprintf(word, sizeof word, "%.*s", (int)length, command);
    return strchr(word, '/') ? access(word, X_OK) == 0 : files_find_program(path, word);
}

/* NULL: none is wanted, or there is none. */
static const char *choose_command(void)
{
    const char *command = getenv("PAGER");

    if (!report_is_live(stdout))
        return NULL;
    if (!command)
        return is_installed("less") ? "less -FRX" : NULL;
    command += strspn(command, " \t");
    if (*command == '\0' || strcmp(command, "cat") == 0)
        return NULL;
    if (is_installed(command))
        return command;
    eprintf("seckill: $PAGER names a program that is not there: %s\n", command);
    return NULL;
}

/* The signals that are ignored here work in the pager. */
static bool start(const char *command, int input)
{
    char *const argv[] = {"sh", "-c", (char *)(uintptr_t)command, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    int rc;

    (void)sigemptyset(&defaults);
    (void)sigaddset(&defaults, SIGPIPE);
    (void)sigaddset(&defaults, SIGINT);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    rc = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    rc = rc ? rc : posix_spawnattr_setsigdefault(&attributes, &defaults);
    rc = rc ? rc : posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    rc = rc ? rc : posix_spawn(&pager, "/bin/sh", &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (rc)
        pager = 0;
    return rc == 0;
}

void pager_begin(void)
{
    const char *command = choose_command();
    int ends[2];

    if (!command || pipe2(ends, O_CLOEXEC) != 0)
        return;
    (void)setenv("LESS", "FRX", 0); /* if $PAGER is `less` alone, this lets less show colours */
    fflush(stdout);
    if (start(command, ends[0])) {
        (void)signal(SIGPIPE, SIG_IGN);
        (void)signal(SIGINT, SIG_IGN);
        (void)dup2(ends[1], STDOUT_FILENO);
        style_page_stdout();
    }
    close(ends[0]);
    close(ends[1]);
}

void pager_end(void)
{
    int nowhere;

    if (pager == 0)
        return;
    (void)fflush(stdout);
    clearerr(stdout); /* a user who leaves the pager has seen enough */
    nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0)
        close(nowhere);
    else
        close(STDOUT_FILENO);
    while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
        continue;
    pager = 0;
}
