/* SPDX-License-Identifier: MIT */
/* postgres_program.c -- which programs of PostgreSQL are run, and with whose rights. */
#include <errno.h>
#include <glob.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loadtest/lab/lab.h"

static long version_in(const char *path)
{
    return strtol(path + strlen("/usr/lib/postgresql/"), NULL, 10);
}

bool lab_postgres_program(char *out, const char *name)
{
    char pattern[FILES_PATH_MAX];
    long best = -1;
    glob_t found;

    files_path(pattern, "/usr/lib/postgresql/*/bin/%s", name);
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            if (version_in(found.gl_pathv[i]) > best) {
                best = version_in(found.gl_pathv[i]);
                files_path(out, "%s", found.gl_pathv[i]);
            }
        }
        globfree(&found);
    }
    if (best < 0)
        eprintf("seckill: no %s under /usr/lib/postgresql\n"
                "  install it: apt-get install postgresql\n", name);
    return best >= 0;
}

/* The system user whose rights PostgreSQL gets; NULL: the user of this process. */
const struct child_user *lab_postgres_user(void)
{
    static struct child_user user;
    static char name[64];
    const struct passwd *entry;

    if (geteuid() != 0)
        return NULL;
    entry = getpwnam("postgres");
    if (!entry)
        entry = getpwnam("nobody");
    if (!entry)
        return NULL; /* PostgreSQL itself reports that it refuses to run as root */
    snprintf(name, sizeof name, "%s", entry->pw_name);
    user = (struct child_user){entry->pw_uid, entry->pw_gid, name};
    return &user;
}

bool lab_postgres_write(const char *path, const char *text)
{
    const struct child_user *user = lab_postgres_user();

    if (files_write_secret(path, text) &&
        (!user || chown(path, user->uid, user->gid) == 0))
        return true;
    eprintf("seckill: cannot write %s: %s\n", path, strerror(errno));
    return false;
}
