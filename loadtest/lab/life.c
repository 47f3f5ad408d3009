/* SPDX-License-Identifier: MIT */
/* life.c -- starts, finds and stops a lab.
 *
 * state.json names a process from the moment the process runs.  So the next command can
 * clean up, whatever ended this program. */
#include "loadtest/lab/lab.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/shell.h"
#include "loadtest/lab/kind.h"
#include "loadtest/lab/topology.h"

enum { SPARE_END_MS = 3000 };

/* The name of a state.json that is being written, as base/text/output_file.c makes it. */
#define STATE_FRESH "state.json.[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]"

const char *lab_choose_dir(const char *given)
{
    const char *from_environment = getenv("SECKILL_LAB_DIR");

    if (given)
        return given;
    return from_environment && *from_environment ? from_environment : ".lab";
}

static int discard_signal(const struct lab_server *server)
{
    int number = lab_kind_of(server)->discard_signal;

    return number != 0 ? number : SIGTERM;
}

static bool complain_of_rest(const char *path)
{
    bool is_kept = errno == ENOTEMPTY;

    eprintf("seckill: cannot remove %s: %s\n", path, strerror(errno));
    if (is_kept)
        eprintf("  its file system keeps a file until nobody has it open; after that: rm -r %s\n",
                path);
    return false;
}

static bool remove_tree(const char *path)
{
    return files_remove_tree(path) || complain_of_rest(path);
}

/* Remove all files in the directory of the lab but the lock file and state.json. */
static bool remove_files(const struct lab *lab)
{
    char path[FILES_PATH_MAX];
    struct dirent *entry;
    DIR *dir = opendir(lab->dir);
    bool ok = true;

    while (dir && (entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            strcmp(entry->d_name, "lock") == 0 || strcmp(entry->d_name, "state.json") == 0)
            continue;
        files_join(path, lab->dir, entry->d_name);
        ok = remove_tree(path) && ok;
    }
    if (dir)
        closedir(dir);
    return ok;
}

/* Stop every process of this lab, and remove all its files but the lock file.  False: some files
 * could not be removed, and stderr names them; state.json stays too, because without it the rest
 * would look like another program's. */
static bool clean(struct lab *lab)
{
    char path[FILES_PATH_MAX];
    bool ok;

    for (int i = 0; i < lab->server_count; i++)
        child_signal(&lab->servers[i].child, discard_signal(&lab->servers[i]));
    for (int i = 0; i < lab->server_count; i++) {
        child_end(&lab->servers[i].child, discard_signal(&lab->servers[i]),
                  lab_kind_of(&lab->servers[i])->discard_ms);
        lab_release_port(&lab->servers[i]);
    }
    child_end(&lab->spare.child, SIGTERM, SPARE_END_MS);
    ok = !lab->data_root[0] || remove_tree(lab->data_root);
    ok = remove_files(lab) && ok;
    files_join(path, lab->dir, "state.json");
    return ok && remove_tree(path);
}

/* clean(), and the directory itself. */
static bool remove_lab(struct lab *lab)
{
    char path[FILES_PATH_MAX];
    bool ok = clean(lab);

    if (ok) {
        files_join(path, lab->dir, "lock");
        unlink(path);
        ok = rmdir(lab->dir) == 0 || errno == ENOENT || complain_of_rest(lab->dir);
    }
    lab_unlock(lab);
    return ok;
}

/* May a lab be in that directory, or be made there?  A directory that holds anything but a lab, or
 * the beginning of a lab whose starter was killed, belongs to another program, and is never
 * emptied. */
static bool is_ours_to_use(enum lab_state state, const char *path)
{
    struct dirent *entry;
    bool ours = true;
    DIR *dir;

    if (state != LAB_STATE_NONE)
        return state != LAB_STATE_ALIEN;
    dir = opendir(path);
    while (dir && (entry = readdir(dir)) != NULL)
        ours = ours && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                        strcmp(entry->d_name, "lock") == 0 ||
                        fnmatch(STATE_FRESH, entry->d_name, 0) == 0);
    if (dir)
        closedir(dir);
    return ours;
}

/* No configuration of a server can have a path with an end of line. */
static bool has_line_end(const char *path)
{
    return path && strpbrk(path, "\r\n");
}

