/* SPDX-License-Identifier: MIT */
/* outputs.c -- checks by trying that outputs can be written.  A file mode is not
 * enough: root may write everywhere, but not on a read-only file system. */
#include "base/text/outputs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Room for the name of a probe behind the longest path. */
enum { PROBE_MAX = 32 };

/* The directory that `path` stands in. */
static void parent_of(const char *path, char out[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t len = slash != NULL ? (size_t)(slash - path) : 1;

    if (slash == path)
        len = 1;
    memcpy(out, slash != NULL ? path : ".", len);
    out[len] = '\0';
}

/* Try to make a file in the directory.  False, and errno: it is not possible. */
static bool has_room_for_more(const char *dir)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof(path), "%.*s/.seckill-XXXXXX", PATH_MAX - PROBE_MAX, dir);
    return mkdtemp(path) != NULL && rmdir(path) == 0;
}

static bool is_possible(const char *path, enum setting_output output)
{
    char parent[PATH_MAX];
    struct stat st;

    if (strlen(path) >= PATH_MAX - PROBE_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    parent_of(path, parent);
    if (stat(path, &st) != 0)
        return errno == ENOENT && has_room_for_more(parent);
    if (output == SETTING_WRITES_DIRECTORY) {
        errno = ENOTDIR;
        return S_ISDIR(st.st_mode) && has_room_for_more(path);
    }
    errno = EISDIR;
    return !S_ISDIR(st.st_mode) && has_room_for_more(parent);
}

bool outputs_are_possible(const struct settings *s, const void *values,
                          char why[OUTPUTS_WHY_MAX])
{
    why[0] = '\0';
    for (size_t i = 0; i < s->program->count; i++) {
        const struct setting *setting = &s->program->settings[i];
        const char *path;

        if (setting->output == SETTING_WRITES_NOTHING ||
            settings_is_default(s, setting->offset))
            continue;
        path = *(const char *const *)((const char *)values + setting->offset);
        if (strcmp(path, "-") == 0) /* standard output */
            continue;
        if (!is_possible(path, setting->output)) {
            (void)snprintf(why, OUTPUTS_WHY_MAX, "cannot write %.300s (--%s): %s", path,
                           setting->name, strerror(errno));
            return false;
        }
    }
    return true;
}
