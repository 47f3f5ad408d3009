/* SPDX-License-Identifier: MIT */
/* environment.c -- the environment that the laboratory gives to what it starts. */
#include "loadtest/lab/environment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loadtest/kit/memory.h"
#include "loadtest/kit/shell.h"
#include "loadtest/lab/topology.h"
#include "loadtest/lab/urls.h"

/* The database of the lab, a variable for each store and topology, three files, and the lab's
 * directory. */
enum { VARIABLES_MAX = 5 + DLOCK_STORE_COUNT + LAB_TOPOLOGY_COUNT };

struct variable {
    const char *name;
    char value[FILES_PATH_MAX];
};

/* The lab has servers for that store. */
static bool has_store(const struct lab *lab, enum dlock_store store)
{
    enum lab_role role = lab_store_role(store);

    return role != LAB_ROLE_COUNT && lab_port(lab, role, 0) != 0;
}

/* The variables of the lab.  Returns their number. */
static size_t variables_of(const struct lab *lab, struct variable out[VARIABLES_MAX])
{
    struct variable *v = out;

    v->name = "SECKILL_LAB_DATABASE_URL";
    lab_database_url(lab, v->value, sizeof v->value);
    for (unsigned store = 0; store < DLOCK_STORE_COUNT; store++) {
        if (!has_store(lab, (enum dlock_store)store))
            continue;
        (++v)->name = dlock_store_row((enum dlock_store)store)->environment;
        if (store == DLOCK_STORE_POSTGRES)
            lab_service_urls(lab, v->value);
        else
            lab_store_url(lab, (enum dlock_store)store, NULL, v->value);
    }
    for (unsigned t = 0; t < LAB_TOPOLOGY_COUNT; t++) {
        const struct lab_topology_row *topology = lab_topology_row((enum lab_topology)t);

        if (topology->variable == NULL || !lab_has(lab, 1u << t))
            continue;
        (++v)->name = topology->variable;
        lab_topology_write_address(lab, topology, v->value);
    }
    (++v)->name = "SECKILL_TOKEN_KEY_FILE";
    files_join(v->value, lab->dir, "token.key");
    (++v)->name = "SECKILL_ADMIN_TOKEN_FILE";
    files_join(v->value, lab->dir, "admin.token");
    (++v)->name = "SECKILL_TOKENS";
    files_join(v->value, lab->dir, "tokens.txt");
    (++v)->name = "SECKILL_LAB_DIR";
    files_path(v->value, "%s", lab->dir);
    return (size_t)(v + 1 - out);
}

bool lab_env_write(const struct lab *lab)
{
    struct variable variables[VARIABLES_MAX];
    size_t count = variables_of(lab, variables);
    char path[FILES_PATH_MAX];
    char *text = NULL;
    size_t size = 0;
    FILE *out = memory_need(open_memstream(&text, &size));
    bool ok;

    for (size_t i = 0; i < count; i++) {
        fprintf(out, "export %s=", variables[i].name);
        shell_print_quoted(out, variables[i].value);
        fputc('\n', out);
    }
    fclose(out);
    files_join(path, lab->dir, "env");
    ok = files_write_secret(path, text);
    free(text);
    return ok;
}

/* Is that variable one of the extra ones? */
static bool is_given(const char *name, const char *const *extra)
{
    size_t length = strlen(name);

    for (; extra && *extra; extra++)
        if (strncmp(*extra, name, length) == 0 && (*extra)[length] == '=')
            return true;
    return false;
}

char **environment_make(const struct lab *lab, const char *const *extra)
{
    struct variable variables[VARIABLES_MAX];
    size_t labs = lab ? variables_of(lab, variables) : 0;
    size_t ours = 0, extras = 0, n = 0;
    char **made;

    while (environ[ours])
        ours++;
    while (extra && extra[extras])
        extras++;
    made = memory_need(calloc(ours + labs + extras + 1, sizeof *made));
    for (size_t i = 0; i < ours; i++) {
        if (strncmp(environ[i], "SECKILL_", 8) != 0)
            made[n++] = strdup(environ[i]);
    }
    for (size_t i = 0; i < labs; i++) {
        if (is_given(variables[i].name, extra))
            continue;
        if (asprintf(&made[n++], "%s=%s", variables[i].name, variables[i].value) < 0)
            abort();
    }
    for (size_t i = 0; i < extras; i++)
        made[n++] = strdup(extra[i]);
    return made;
}

void environment_free(char **environment)
{
    for (char **p = environment; p && *p; p++)
        free(*p);
    free(environment);
}
