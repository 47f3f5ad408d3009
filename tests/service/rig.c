/* SPDX-License-Identifier: MIT */
/* rig.c -- starts services and stops them. */
#include "tests/service/rig.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text/duration.h"

static void pause_ms(long ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    (void)nanosleep(&t, NULL);
}

bool rig_until(bool (*is_true)(void *arg), void *arg, int64_t ms)
{
    int64_t deadline_ns = monotonic_ns() + ms * 1000000;

    while (!is_true(arg)) {
        if (monotonic_ns() > deadline_ns)
            return false;
        pause_ms(5);
    }
    return true;
}

/* Start a program; its output goes to the two files. The program is killed when the thread that
 * started it ends, which is the main thread of the test, so a failed test leaves no program behind.
 */
static pid_t spawn(const char *const *argv, int out, int err)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid != 0)
        return pid;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)dup2(out, STDOUT_FILENO);
    (void)dup2(err, STDERR_FILENO);
    (void)execv(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

static int temp_file(char *path, size_t size, const char *name)
{
    int fd;

    (void)snprintf(path, size, "/tmp/seckill-test-%d-%s-XXXXXX", (int)getpid(), name);
    fd = mkostemp(path, O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static void service_argv(const char **argv, const char *const *args)
{
    size_t n = 0;
    const char *program = getenv("SECKILLD");

    argv[n++] = program != NULL ? program : "build/seckilld";
    argv[n++] = "--listen=127.0.0.1:0";
    argv[n++] = "--admin-listen=127.0.0.1:0";
    argv[n++] = "--workers=8";
    argv[n++] = "--connections=128"; /* a thread each */
    argv[n++] = "--allow-mixed-settings"; /* test programs that run at once share a database */
    for (; *args != NULL && n < RIG_ARGS_MAX - 1; args++)
        argv[n++] = *args;
    argv[n] = NULL;
}

static int status_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The admin tokens of the newest listeners for operators, by their ports; each port occurs once. */
static struct {
    int port;
    char token[80];
} admins[16];
static size_t admin_count;

/* Read the token from the file that the line `ready` names. */
static bool take_admin_token(struct rig_service *s, const char *line)
{
    static const char KEY[] = "admin-token-file=";
    const char *path = strstr(line, KEY);
    const size_t count = sizeof(admins) / sizeof(admins[0]);
    size_t i = admin_count++ % count;
    FILE *file = NULL;
    bool is_read;

    if (path == NULL)
        return false;
    path += strlen(KEY);
    (void)snprintf(s->admin_token_path, sizeof(s->admin_token_path), "%.*s",
                   (int)strcspn(path, " \n"), path);
    file = fopen(s->admin_token_path, "re");
    if (file == NULL)
        return false;
    for (size_t other = 0; other < count; other++)
        if (admins[other].port == s->admin_port)
            admins[other].port = 0; /* a service with the same port has ended */
    admins[i].port = s->admin_port;
    is_read = fscanf(file, "%79s", admins[i].token) == 1;
    (void)fclose(file);
    return is_read;
}

void rig_admin_lines(int port, char *out, size_t size)
{
    out[0] = '\0';
    for (size_t i = 0; i < sizeof(admins) / sizeof(admins[0]); i++)
        if (admins[i].port == port)
            (void)snprintf(out, size, "Authorization: Bearer %s\r\n", admins[i].token);
}

struct rig_service rig_launch(const char *const *args)
{
    const char *argv[RIG_ARGS_MAX];
    struct rig_service s = {0};
    int ends[2];
    int err = temp_file(s.log, sizeof(s.log), "log");

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    service_argv(argv, args);
    s.pid = spawn(argv, ends[1], err);
    (void)close(err);
    (void)close(ends[1]);
    s.out = ends[0];
    return s;
}

void rig_await_ready(struct rig_service *s)
{
    char line[512] = "";
    FILE *out = fdopen(s->out, "r");

    assert_non_null(out);
    if (fgets(line, sizeof(line), out) == NULL ||
        sscanf(line,
               "ready orders=http://127.0.0.1:%d admin=http://127.0.0.1:%d %*[^\n]",
               &s->orders_port, &s->admin_port) != 2 ||
        !take_admin_token(s, line)) {
        (void)kill(s->pid, SIGKILL);
        (void)waitpid(s->pid, NULL, 0);
        fail_msg("the service did not come up; see %s", s->log);
    }
    (void)fclose(out);
}

struct rig_service rig_start(const char *const *args)
{
    struct rig_service s = rig_launch(args);

    rig_await_ready(&s);
    return s;
}

int64_t rig_count_logged(const struct rig_service *s, const char *words)
{
    FILE *file = fopen(s->log, "re");
    int64_t count = 0;
    char line[2048];

    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL)
        count += strstr(line, words) != NULL;
    (void)fclose(file);
    return count;
}

bool rig_has_logged(const struct rig_service *s, const char *words)
{
    return rig_count_logged(s, words) > 0;
}

static char record_flag[80] = "--record=/tmp/seckill-test-record-XXXXXX";

static void remove_records(void)
{
    const char *path = strchr(record_flag, '/');
    DIR *dir = opendir(path);

    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;)
        (void)unlinkat(dirfd(dir), e->d_name, 0);
    if (dir != NULL)
        (void)closedir(dir);
    (void)rmdir(path);
}

const char *rig_record_flag(void)
{
    static bool is_made; /* a flag, since the name of the directory may end with an X, too */

    if (!is_made) {
        assert_non_null(mkdtemp(strchr(record_flag, '/')));
        assert_int_equal(atexit(remove_records), 0);
        is_made = true;
    }
    return record_flag;
}

int rig_run(const char *const *args, char *log, size_t size)
{
    const char *argv[RIG_ARGS_MAX];
    char path[RIG_PATH_MAX];
    int err = temp_file(path, sizeof(path), "run");
    int out = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int status = 0;
    ssize_t n;
    pid_t pid;

    service_argv(argv, args);
    pid = spawn(argv, out, err);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    n = pread(err, log, size - 1, 0);
    log[n > 0 ? n : 0] = '\0';
    (void)close(out);
    (void)close(err);
    (void)unlink(path);
    return status_of(status);
}

void rig_signal(const struct rig_service *s, int signal_number)
{
    assert_int_equal(kill(s->pid, signal_number), 0);
}

struct ending {
    pid_t pid;
    int status;
};

static bool has_ended(void *arg)
{
    struct ending *e = arg;

    return waitpid(e->pid, &e->status, WNOHANG) == e->pid;
}

/* As rig_wait(), but the log stays. */
static int await_end(struct rig_service *s, int64_t ms)
{
    struct ending e = {.pid = s->pid};

    if (!rig_until(has_ended, &e, ms))
        return -1;
    s->pid = 0;
    return status_of(e.status);
}

int rig_wait(struct rig_service *s, int64_t ms)
{
    int status = await_end(s, ms);

    if (status == 0 || status == 128 + SIGKILL)
        (void)unlink(s->log);
    return status;
}

void rig_stop(struct rig_service *s)
{
    rig_signal(s, SIGTERM);
    if (await_end(s, RIG_PATIENCE_MS) != 0)
        fail_msg("the service did not stop as it should; see %s", s->log);
    (void)unlink(s->log);
}
