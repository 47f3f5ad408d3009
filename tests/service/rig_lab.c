/* SPDX-License-Identifier: MIT */
/* rig_lab.c -- starts a lab for one test. */
#include "tests/service/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/service/rig_inside.h"

static char lab_dir[RIG_PATH_MAX];
/* The variables of the shared lab; while a lab of the test is up, they have its values. */
static const char *const LAB_NAMES[] = {
    "SECKILL_DATABASE_URL", "SECKILL_LAB_DATABASE_URL", "SECKILL_REDIS_URL",
    "SECKILL_REDLOCK_URLS", "SECKILL_ZOOKEEPER_URL",    "SECKILL_TOKEN_KEY_FILE",
    "SECKILL_LAB_DIR",      "SECKILL_ADMIN_TOKEN_FILE",
};
enum { LAB_NAME_COUNT = sizeof(LAB_NAMES) / sizeof(LAB_NAMES[0]) };
static char *lab_saved[LAB_NAME_COUNT];

/* Run `seckill lab ...` and answer the first 4 kB of its output. */
static const char *lab(const char *verb, const char *operand)
{
    static char said[4096];
    const char *program = getenv("SECKILL");
    char command[2 * RIG_PATH_MAX];
    FILE *out = NULL;
    size_t n;
    int rc;

    (void)snprintf(command, sizeof(command), "%s lab %s %s --dir=%s 2>&1",
                   program != NULL ? program : "build/seckill", verb, operand, lab_dir);
    out = popen(command, "re");
    assert_non_null(out);
    n = fread(said, 1, sizeof(said) - 1, out);
    said[n] = '\0';
    rc = pclose(out);
    if (rc != 0 && strcmp(verb, "status") != 0)
        fail_msg("%s: %s", command, said);
    return said;
}

/* Set the variables that the lab's env file exports. */
static void read_environment(void)
{
    char path[RIG_PATH_MAX + 8];
    char line[1024];
    FILE *file = NULL;

    (void)snprintf(path, sizeof(path), "%s/env", lab_dir);
    file = fopen(path, "re");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        char name[64];
        char value[900];

        if (sscanf(line, "export %63[A-Z_]='%899[^']'", name, value) == 2)
            (void)setenv(name, value, 1);
    }
    (void)fclose(file);
}

/* Close the connection to the earlier lab, and forget its keys. */
static void forget_lab(void)
{
    rig_forget_database();
    rig_forget_keys();
}

void rig_lab_up(void)
{
    (void)snprintf(lab_dir, sizeof(lab_dir), "/tmp/seckill-test-lab-XXXXXX");
    assert_non_null(mkdtemp(lab_dir));
    (void)rmdir(lab_dir);
    for (size_t i = 0; i < LAB_NAME_COUNT; i++) {
        const char *value = getenv(LAB_NAMES[i]);

        lab_saved[i] = value != NULL ? strdup(value) : NULL;
        (void)unsetenv(LAB_NAMES[i]); /* the lab may have no such server */
    }
    (void)lab("up", "");
    forget_lab();
    read_environment();
}

void rig_lab_down(void)
{
    forget_lab();
    (void)lab("down", "");
    for (size_t i = 0; i < LAB_NAME_COUNT; i++) {
        if (lab_saved[i] != NULL)
            (void)setenv(LAB_NAMES[i], lab_saved[i], 1);
        free(lab_saved[i]);
        lab_saved[i] = NULL;
    }
}

void rig_lab_restart(const char *server)
{
    (void)lab("restart", server);
}

void rig_lab_kill(const char *server)
{
    (void)lab("kill", server);
}

pid_t rig_lab_pid(const char *server)
{
    const char *line = lab("status", "");
    int pid = 0;

    for (; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, server, strlen(server)) == 0 && line[strlen(server)] == ' ' &&
            sscanf(line + strlen(server), " %*s pid %d", &pid) == 1)
            return pid;
    }
    fail_msg("the lab has no server %s", server);
    return 0;
}

void rig_lab_signal(pid_t pid, int signal_number)
{
    char command[192];

    (void)snprintf(command, sizeof(command),
                   "kill -%d %d || exit 1; for child in $(ps -o pid= --ppid %d); do"
                   " kill -%d $child 2>&- || [ ! -e /proc/$child ] || exit 1; done",
                   signal_number, (int)pid, (int)pid, signal_number);
    assert_int_equal(system(command), 0);
}
