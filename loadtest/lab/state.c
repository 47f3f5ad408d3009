/* SPDX-License-Identifier: MIT */
/* state.c -- the files of a lab: state.json and the lock file. */
#include "loadtest/lab/lab.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/duration.h"
#include "loadtest/kit/interrupt.h"
#include "loadtest/kit/shell.h"

enum {
    STATE_FORMAT = 3,
    LOCK_WAIT_MS = 300,
};

void lab_log_path(const struct lab *lab, const struct lab_server *server, char *out)
{
    files_path(out, "%s/%s.log", lab->dir, server->name);
}

static bool copy_text(char *out, size_t size, const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));

    return text && snprintf(out, size, "%s", text) < (int)size;
}

/* A process that has the pid and the start time, but not the command, is none of the lab's. */
static bool read_server(struct lab_server *server, const json_t *entry)
{
    const json_t *peers = json_object_get(entry, "peer_ports");
    bool is_whole;

    server->port = (int)json_integer_value(json_object_get(entry, "port"));
    for (size_t i = 0; i < LAB_PEER_PORT_MAX; i++)
        server->peer_ports[i] = (int)json_integer_value(json_array_get(peers, i));
    server->child.pid = (pid_t)json_integer_value(json_object_get(entry, "pid"));
    server->child.start = (uint64_t)json_integer_value(json_object_get(entry, "start"));
    is_whole = json_is_integer(json_object_get(entry, "pid")) &&
               json_is_integer(json_object_get(entry, "start")) &&
               copy_text(server->name, sizeof server->name, entry, "name") &&
               copy_text(server->command, sizeof server->command, entry, "command");
    if (is_whole && !child_has_command(&server->child, server->command))
        server->child = (struct child){0};
    return is_whole;
}

static bool read_servers(struct lab *lab, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(entry, "name"));
        struct lab_server *server = name ? lab_server_add(lab, name) : NULL;

        if (!server || !read_server(server, entry))
            return false;
    }
    return true;
}

/* Has the parsed state.json the keys that say which processes run? */
static bool has_our_keys(const json_t *json)
{
    return json_is_integer(json_object_get(json, "format")) &&
           json_is_string(json_object_get(json, "id")) &&
           json_is_string(json_object_get(json, "data_root")) &&
           json_is_array(json_object_get(json, "servers"));
}

/* Has the directory `dir` the files that a lab has beside state.json? */
static bool looks_like_lab(const char *dir)
{
    char key[FILES_PATH_MAX], lock[FILES_PATH_MAX];

    files_join(key, dir, "token.key");
    files_join(lock, dir, "lock");
    return access(key, F_OK) == 0 && access(lock, F_OK) == 0;
}

/* Read the id, the directory of the data and the processes: lab_remove() needs no more. */
static bool read_processes(struct lab *lab, const json_t *json)
{
    const json_t *spare = json_object_get(json, "spare");

    return copy_text(lab->id, sizeof lab->id, json, "id") &&
           copy_text(lab->data_root, sizeof lab->data_root, json, "data_root") &&
           read_servers(lab, json_object_get(json, "servers")) &&
           (!spare || read_server(&lab->spare, spare));
}

static bool read_rest(struct lab *lab, const json_t *json)
{
    lab->owned = json_is_true(json_object_get(json, "owned"));
    lab->partition_count = (int)json_integer_value(json_object_get(json, "partitions"));
    return lab->partition_count >= 1 && lab_servers_are_whole(lab) &&
           copy_text(lab->lab_password, sizeof lab->lab_password, json, "lab_password") &&
           copy_text(lab->service_password, sizeof lab->service_password, json,
                     "service_password") &&
           copy_text(lab->redis_password, sizeof lab->redis_password, json,
                     "redis_password");
}

/* May a command remove the lab's data?  Only in a place that a lab chooses: see
 * lab_postgres_make_root(). */
static bool is_our_data(const struct lab *lab)
{
    char own[FILES_PATH_MAX], outside[sizeof lab->id + 16];
    const char *name = strrchr(lab->data_root, '/');

    files_join(own, lab->dir, "data");
    snprintf(outside, sizeof outside, "/seckill-lab-%s", lab->id);
    return lab->data_root[0] == '\0' || strcmp(lab->data_root, own) == 0 ||
           (lab->id[0] != '\0' && name && strcmp(name, outside) == 0);
}

