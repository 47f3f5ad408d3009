/* SPDX-License-Identifier: MIT */
/* test_log.c -- a line that standard error does not take at once is lost and counted, and nothing
 * waits. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/descriptor.h"
#include "base/text/log.h"
#include "tests/registered.h"

enum { TEXT_MAX = 4096 };

struct reader {
    int stderr_before, end; /* the read end of the pipe that is standard error now */
    char text[TEXT_MAX];
};

static void begin(struct reader *r)
{
    int pipe_fds[2];

    assert_int_equal(pipe(pipe_fds), 0);
    r->stderr_before = dup(STDERR_FILENO);
    assert_int_equal(dup2(pipe_fds[1], STDERR_FILENO), STDERR_FILENO);
    close(pipe_fds[1]);
    r->end = pipe_fds[0];
    assert_int_equal(fcntl(r->end, F_SETFL, O_NONBLOCK), 0);
}

static void end(struct reader *r)
{
    close(r->end);
    (void)dup2(r->stderr_before, STDERR_FILENO);
    close(r->stderr_before);
}

/* Fill the pipe as other writers would. */
static void fill(void)
{
    static const char block[DLOCK_DESCRIPTOR_WHOLE];

    while (dlock_descriptor_write_now(STDERR_FILENO, block, sizeof block))
        continue;
}

static void empty(struct reader *r)
{
    while (read(r->end, r->text, sizeof r->text) > 0)
        continue;
    assert_int_equal(errno, EAGAIN);
}

static const char *read_text(struct reader *r)
{
    ssize_t got = read(r->end, r->text, sizeof r->text - 1);

    r->text[got > 0 ? got : 0] = '\0';
    return r->text;
}

TEST(a_full_pipe_loses_lines_and_stops_nobody)
{
    struct reader r;
    const char *lost, *next;

    begin(&r);
    fill();
    for (int i = 0; i < 3; i++)
        log_warn("nobody reads this");
    empty(&r);
    log_warn("somebody reads again");
    lost = strstr(read_text(&r), "warn  3 lines of the log are lost");
    next = strstr(r.text, "somebody reads again");
    log_warn("and again");
    end(&r);
    assert_non_null(lost);
    assert_true(lost < next);
    assert_null(strstr(r.text, "nobody reads this"));
}

TEST(lost_lines_are_told_once)
{
    struct reader r;

    begin(&r);
    fill();
    log_warn("nobody reads this");
    empty(&r);
    log_warn("the first");
    empty(&r);
    log_warn("the second");
    (void)read_text(&r);
    end(&r);
    assert_non_null(strstr(r.text, "the second"));
    assert_null(strstr(r.text, "lost"));
}

/* In a child, since a closed descriptor 2 is that of the test program too. */
static int descriptors_of_child(int closed)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        char byte = 0;
        int next;

        for (int fd = 0; fd <= 2; fd++)
            if (closed & (1 << fd))
                (void)close(fd);
        dlock_descriptor_keep_standard();
        next = dup(0);
        if ((closed & 1) != 0 && (read(0, &byte, 1) >= 0 || errno != EBADF))
            _exit(3);
        if ((closed & 2) != 0 && (write(1, &byte, 1) >= 0 || errno != EBADF))
            _exit(6);
        if ((closed & 4) != 0 && (write(2, &byte, 1) >= 0 || errno != EBADF))
            _exit(4);
        _exit(next > 2 ? 0 : 5);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST(closed_standard_descriptors_are_kept)
{
    for (int closed = 0; closed < 8; closed++)
        assert_int_equal(descriptors_of_child(closed), 0);
}

TEST(the_fields_of_a_thread_are_in_its_lines)
{
    const struct log_field fields[LOG_FIELDS] = {
        {"outcome", "unavailable", 0}, {NULL, "left out", 0}, {"voucher", NULL, 7}};
    struct reader r;

    begin(&r);
    assert_null(log_set_fields(fields));
    log_warn("a text");
    log_set_format(LOG_JSON);
    log_warn("an object");
    assert_ptr_equal(log_set_fields(NULL), fields);
    log_warn("without fields");
    log_set_format(LOG_TEXT);
    (void)read_text(&r);
    end(&r);
    assert_non_null(strstr(r.text, "warn  a text outcome=unavailable voucher=7\n"));
    assert_non_null(strstr(r.text, "\"an object\",\"outcome\":\"unavailable\",\"voucher\":7}\n"));
    assert_non_null(strstr(r.text, "\"without fields\"}\n"));
}
