/* SPDX-License-Identifier: MIT */
/* output_file.c -- a new file beside the old one, or the device itself. */
#include "base/text/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/random.h"

enum {
    LINKS_MAX = 40,   /* as many as the kernel follows */
    NAMES_TRIED = 100 /* other files may have the first names that are drawn */
};

/* Put the path that a link names in place of the link's own path. */
static bool step(char path[PATH_MAX], const char *link)
{
    const char *slash = strrchr(path, '/');
    size_t dir = slash != NULL && link[0] != '/' ? (size_t)(slash - path) + 1 : 0;

    if (dir + strlen(link) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(path + dir, link, strlen(link) + 1);
    return true;
}

/* Not realpath(), which does not follow a link whose target is still missing. */
static bool follow_links(char path[PATH_MAX])
{
    char link[PATH_MAX];

    for (int i = 0; i < LINKS_MAX; i++) {
        ssize_t n = readlink(path, link, sizeof(link) - 1);

        if (n < 0) /* EINVAL: the path is no link */
            return errno == EINVAL || errno == ENOENT;
        link[n] = '\0';
        if (!step(path, link))
            return false;
    }
    errno = ELOOP;
    return false;
}

bool output_file_find(const char *path, char target[PATH_MAX])
{
    struct stat st, found;
    bool exists = stat(path, &st) == 0;

    target[0] = '\0';
    if (!exists && errno != ENOENT)
        return false;
    if (exists && (S_ISDIR(st.st_mode) || S_ISSOCK(st.st_mode))) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : ENXIO;
        return false;
    }
    if (exists && !S_ISREG(st.st_mode))
        return true;
    if (!step(target, path) || !follow_links(target))
        return false;
    /* A descriptor of a deleted file, as /dev/fd/3 may be one, leads to a name that is no longer
     * its own. */
    if (exists && (stat(target, &found) != 0 || found.st_ino != st.st_ino ||
                   found.st_dev != st.st_dev))
        target[0] = '\0';
    return true;
}

/* Make a file of a name that no other file has.  open() makes it and not mkostemp(), because
 * open() obeys the umask. */
static int make_fresh(struct output_file *file, mode_t mode)
{
    int fd = -1;

    for (int i = 0; i < NAMES_TRIED && fd < 0; i++) {
        int n = snprintf(file->fresh, sizeof(file->fresh), "%s.%06x", file->target,
                         (unsigned)dlock_random_below(1U << 24));

        if ((size_t)n >= sizeof(file->fresh)) {
            errno = ENAMETOOLONG;
            return -1;
        }
        fd = open(file->fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    return fd;
}

static int open_fresh(struct output_file *file, bool is_secret)
{
    struct stat st;
    bool keeps_mode = !is_secret && stat(file->target, &st) == 0;
    int fd = make_fresh(file, keeps_mode || is_secret ? 0600 : 0644);
    int reason;

    if (fd < 0 || !keeps_mode || fchmod(fd, st.st_mode & 0777) == 0)
        return fd;
    reason = errno;
    (void)unlink(file->fresh);
    (void)close(fd);
    errno = reason;
    return -1;
}

bool output_file_open(struct output_file *file, const char *path, bool is_secret)
{
    int fd;

    *file = (struct output_file){.stream = NULL};
    if (!output_file_find(path, file->target))
        return false;
    if (file->target[0] != '\0')
        fd = open_fresh(file, is_secret);
    else
        fd = open(path, O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return false;
    file->stream = fdopen(fd, "w");
    if (file->stream == NULL)
        abort(); /* there is no memory */
    return true;
}

bool output_file_close(struct output_file *file, bool is_whole)
{
    int reason = errno;
    bool ok = !ferror(file->stream) && is_whole;

    ok = fclose(file->stream) == 0 && ok;
    file->stream = NULL;
    ok = ok && (file->target[0] == '\0' || rename(file->fresh, file->target) == 0);
    if (is_whole)
        reason = errno;
    if (!ok && file->target[0] != '\0')
        (void)unlink(file->fresh);
    errno = reason;
    return ok;
}