static bool are_paths_lines(const char *dir)
{
    char here[FILES_PATH_MAX] = "";
    bool is_relative = *dir != '/' && getcwd(here, sizeof here);

    if (!has_line_end(dir) && !(is_relative && has_line_end(here)) &&
        !has_line_end(getenv("SECKILL_LAB_DATA")))
        return true;
    eprintf("seckill: the directory of a lab has an end of line in its path, which no "
                    "server can read\n  name another one, such as --dir=/tmp/lab\n");
    return false;
}

/* False (and errno): a file is in its place. */
static bool is_directory(const char *path)
{
    errno = ENOTDIR;
    return files_is_directory(path);
}

static enum exit_code make_dir(struct lab *lab, const char *dir)
{
    enum lab_state state;
    struct lab found;
    const char *why;

    if (!are_paths_lines(dir))
        return EXIT_USAGE;
    if (!files_make_dir(dir) || !realpath(dir, lab->dir) || !is_directory(lab->dir)) {
        eprintf("seckill: cannot make %s: %s\n", dir, strerror(errno));
        return EXIT_CANNOT_WRITE;
    }
    if (!are_paths_lines(lab->dir)) /* a symbolic link led there */
        return EXIT_USAGE;
    state = lab_state_find(&found, lab->dir);
    if (!is_ours_to_use(state, lab->dir)) {
        eprintf("seckill: %s holds other things, and stopping a lab removes its whole "
                "directory\n  name a new one: --dir=.lab\n", lab->dir);
        return EXIT_USAGE;
    }
    if (state == LAB_STATE_UNKNOWN || state == LAB_STATE_ENDABLE) {
        lab_state_complain(state, lab->dir);
        return EXIT_UNAVAILABLE;
    }
    why = lab_distrust(lab->dir, 0);
    if (why) {
        eprintf("seckill: cannot make a lab in %s: %s\n", lab->dir, why);
        return EXIT_UNAVAILABLE;
    }
    if (chmod(lab->dir, 0700) != 0 || access(lab->dir, W_OK | X_OK) != 0) {
        eprintf("seckill: cannot write %s: %s\n", lab->dir, strerror(errno));
        return EXIT_CANNOT_WRITE;
    }
    if (lab_distrust(lab->dir, LAB_OTHERS)) {
        eprintf("seckill: the file system of %s sets modes itself, and lets others read secrets\n"
                "  name a directory of another file system: --dir=/var/tmp/lab\n", lab->dir);
        return EXIT_CANNOT_WRITE;
    }
    return EXIT_VALID;
}

/* Is it a kept lab whose start was finished, and whose data is still there?  The start of a
 * lab writes the environment last.  A reboot may have emptied the directory of the data. */
static bool can_be_mended(const struct lab *lab)
{
    char env[FILES_PATH_MAX];

    files_join(env, lab->dir, "env");
    return !lab->owned && access(env, F_OK) == 0 && access(lab->data_root, F_OK) == 0;
}

/* With the lab's lock held: start whatever does not run. */
static enum exit_code start_locked(struct lab *lab, bool owned, lab_topologies wanted)
{
    struct lab found;
    enum exit_code rc;
    enum lab_state state = lab_state_find(&found, lab->dir);
    int lock_fd = lab->lock_fd;

    /* Another program has made state.json since make_dir() looked. */
    if (state != LAB_STATE_NONE && state != LAB_STATE_READ) {
        lab_state_complain(state, lab->dir);
        lab_unlock(lab);
        return EXIT_UNAVAILABLE;
    }
    if (state == LAB_STATE_READ) {
        found.lock_fd = lock_fd;
        if (lab_is_up(&found) || can_be_mended(&found)) {
            *lab = found;
            rc = lab_mend(lab);
            return rc != EXIT_VALID || lab_has(lab, wanted)
                       ? rc
                       : lab_add(lab, wanted & ~lab_has_which(lab));
        }
        eprintf("seckill: the lab in %s was left by a program that has ended, or its data is "
                "gone: removing it\n", found.dir);
        if (!clean(&found)) {
            lab_unlock(lab);
            return EXIT_CANNOT_WRITE;
        }
    }
    lab->owned = owned;
    rc = lab_bring_up(lab, wanted);
    if (rc == EXIT_VALID)
        return rc;
    remove_lab(lab);
    return interrupted() ? EXIT_INTERRUPTED : rc;
}

