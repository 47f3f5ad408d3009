/* SPDX-License-Identifier: MIT */
/* database_url.c -- where a lab's database is, for the laboratory and for the service. */
#include <stdio.h>
#include <string.h>

#include "loadtest/lab/kind.h"

#include "loadtest/kit/shell.h"

/* The server on that port; the first one with its standbys, one of which may be the primary
 * by now. */
static void write_database(const struct lab *lab, const char *role, const char *password,
                           int port, int partition, char *out, size_t size)
{
    char name[32] = "seckill";

    int used = snprintf(out, size, "postgresql://%s:%s@127.0.0.1:%d", role, password, port);
    bool has_standby = false;

    for (int i = 0; port == lab_port(lab, LAB_POSTGRES, 0) && i < lab->server_count; i++) {
        const struct lab_server *server = &lab->servers[i];

        if (server->role == LAB_POSTGRES || lab_server_kind(server) != LAB_IS_POSTGRES)
            continue;
        used += snprintf(out + used, size - (size_t)used, ",127.0.0.1:%d", server->port);
        has_standby = true;
    }
    if (partition > 0)
        snprintf(name, sizeof name, "seckill_%d", partition);
    snprintf(out + used, size - (size_t)used, "/%s%s", name,
             has_standby ? "?target_session_attrs=read-write" : "");
}

void lab_database_url(const struct lab *lab, char *out, size_t size)
{
    lab_partition_url(lab, 0, out, size);
}

void lab_partition_url(const struct lab *lab, int partition, char *out, size_t size)
{
    write_database(lab, "seckill_lab", lab->lab_password, lab_port(lab, LAB_POSTGRES, 0),
                   partition, out, size);
}

/* Those of all partitions, with blanks between them. */
static void write_databases(const struct lab *lab, const char *role, const char *password,
                            char out[LAB_DATABASE_URLS_MAX])
{
    size_t used = 0;

    for (int i = 0; i < lab->partition_count || i == 0; i++) {
        if (i > 0)
            out[used++] = ' ';
        write_database(lab, role, password, lab_port(lab, LAB_POSTGRES, 0), i, out + used,
                       LAB_DATABASE_URLS_MAX - used);
        used += strlen(out + used);
    }
}

void lab_database_urls(const struct lab *lab, char out[LAB_DATABASE_URLS_MAX])
{
    write_databases(lab, "seckill_lab", lab->lab_password, out);
}

lab_db *lab_database_open(const struct lab *lab, const char *program)
{
    char url[LAB_DATABASE_URL_MAX], error[512], dir[SHELL_WORD_MAX];
    lab_db *db = NULL;

    lab_database_url(lab, url, sizeof url);
    if (!lab_db_open(&db, url, error, sizeof error)) {
        shell_word(dir, lab->dir);
        eprintf("%s: %s\n  see the servers:  seckill lab status --dir=%s\n"
                "  restart this one: seckill lab restart postgres --dir=%s\n",
                program, error, dir, dir);
    }
    return db;
}

void lab_service_urls(const struct lab *lab, char out[LAB_DATABASE_URLS_MAX])
{
    write_databases(lab, "seckill_service", lab->service_password, out);
}

void lab_service_url(const struct lab *lab, int port, char *out, size_t size)
{
    write_database(lab, "seckill_service", lab->service_password, port, 0, out, size);
}

void lab_kind_postgres_url(const struct lab *lab, int port, int database, char *out,
                           size_t size)
{
    (void)database;
    lab_service_url(lab, port, out, size);
}
