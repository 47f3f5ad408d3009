/* SPDX-License-Identifier: MIT */
/* result_page.c -- a page of results, with the origin of its figures. */
#include "loadtest/kit/result_page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text/version.h"
#include "loadtest/kit/files.h"
#include "loadtest/kit/machine.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/url_mask.h"

enum { DATE_MAX = 64 };

static const char *command_program = "seckill";
static int command_argc;
static char **command_argv;
static const char *asked_page;
static double load_before; /* of the minute before the command; negative: not known */

void result_page_command(const char *program, int argc, char **argv,
                         const char *asked_path)
{
    if (getloadavg(&load_before, 1) != 1)
        load_before = -1;
    asked_page = asked_path;
    command_program = program;
    command_argc = argc;
    command_argv = argv;
}

/* The first line that git prints, run where this program lies; "" if there is none. */
static void git_line(const char *arguments, char out[RESULT_COMMIT_MAX])
{
    char dir[FILES_PATH_MAX], command[FILES_PATH_MAX];
    FILE *git;

    out[0] = '\0';
    files_program_dir(dir);
    if (strchr(dir, '\'') != NULL) /* it would end the quotes below */
        return;
    files_path(command, "git -C '%s/..' %s 2>/dev/null", dir, arguments);
    git = popen(command, "re");
    if (git == NULL)
        return;
    if (fgets(out, RESULT_COMMIT_MAX, git) == NULL)
        out[0] = '\0';
    (void)pclose(git);
    out[strcspn(out, "\n")] = '\0';
}

/* Other pages of results, written before this one, do not count as changes of the program. */
void result_page_commit(char commit[RESULT_COMMIT_MAX], bool *has_changes)
{
    char change[RESULT_COMMIT_MAX];

    git_line("rev-parse --short=12 HEAD", commit);
    git_line("status --porcelain -- . ':!docs' ':!*.md'", change);
    *has_changes = change[0] != '\0';
}

static void write_commit(FILE *out)
{
    char commit[RESULT_COMMIT_MAX];
    bool has_changes;

    result_page_commit(commit, &has_changes);
    if (commit[0] == '\0')
        fprintf(out, "| commit | version %s, not in a git repository |\n", SECKILL_VERSION);
    else
        fprintf(out, "| commit | %s%s |\n", commit,
                has_changes ? ", with changes that are not committed" : "");
}

static void write_head(FILE *out, const char *title)
{
    char date[DATE_MAX] = "", machine[MACHINE_TEXT_MAX];
    time_t now = time(NULL);
    struct tm utc;

    if (gmtime_r(&now, &utc) != NULL)
        strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &utc);
    fprintf(out, "# %s\n\n| | |\n|---|---|\n| date | %s |\n", title, date);
    write_commit(out);
    fprintf(out, "| machine | %s |\n", machine_text(machine));
    if (load_before >= 0)
        fprintf(out, "| load before | %.1f threads that computed, average of one minute |\n",
                load_before);
    fprintf(out, "| command | `%s", command_program);
    for (int i = 1; i < command_argc; i++) {
        char *word = url_mask(command_argv[i - 1], command_argv[i]);

        fprintf(out, " %s", word);
        free(word);
    }
    fputs("` |\n\n", out);
}

FILE *result_page_stream(char **text, size_t *size)
{
    return memory_need(open_memstream(text, size));
}

static bool write_file(const char *path, const char *text)
{
    if (path == NULL || files_write(path, text))
        return true;
    eprintf("%s: cannot write %s: %s\n", command_program, path, strerror(errno));
    return false;
}

bool result_page_write(const char *path, const char *title, const char *body)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = result_page_stream(&text, &size);
    bool ok;

    write_head(out, title);
    fputs(body, out);
    if (fclose(out) != 0)
        abort();
    ok = write_file(path, text);
    ok = write_file(asked_page, text) && ok;
    free(text);
    return ok;
}

bool result_page_write_text(const char *title, const char *text)
{
    char *body = NULL;
    bool ok;

    while (*text == '\n')
        text++;
    if (asprintf(&body, "```text\n%s```\n", text) < 0)
        abort();
    ok = result_page_write(NULL, title, body);
    free(body);
    return ok;
}