static enum exit_code start(struct lab *lab, const char *dir, bool owned,
                            lab_topologies wanted)
{
    enum exit_code rc;

    *lab = (struct lab){.lock_fd = -1};
    rc = make_dir(lab, dir);
    if (rc != EXIT_VALID)
        return rc;
    if (!lab_lock(lab))
        return EXIT_UNAVAILABLE;
    return start_locked(lab, owned, wanted);
}

enum exit_code lab_use(struct lab *lab, const char *dir)
{
    char word[SHELL_WORD_MAX];
    const char *ended = NULL;
    enum lab_state state = lab_state_find(lab, dir);
    bool is_there = state == LAB_STATE_READ;

    if (is_there && (ended = lab_ended_server(lab)) == NULL)
        return EXIT_VALID;
    if (is_there)
        eprintf("seckill: %s of the lab in %s has ended\n"
                "  start it again: seckill lab up --dir=%s\n", ended, dir, shell_word(word, dir));
    else if (state != LAB_STATE_NONE)
        lab_state_complain(state, dir);
    else
        eprintf("seckill: no lab is up in %s\n  start one: seckill lab up --dir=%s\n",
                dir, shell_word(word, dir));
    *lab = (struct lab){.lock_fd = -1};
    return EXIT_UNAVAILABLE;
}

enum exit_code lab_open(struct lab *lab, const char *dir, lab_topologies wanted)
{
    bool was_up;

    /* A lab that another command owns would end during this one, so it is not used: start()
     * complains about it. */
    if (lab_state_read(lab, dir) && !lab->owned && (lab_is_up(lab) || can_be_mended(lab)))
        return lab_keep(lab, dir, wanted, &was_up);
    if (wanted) {
        fputs("seckill: starting a lab with ", stderr);
        lab_topologies_print(wanted);
        eprintf(" in %s\n", dir);
    }
    return start(lab, dir, true, wanted);
}

void lab_close(struct lab *lab)
{
    if (lab->dir[0] && lab->owned && lab->lock_fd >= 0)
        remove_lab(lab);
    *lab = (struct lab){.lock_fd = -1};
}

enum exit_code lab_keep(struct lab *lab, const char *dir, lab_topologies wanted,
                        bool *was_up)
{
    enum exit_code rc;

    *was_up = lab_state_read(lab, dir) && lab_is_up(lab);
    lab->lock_fd = -1;
    if (*was_up && !lab->owned && lab_has(lab, wanted))
        return EXIT_VALID;
    rc = start(lab, dir, false, wanted);
    lab_unlock(lab);
    return rc;
}

/* Is the directory of *lab one that lab_remove() may remove?  *found is the lab in it. */
static enum exit_code may_remove(const struct lab *lab, struct lab *found)
{
    enum lab_state state = lab_state_find(found, lab->dir);

    if (!files_is_directory(lab->dir) || !is_ours_to_use(state, lab->dir)) {
        eprintf("seckill: %s is no lab; nothing was removed\n", lab->dir);
        return EXIT_USAGE;
    }
    if (state == LAB_STATE_UNKNOWN) {
        lab_state_complain(state, lab->dir);
        return EXIT_UNAVAILABLE;
    }
    return EXIT_VALID;
}

enum exit_code lab_remove(const char *dir, bool *was_there)
{
    struct lab lab = {.lock_fd = -1}, found;
    enum exit_code rc;
    bool is_locked;

    *was_there = realpath(dir, lab.dir) != NULL;
    if (!*was_there)
        return EXIT_VALID;
    rc = may_remove(&lab, &found); /* before a lock file is made there */
    if (rc != EXIT_VALID)
        return rc;
    /* After Ctrl-C a process that was just killed may still have the lock, so wait for it too. */
    interrupt_defer(true);
    is_locked = lab_lock(&lab);
    interrupt_defer(false);
    if (!is_locked)
        return EXIT_UNAVAILABLE;
    rc = may_remove(&lab, &found);
    if (rc == EXIT_VALID) {
        found.lock_fd = lab.lock_fd;
        rc = remove_lab(&found) ? EXIT_VALID : EXIT_CANNOT_WRITE;
    } else {
        lab_unlock(&lab);
    }
    return rc;
}
