/* SPDX-License-Identifier: MIT */
/* test_output_file.c -- outputs that are files, links, FIFOs, devices and sockets. */
/* cmocka.h needs these four first. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/text/output_file.h"
#include "loadtest/kit/files.h"
#include "tests/registered.h"

static char dir[FILES_PATH_MAX];

static int make_dir(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/seckill-output-XXXXXX");
    (void)umask(022);
    return mkdtemp(dir) != NULL ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    return files_remove_tree(dir) ? 0 : -1;
}

static const char *in_dir(const char *name)
{
    static char paths[4][FILES_PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 4];

    files_join(path, dir, name);
    return path;
}

static void has(const char *name, const char *text)
{
    char *found = files_read(in_dir(name), NULL);

    assert_non_null(found);
    assert_string_equal(found, text);
    free(found);
}

static mode_t mode_of(const char *name)
{
    struct stat st;

    assert_int_equal(lstat(in_dir(name), &st), 0);
    return st.st_mode;
}

static size_t entry_count(void)
{
    glob_t found;
    size_t count;

    assert_int_equal(glob(in_dir("*"), 0, NULL, &found), 0);
    count = found.gl_pathc;
    globfree(&found);
    return count;
}

TEST_WITH(make_dir, remove_dir, a_file_is_replaced_and_keeps_its_mode)
{
    assert_true(files_write(in_dir("page"), "one"));
    assert_int_equal(mode_of("page"), S_IFREG | 0644);
    assert_int_equal(chmod(in_dir("page"), 0640), 0);
    assert_true(files_write(in_dir("page"), "two"));
    has("page", "two");
    assert_int_equal(mode_of("page"), S_IFREG | 0640);
    assert_true(files_write_secret(in_dir("page"), "three"));
    assert_int_equal(mode_of("page"), S_IFREG | 0600);
    assert_int_equal(entry_count(), 1);
}

TEST_WITH(make_dir, remove_dir, a_file_of_the_user_beside_it_stays)
{
    assert_true(files_write(in_dir("page.new"), "mine"));
    assert_true(files_write(in_dir("page"), "text"));
    has("page.new", "mine");
    assert_int_equal(entry_count(), 2);
}

TEST_WITH(make_dir, remove_dir, a_link_stays_and_its_file_is_replaced)
{
    assert_int_equal(mkdir(in_dir("below"), 0755), 0);
    assert_int_equal(symlink("below/second", in_dir("first")), 0);
    assert_int_equal(symlink("target", in_dir("below/second")), 0);
    for (int i = 0; i < 2; i++) { /* the target is missing, then it exists */
        assert_true(files_write(in_dir("first"), i == 0 ? "one" : "two"));
        has("below/target", i == 0 ? "one" : "two");
        assert_true(S_ISLNK(mode_of("first")));
        assert_true(S_ISLNK(mode_of("below/second")));
        assert_true(S_ISREG(mode_of("below/target")));
    }
    assert_int_equal(entry_count(), 2);
    assert_int_equal(symlink("ring", in_dir("ring")), 0);
    assert_false(files_write(in_dir("ring"), "text"));
    assert_int_equal(errno, ELOOP);
}

TEST_WITH(make_dir, remove_dir, a_fifo_is_written_and_stays)
{
    char text[8] = "";
    int reader;

    assert_int_equal(mkfifo(in_dir("pipe"), 0620), 0);
    assert_int_equal(symlink("pipe", in_dir("link")), 0);
    reader = open(in_dir("pipe"), O_RDONLY | O_NONBLOCK);
    assert_true(files_write(in_dir("pipe"), "one"));
    assert_true(files_write_secret(in_dir("link"), "two"));
    assert_int_equal(read(reader, text, sizeof text), 6);
    assert_string_equal(text, "onetwo");
    assert_int_equal(mode_of("pipe"), S_IFIFO | 0600); /* 0620 less the umask */
    assert_true(S_ISLNK(mode_of("link")));
    assert_int_equal(entry_count(), 2);
    close(reader);
}

/* Only root can make a device.  Another user finds the test of the FIFO sufficient. */
TEST_WITH(make_dir, remove_dir, a_full_device_is_told_and_stays)
{
    if (mknod(in_dir("full"), S_IFCHR | 0600, makedev(1, 7)) != 0)
        return;
    assert_false(files_write(in_dir("full"), "text"));
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(mode_of("full"), S_IFCHR | 0600);
    assert_int_equal(entry_count(), 1);
}

TEST_WITH(make_dir, remove_dir, a_socket_and_a_directory_are_refused)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%.80s/socket", dir);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_false(files_write(in_dir("socket"), "text"));
    assert_int_equal(errno, ENXIO);
    assert_true(S_ISSOCK(mode_of("socket")));
    assert_false(files_write(dir, "text"));
    assert_int_equal(errno, EISDIR);
    close(fd);
}

TEST_WITH(make_dir, remove_dir, an_open_descriptor_is_written)
{
    char path[32];
    int fd = open(in_dir("gone"), O_RDWR | O_CREAT, 0644);
    char text[8] = "";

    assert_int_equal(unlink(in_dir("gone")), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    assert_true(files_write(path, "text"));
    assert_int_equal(pread(fd, text, sizeof text, 0), 4);
    assert_string_equal(text, "text");
    assert_int_equal(mkdir(in_dir("other"), 0755), 0);
    assert_int_equal(entry_count(), 1);
    close(fd);
}

TEST_WITH(make_dir, remove_dir, an_output_that_is_not_whole_changes_nothing)
{
    struct output_file file;

    assert_true(files_write(in_dir("page"), "old"));
    assert_true(output_file_open(&file, in_dir("page"), false));
    fputs("half", file.stream);
    errno = EINTR;
    assert_false(output_file_close(&file, false));
    assert_int_equal(errno, EINTR);
    has("page", "old");
    assert_int_equal(entry_count(), 1);
}
