/* SPDX-License-Identifier: MIT */
/* report.c -- `seckill report`: a run, or two, as one HTML file; and the same at the end of
 * every command that leaves a run. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text/settings.h"
#include "loadtest/command/commands.h"
#include "loadtest/command/run_report.h"
#include "loadtest/kit/command.h"
#include "loadtest/report/report.h"

struct report_settings {
    const char *out;
};

#define AT(field) offsetof(struct report_settings, field)
static const struct setting settings[] = {
    OPTION(TEXT, "out", AT(out), .output = SETTING_WRITES_STREAM, .meta = "FILE",
           .help = "the file to write; -: standard output; default: report.html in RUN, or "
                   "comparison.html in RUN2 if two runs are given"),
};

const struct setting_program command_report_program = {
    .name = "seckill report",
    .synopsis = "RUN [RUN2] [OPTIONS]",
    .intro =
        "Write a run of compare, load, bench, bench-locks, scenario or matrix as one HTML\n"
        "file, which needs no network and no other file, and prints on A4.  The report has the\n"
        "verdict, speeds, latency, the sale over time, the orders that each layer stopped,\n"
        "settings, machine, and the command that repeats the run.  With two runs it has the\n"
        "differences, and says which of them are more than noise.  RUN is a directory below\n"
        "runs/.\n\n"
        "  seckill report runs/latest\n"
        "  seckill report runs/20260131T120000Z runs/20260131T130000Z --out=both.html",
    EXITS({EXIT_VALID, "the report was written, with all data of the run"},
          {EXIT_UNKNOWN, "the report was written, but data is missing, damaged or of another "
                         "format; the report names it"},
          {EXIT_USAGE, "the command line is wrong, or RUN has no data of a run and no --out "
                       "is given; nothing is written"},
          {EXIT_CANNOT_WRITE, NULL}),
    SETTINGS(settings),
    .max_operands = 2,
};

/* The report would go into a directory that is probably no run, and may hold a report.html that
 * somebody else wrote. */
static bool is_run(const struct run_data *data)
{
    if (!run_data_is_none(data))
        return true;
    report_tell_problems(data);
    fputs("  nothing was written; name the directory of a run, such as runs/latest, or a file in "
          "it\n",
          stderr);
    return false;
}

/* The run may come from elsewhere, with a link or a FIFO under the name of its report. */
static bool is_own_file(const char *path)
{
    struct stat st;

    if (lstat(path, &st) != 0 || S_ISREG(st.st_mode))
        return true;
    eprintf("seckill report: %s is no regular file; name another one with --out\n", path);
    return false;
}

static enum exit_code run(const struct settings *s, const void *values)
{
    const struct report_settings *v = values;
    struct run_data a = {0}, b = {0};
    bool is_two = s->operand_count == 2, is_printed = v->out && strcmp(v->out, "-") == 0;
    char path[FILES_PATH_MAX];
    enum exit_code rc = EXIT_USAGE;

    if (s->operand_count == 0) {
        eprintf("seckill report: name a run, such as runs/latest\n");
        return EXIT_USAGE;
    }
    if (run_data_read(&a, s->operands[0]) != EXIT_USAGE &&
        (!is_two || run_data_read(&b, s->operands[1]) != EXIT_USAGE) &&
        (v->out || (is_run(&a) && is_run(&b)))) {
        files_join(path, is_two ? b.dir : a.dir, is_two ? "comparison.html" : "report.html");
        if (v->out)
            files_path(path, "%s", v->out);
        rc = !v->out && !is_own_file(path)
                 ? EXIT_CANNOT_WRITE
                 : report_write(is_printed ? NULL : path, &a, is_two ? &b : NULL);
        if (rc != EXIT_CANNOT_WRITE && !is_printed)
            printf("report: %s\n", path);
    }
    run_data_free(&a);
    run_data_free(&b);
    return rc;
}

COMMAND_FUNCTION(report, command_run)

enum exit_code run_report(FILE *say, const char *dir, const char *kind, enum exit_code status)
{
    struct run_data data = {0};
    char path[FILES_PATH_MAX];
    bool ok = run_data_write(dir, kind, status);

    if (ok) {
        files_join(path, dir, "report.html");
        ok = run_data_read(&data, dir) != EXIT_USAGE &&
             report_write(path, &data, NULL) != EXIT_CANNOT_WRITE;
        run_data_free(&data);
    }
    if (ok)
        fprintf(say, "report: %s\n", path);
    fflush(say); /* the exit status, in words on stderr, comes last */
    return ok || status != EXIT_VALID ? status : EXIT_CANNOT_WRITE;
}
