/* SPDX-License-Identifier: MIT */
/* seed_times.c -- asks PostgreSQL, which reads the times, whether a sale can have them. */
#include "loadtest/command/seed_times.h"

#include <stdio.h>

#include "base/text/printable.h"
#include "db/issue.h"

enum { TIME_SHOWN_MAX = 80 /* bytes of a wrong time in a message */ };

/* EXIT_VALID: PostgreSQL reads the value of the flag as a time, or there is none.  Otherwise stderr
 * says why not. */
static enum exit_code check_time(lab_db *db, const char *flag, const char *text)
{
    char shown[TIME_SHOWN_MAX];
    bool is_time = true;

    if (text && !lab_issue_reads_time(db, text, &is_time)) {
        fprintf(stderr, "seckill seed: no voucher was made: %s\n", lab_db_error(db));
        return EXIT_UNAVAILABLE;
    }
    if (!is_time)
        fprintf(stderr,
                "seckill seed: %s: expected a time, such as \"2030-01-31 20:00+08\", not \"%s\"\n",
                flag, printable(text, shown, sizeof shown));
    return is_time ? EXIT_VALID : EXIT_USAGE;
}

static enum exit_code check_window(lab_db *db, const char *begin, const char *end)
{
    char begin_shown[TIME_SHOWN_MAX], end_shown[TIME_SHOWN_MAX];
    enum lab_window window;

    if (!lab_issue_judge_window(db, begin, end, &window)) {
        fprintf(stderr, "seckill seed: no voucher was made: %s\n", lab_db_error(db));
        return lab_db_is_lost(db) ? EXIT_UNAVAILABLE : EXIT_USAGE;
    }
    if (window == LAB_WINDOW_GOOD)
        return EXIT_VALID;
    printable(begin ? begin : "a minute ago", begin_shown, sizeof begin_shown);
    printable(end ? end : "a year later", end_shown, sizeof end_shown);
    if (window == LAB_WINDOW_IS_REVERSED)
        fprintf(stderr,
                "seckill seed: the sale would end (--end: %s) before it begins (--begin: %s)\n",
                end_shown, begin_shown);
    else
        fprintf(stderr,
                "seckill seed: a sale needs a beginning and an end that are not infinite, not "
                "--begin: %s and --end: %s\n",
                begin_shown, end_shown);
    return EXIT_USAGE;
}

enum exit_code seed_times_check(lab_db *db, const char *begin, const char *end)
{
    enum exit_code rc = check_time(db, "--begin", begin);

    if (rc == EXIT_VALID)
        rc = check_time(db, "--end", end);
    return rc == EXIT_VALID ? check_window(db, begin, end) : rc;
}