const char *lab_distrust(const char *path, mode_t writers)
{
    struct stat found;

    if (lstat(path, &found) != 0)
        return strerror(errno);
    if (S_ISLNK(found.st_mode))
        return "it is a symbolic link";
    if (found.st_uid != geteuid())
        return "it belongs to another user";
    return found.st_mode & writers ? "other users may write to it" : NULL;
}

/* Why the state.json in `dir` is not believed, and the `path` that is the reason; NULL: no other
 * user can have written it. */
static const char *state_distrust(const char *dir, char path[FILES_PATH_MAX])
{
    char real[FILES_PATH_MAX];
    const char *why = realpath(dir, real) ? lab_distrust(real, LAB_WRITERS) : strerror(errno);

    if (why) {
        files_path(path, "%s", dir);
        return why;
    }
    files_join(path, dir, "state.json");
    return lab_distrust(path, LAB_WRITERS);
}

/* The parsed file.  NULL: `why` says what is wrong with it, and errno is 0 unless the file
 * cannot be read. */
static json_t *load(const char *path, char why[LAB_WHY_MAX])
{
    json_error_t error;
    size_t size = 0;
    char *text = files_read(path, &size);
    json_t *json = text ? json_loadb(text, size, 0, &error) : NULL;
    int reason = text ? 0 : errno;

    if (!json)
        snprintf(why, LAB_WHY_MAX, "%s", text ? error.text : files_reason());
    free(text);
    errno = reason;
    return json;
}

enum lab_state lab_state_find(struct lab *lab, const char *dir)
{
    char path[FILES_PATH_MAX], why[LAB_WHY_MAX];
    enum lab_state state;
    json_t *json;

    *lab = (struct lab){.lock_fd = -1};
    if (!realpath(dir, lab->dir))
        return LAB_STATE_NONE;
    files_join(path, lab->dir, "state.json");
    if (access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR))
        return LAB_STATE_NONE;
    if (state_distrust(lab->dir, path))
        return LAB_STATE_UNKNOWN;
    json = load(path, why);
    if (!has_our_keys(json))
        state = looks_like_lab(lab->dir) ? LAB_STATE_UNKNOWN : LAB_STATE_ALIEN;
    else if (!read_processes(lab, json) || !is_our_data(lab))
        state = LAB_STATE_UNKNOWN;
    else if (json_integer_value(json_object_get(json, "format")) == STATE_FORMAT &&
             read_rest(lab, json))
        state = LAB_STATE_READ;
    else
        state = LAB_STATE_ENDABLE;
    json_decref(json);
    return state;
}

bool lab_state_read(struct lab *lab, const char *dir)
{
    return lab_state_find(lab, dir) == LAB_STATE_READ;
}

void lab_state_complain(enum lab_state state, const char *dir)
{
    char path[FILES_PATH_MAX], word[SHELL_WORD_MAX], why[LAB_WHY_MAX];
    const char *distrust = state_distrust(dir, path);
    json_t *json;
    long long format;

    if (distrust) {
        eprintf("seckill: %s is not trusted: %s\n"
                "  only the user who started a lab uses it; name another directory: --dir=OTHER\n",
                path, distrust);
        return;
    }
    json = load(path, why);
    format = json_integer_value(json_object_get(json, "format"));
    if (!json)
        eprintf("seckill: cannot read %s: %s\n", path, why);
    else if (!has_our_keys(json))
        eprintf("seckill: %s does not describe a lab\n", path);
    else if (format != STATE_FORMAT)
        eprintf("seckill: %s has the format %lld, and this seckill reads the format %d: another "
                "version of seckill started this lab\n", path, format, STATE_FORMAT);
    else
        eprintf("seckill: %s is damaged: some values of the lab are missing, or no lab has them\n",
                path);
    if (state == LAB_STATE_ENDABLE)
        eprintf("  end its servers and remove their data: seckill lab down --dir=%s\n",
                shell_word(word, dir));
    else if (json && has_our_keys(json))
        eprintf("  end it with the version that started it; or end the processes that the file "
                "names, then remove its data_root and %s\n", dir);
    else if (state == LAB_STATE_UNKNOWN)
        eprintf("  a lab may run there: end the servers whose log ls -l /proc/[0-9]*/fd/2 shows in "
                "%s, then remove it; or use another directory: --dir=OTHER\n"
                "  a directory seckill-lab-* of /var/tmp or $SECKILL_LAB_DATA may be of another "
                "lab, and must stay while a server works in it\n", dir);
    else
        fputs("  name another directory: --dir=OTHER\n", stderr);
    json_decref(json);
}

