/* SPDX-License-Identifier: MIT */
/* lab.c -- starts a PostgreSQL, a ZooKeeper and an etcd only for the laws, so that a
 * law may kill them. */
#include "tests/conformance/lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/conformance/rig.h"

enum { DIR_SIZE = 64, COMMAND_SIZE = 256, LINE_SIZE = 512, SAID_SIZE = 4096 };

static struct {
    char dir[DIR_SIZE]; /* has a lab for each server: dir/postgres */
    FILE *keeper;       /* a pipe to the shell of lab_begin() */
    const char *server; /* the server of the law */
    bool is_killed;
    char url[LINE_SIZE];
} lab;

/* Run `seckill lab VERB OPERAND`. Returns false if it failed; the function has printed its
 * output. */
static bool run(const char *verb, const char *operand)
{
    char command[COMMAND_SIZE];
    char said[SAID_SIZE];
    FILE *out;
    size_t n;

    snprintf(command, sizeof(command), "build/seckill lab %s %s --dir=%s/%s 2>&1", verb,
             operand, lab.dir, lab.server);
    out = popen(command, "re");
    assert_non_null(out);
    n = fread(said, 1, sizeof(said) - 1, out);
    said[n] = '\0';
    if (pclose(out) == 0)
        return true;
    print_error("%s: %s\n", command, said);
    return false;
}

/* Start a shell that stops the labs when the shell's standard input ends: in lab_end(), or when
 * this process and its children have ended in any way. */
void lab_begin(void)
{
    char command[COMMAND_SIZE];

    snprintf(lab.dir, sizeof(lab.dir), "/tmp/seckill-conformance-lab-XXXXXX");
    assert_non_null(mkdtemp(lab.dir));
    snprintf(command, sizeof(command),
             "exec setsid sh -c 'read _; for lab in %s/*; do"
             " build/seckill lab down --dir=$lab; done; rmdir %s' >/dev/null 2>&1",
             lab.dir, lab.dir);
    lab.keeper = popen(command, "we");
    assert_non_null(lab.keeper);
}

/* The value that the lab's env file exports under that name. */
static const char *read_url(const char *name)
{
    char path[DIR_SIZE + 16];
    char line[LINE_SIZE];
    char found[LINE_SIZE];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s/env", lab.dir, lab.server);
    file = fopen(path, "re");
    assert_non_null(file);
    lab.url[0] = '\0';
    while (fgets(line, sizeof(line), file) != NULL)
        if (sscanf(line, "export %511[A-Z_]='%511[^']'", found, lab.url) == 2 &&
            strcmp(found, name) == 0)
            break;
    fclose(file);
    assert_string_equal(name, found);
    return lab.url;
}

void lab_use(dlock_options *opts)
{
    const char *store = dlock_variant_find(opts->variant)->store;
    bool is_zookeeper = strcmp(store, "zookeeper") == 0, is_etcd = strcmp(store, "etcd") == 0;

    lab.server = is_zookeeper ? "zookeeper" : is_etcd ? "etcd" : "postgres";
    assert_true(run("up", is_zookeeper ? "--zookeeper" : is_etcd ? "--etcd-alone" : ""));
    if (is_zookeeper)
        opts->zookeeper_url = read_url("SECKILL_ZOOKEEPER_URL");
    else if (is_etcd)
        opts->etcd_url = read_url("SECKILL_ETCD_URL");
    else
        opts->database_url = read_url("SECKILL_DATABASE_URL");
}

void lab_kill(void)
{
    lab.is_killed = true;
    assert_true(run("kill", lab.server));
}

void lab_restart(void)
{
    /* Another process may use the port for a moment, so the restart is tried again. */
    assert_comes(run("restart", lab.server));
    lab.is_killed = false;
}

void lab_mend(void)
{
    if (lab.is_killed && run("restart", lab.server))
        lab.is_killed = false;
}

void lab_end(void)
{
    if (lab.keeper != NULL)
        pclose(lab.keeper);
    lab.keeper = NULL;
}
