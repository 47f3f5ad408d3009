/* SPDX-License-Identifier: MIT */
/* ends.c -- how the processes of a run ended. */
#include "loadtest/sale/ends.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "loadtest/kit/command.h"

enum {
    HOW_MAX = 96,
    BY_SIGNAL = 128, /* plus the signal's number: the status of a program that its handler ends */
};

static bool is_crash(int number)
{
    static const int CRASHES[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSYS};

    for (size_t i = 0; i < sizeof CRASHES / sizeof CRASHES[0]; i++)
        if (number == CRASHES[i])
            return true;
    return false;
}

/* EXIT_BUG is the status of seckilld if requests are in progress at the end of --drain-timeout. */
static bool is_after_signal(int status)
{
    return status == EXIT_VALID || status == EXIT_BUG || status == BY_SIGNAL + SIGTERM ||
           status == BY_SIGNAL + SIGINT || status == BY_SIGNAL + SIGHUP;
}

bool ends_by_bug(const struct service *service)
{
    int status = service->status;

    if (status < 0)
        return false;
    if (WIFSIGNALED(status))
        return is_crash(WTERMSIG(status));
    return WIFEXITED(status) && !is_after_signal(WEXITSTATUS(status));
}

/* "by signal 11 (Segmentation fault)" */
static void how(const struct service *service, char out[HOW_MAX])
{
    int status = service->status;

    if (status >= 0 && WIFSIGNALED(status))
        snprintf(out, HOW_MAX, "by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else if (status >= 0)
        snprintf(out, HOW_MAX, "with status %d", WEXITSTATUS(status));
    else
        snprintf(out, HOW_MAX, "in an unknown way");
}

static void look_at(struct run_result *result, const struct service *service,
                    const char *program, char *why)
{
    bool is_bug = ends_by_bug(service);
    char text[WHY_MAX], by[HOW_MAX];

    if (!service->died && !is_bug)
        return;
    how(service, by);
    snprintf(text, sizeof text, "%s %s %s; its log is %.116s", program,
             service->died ? "died in the middle of the run" : "was stopped and ended", by,
             service->log);
    if (!why || !*why)
        why_say(why, "%s", text);
    if (is_bug && !*result->bug)
        snprintf(result->bug, sizeof result->bug, "%s", text);
}

void ends_look(struct run_result *result, const struct service *services, int count,
               const struct service *front, char *why)
{
    char program[sizeof services->name + sizeof "seckilld ()"];

    for (int i = 0; i < count; i++) {
        snprintf(program, sizeof program, "seckilld (%s)", services[i].name);
        look_at(result, &services[i], program, why);
    }
    if (front)
        look_at(result, front, "HAProxy", why);
}

enum exit_code ends_exit(const struct run_result *result, enum exit_code rc)
{
    bool is_judged = rc == EXIT_VALID || rc == EXIT_UNKNOWN || rc == EXIT_THRESHOLD;

    if (!*result->bug || !is_judged || result->verdict.valid == VERDICT_INVALID)
        return rc;
    command_explain_exit(EXIT_BUG, "%s", result->bug);
    return EXIT_BUG;
}