static json_t *server_json(const struct lab_server *server)
{
    json_t *peers = server->peer_ports[0] != 0 ? json_array() : NULL;

    for (int i = 0; peers && i < LAB_PEER_PORT_MAX; i++)
        json_array_append_new(peers, json_integer(server->peer_ports[i]));
    return json_pack("{s:s, s:s, s:i, s:i, s:I, s:o*}", "name", server->name, "command",
                     server->command, "port", server->port, "pid", (int)server->child.pid, "start",
                     (json_int_t)server->child.start, "peer_ports", peers);
}

bool lab_state_write(const struct lab *lab)
{
    char path[FILES_PATH_MAX];
    json_t *servers = json_array();
    json_t *json;
    bool ok;

    for (int i = 0; i < lab->server_count; i++)
        json_array_append_new(servers, server_json(&lab->servers[i]));
    json = json_pack("{s:i, s:s, s:b, s:i, s:s, s:s, s:s, s:s, s:o, s:o*}", "format", STATE_FORMAT,
                     "id", lab->id, "owned", lab->owned, "partitions", lab->partition_count,
                     "data_root", lab->data_root, "lab_password", lab->lab_password,
                     "service_password", lab->service_password, "redis_password",
                     lab->redis_password, "servers", servers, "spare",
                     lab->spare.child.pid ? server_json(&lab->spare) : NULL);
    files_join(path, lab->dir, "state.json");
    ok = json && files_write_secret_json(path, json);
    json_decref(json);
    if (!ok)
        eprintf("seckill: cannot write %s: %s\n", path, strerror(errno));
    return ok;
}

const char *lab_ended_server(const struct lab *lab)
{
    for (int i = 0; i < lab->server_count; i++) {
        if (!child_runs(&lab->servers[i].child))
            return lab->servers[i].name;
    }
    return NULL;
}

bool lab_is_up(const struct lab *lab)
{
    return lab_ended_server(lab) == NULL;
}

/* The lock file may be removed together with the lab while this process waits for
 * it.  Then the locked file is not the one that others will find, so the wait begins
 * again. */
static bool still_there(int fd, const char *path)
{
    struct stat mine, found;

    return fstat(fd, &mine) == 0 && stat(path, &found) == 0 &&
           mine.st_ino == found.st_ino;
}

bool lab_lock(struct lab *lab)
{
    char path[FILES_PATH_MAX];
    int64_t deadline_ns = monotonic_ns() + LOCK_WAIT_MS * 1000000LL;

    files_join(path, lab->dir, "lock");
    do {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

        if (fd < 0) {
            eprintf("seckill: cannot open %s: %s\n", path, strerror(errno));
            return false;
        }
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 && still_there(fd, path)) {
            lab->lock_fd = fd;
            return true;
        }
        close(fd);
    } while (monotonic_ns() < deadline_ns && interrupt_sleep_ms(20));
    eprintf("seckill: another seckill command is starting, stopping or using the lab in "
        "%s\n"
        "  wait until it has ended, or give this one a lab of its own: --dir=OTHER\n", lab->dir);
    return false;
}

void lab_unlock(struct lab *lab)
{
    if (lab->lock_fd >= 0)
        close(lab->lock_fd);
    lab->lock_fd = -1;
}

bool lab_change_begin(struct lab *lab, bool *was_held)
{
    struct lab found;

    *was_held = lab->lock_fd >= 0;
    if (*was_held)
        return true;
    if (!lab_lock(lab))
        return false;
    if (!lab_state_read(&found, lab->dir) || strcmp(found.id, lab->id) != 0) {
        eprintf("seckill: the lab in %s is gone\n", lab->dir);
        lab_unlock(lab);
        return false;
    }
    for (int i = 0; i < found.server_count; i++) {
        if (i >= lab->server_count)
            lab->servers[lab->server_count++] = found.servers[i]; /* another command's */
        lab->servers[i].child = found.servers[i].child;
        memcpy(lab->servers[i].command, found.servers[i].command, sizeof found.servers[i].command);
    }
    lab->spare = found.spare;
    return true;
}

void lab_change_end(struct lab *lab, bool was_held)
{
    if (!was_held)
        lab_unlock(lab);
}
