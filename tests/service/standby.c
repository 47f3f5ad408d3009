/* SPDX-License-Identifier: MIT */
/* standby.c -- a standby of the lab's PostgreSQL, made from a copy of its files. */
#include "tests/service/standby.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loadtest/kit/port.h"
#include "tests/service/rig.h"
#include "tests/service/shell.h"

static pid_t standby;
static char standby_dir[] = "/tmp/seckill-test-standby-XXXXXX";
static char standby_url[256];

/* The port in postgresql://user:password@host:port/database. */
static int port_of(const char *url)
{
    return atoi(strchr(strchr(url, '@'), ':') + 1);
}

static void copy_database(void)
{
    char line[768];

    assert_non_null(mkdtemp(standby_dir));
    (void)snprintf(line, sizeof(line),
                   "$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)/pg_basebackup"
                   " --dbname='%s' --pgdata='%s/data' --write-recovery-conf"
                   " --checkpoint=fast --wal-method=stream 2>&1 &&"
                   " chmod -R go-rwx '%s/data' &&"
                   " if [ $(id -u) = 0 ]; then chown -R postgres: '%s'; fi",
                   getenv("SECKILL_LAB_DATABASE_URL"), standby_dir, standby_dir,
                   standby_dir);
    (void)shell(line);
}

static void launch(void)
{
    char line[768];
    const char *url = getenv("SECKILL_DATABASE_URL");
    const char *at = strchr(url, '@');
    int port;

    assert_true(port_hold(&port) >= 0);
    copy_database();
    (void)snprintf(standby_url, sizeof(standby_url), "--database-url=%.*s@127.0.0.1:%d%s",
                   (int)(at - url), url, port, strchr(at, '/'));
    /* PostgreSQL does not run as root, so setpriv changes the user; the server ends with this
     * program. */
    (void)snprintf(line, sizeof(line),
                   "as=; if [ $(id -u) = 0 ]; then"
                   " as='--reuid=postgres --regid=postgres --clear-groups'; fi;"
                   " exec setpriv $as --pdeathsig KILL"
                   " $(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)/postgres"
                   " -D '%s/data' -p %d -N 400 -c listen_addresses=127.0.0.1"
                   " -c unix_socket_directories= -c hot_standby=on"
                   " >'%s/log' 2>&1 </dev/null",
                   standby_dir, port, standby_dir);
    standby = fork();
    assert_true(standby >= 0);
    if (standby == 0) {
        (void)execlp("sh", "sh", "-c", line, (char *)NULL);
        _exit(127);
    }
}

static bool answers(void *question)
{
    char line[512];

    (void)snprintf(line, sizeof(line), "psql '%s' -Atc '%s' 2>&1 || true",
                   strchr(standby_url, '=') + 1, (const char *)question);
    return shell(line)[0] == 't';
}

const char *standby_start(void)
{
    launch();
    if (!rig_until(answers, (void *)(uintptr_t)"SELECT pg_is_in_recovery()",
                   RIG_PATIENCE_MS))
        fail_msg("no standby: %s", shell("cat /tmp/seckill-test-standby-*/log"));
    return standby_url;
}

void standby_promote(void)
{
    char line[512];
    const char *url = getenv("SECKILL_LAB_DATABASE_URL");
    const char *at = strchr(url, '@');

    (void)snprintf(line, sizeof(line), "psql '%.*s@127.0.0.1:%d%s' -Atc 'SELECT pg_promote()'",
                   (int)(at - url), url, port_of(standby_url), strchr(at, '/'));
    (void)shell(line);
}

void standby_end(void)
{
    char line[96];

    assert_int_equal(kill(standby, SIGINT), 0);
    assert_int_equal(waitpid(standby, NULL, 0), standby);
    (void)snprintf(line, sizeof(line), "rm -rf '%s'", standby_dir);
    (void)shell(line);
}
