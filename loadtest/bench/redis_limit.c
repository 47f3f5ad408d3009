/* SPDX-License-Identifier: MIT */
/* redis_limit.c -- the limit of a Redis server, by redis-benchmark. */
#include "loadtest/bench/redis_limit.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loadtest/kit/interrupt.h"
#include "loadtest/probe/blocking.h"

#define PREFIX "bench:limit:"
#define RANDOM_NAME PREFIX "__rand_int__" /* redis-benchmark puts twelve digits there */

enum {
    REQUESTS_MIN = 1000,
    REQUESTS_MAX = 150000, /* the names to release have to be made first            */
    TICK_MS = 5,
    TEXT_MAX = 4096,       /* of what it prints                                     */
    TRIES = 3,             /* redis-benchmark sometimes gives up without a reason   */
    FEW_NAMES = 2,         /* times the requests: then 4 of 5 releases find theirs  */
};

#define MANY_NAMES "1000000000" /* nearly every acquire finds its name free         */

/* The second field of the last line: "the command","74906.37",... */
static double read_rate(const char *csv)
{
    const char *line = strstr(csv, "\"" /* of the header */);
    const char *next;
    double rate = 0;

    for (; line; line = next) {
        const char *field = strstr(line, "\",\"");

        next = strchr(line, '\n');
        next = next && next[1] ? next + 1 : NULL;
        if (field && (!next || field < next))
            rate = strtod(field + 3, NULL);
    }
    return rate;
}

/* Run redis-benchmark once.  EXIT_BUG: redis-benchmark failed, and `text` has its output.  The
 * password is on its command line, since redis-benchmark takes it in no other way. */
static enum exit_code try_benchmark(const struct limit_plan *plan, int64_t requests,
                                    const char *names,
                                    const struct recipe_command *command,
                                    double *per_s, char text[TEXT_MAX])
{
    char port[16], connections[16], pipeline[16], count[24], database[16];
    const char *argv[20 + RECIPE_ARGC_MAX] = {
        "redis-benchmark", "-p", port,  "-a", plan->lab->redis_password,
        "--dbnum",         database,    "-c", connections,
        "-P",              pipeline,    "-n", count,
        "-r",              names,       "--csv"};
    struct child_options options = child_options_default(argv);
    int output = memfd_create("redis-benchmark", MFD_CLOEXEC);
    int status = -1;
    struct child child;
    ssize_t size;

    memcpy(&argv[16], command->argv, sizeof command->argv);
    snprintf(port, sizeof port, "%d", lab_port(plan->lab, LAB_REDIS, 0));
    snprintf(database, sizeof database, "%d", BLOCKING_DATABASE);
    snprintf(connections, sizeof connections, "%d", plan->connections);
    snprintf(pipeline, sizeof pipeline, "%d", plan->pipeline);
    snprintf(count, sizeof count, "%" PRId64, requests);
    options.stdout_fd = options.stderr_fd = output;
    options.death_signal = SIGKILL;
    if (!child_start(&child, &options)) {
        eprintf("seckill: cannot start redis-benchmark: %s\n"
                "  install it: apt-get install redis-tools\n", strerror(errno));
        close(output);
        return EXIT_UNAVAILABLE;
    }
    while (!child_wait(&child, TICK_MS, &status)) {
        if (interrupted())
            child_end(&child, SIGKILL, 1000);
    }
    size = pread(output, text, TEXT_MAX - 1, 0);
    text[size > 0 ? size : 0] = '\0';
    close(output);
    if (interrupted())
        return EXIT_INTERRUPTED;
    *per_s = read_rate(text);
    return status == 0 && *per_s > 0 ? EXIT_VALID : EXIT_BUG;
}

/* Run redis-benchmark, again if it fails: on a busy machine it sometimes ends with "All clients
 * disconnected", although the server works. */
static enum exit_code benchmark(const struct limit_plan *plan, int64_t requests,
                                const char *names, const struct recipe_command *command,
                                double *per_s)
{
    enum exit_code rc = EXIT_BUG;
    char text[TEXT_MAX];

    for (int i = 0; i < TRIES && rc == EXIT_BUG; i++)
        rc = try_benchmark(plan, requests, names, command, per_s, text);
    if (rc == EXIT_BUG)
        eprintf("seckill: redis-benchmark failed:\n%s\n", text);
    return rc;
}

static int64_t choose_requests(const struct limit_plan *plan)
{
    double wanted = plan->expected_per_s * (double)plan->duration_ms / 2000;

    return wanted < (double)REQUESTS_MIN   ? REQUESTS_MIN
           : wanted > (double)REQUESTS_MAX ? REQUESTS_MAX
                                           : (int64_t)wanted;
}

static enum exit_code measure(const struct limit_plan *plan, struct blocking *redis,
                              double *pairs_per_s)
{
    static const struct recipe_claim claim = {RANDOM_NAME, "bench:1", "bench:1"};
    const struct recipe *recipe = plan->recipe;
    struct recipe_command command;
    char sha[RECIPE_SHA_SIZE], names[24];
    int64_t requests = choose_requests(plan);
    double acquires = 0, releases = 0;
    enum exit_code rc;

    if (!blocking_load(redis, recipe->acquire_script, sha) || !blocking_clear(redis))
        return EXIT_UNAVAILABLE;
    recipe_fill_in(&command, recipe->acquire, &claim, sha);
    rc = benchmark(plan, requests, MANY_NAMES, &command, &acquires);
    if (rc != EXIT_VALID)
        return rc;
    snprintf(names, sizeof names, "%" PRId64, requests * FEW_NAMES);
    if (!blocking_clear(redis) ||
        !blocking_load(redis, recipe->release_script, sha) ||
        !blocking_fill(redis, recipe, requests * FEW_NAMES, PREFIX, claim.token))
        return EXIT_UNAVAILABLE;
    recipe_fill_in(&command, recipe->release, &claim, sha);
    rc = benchmark(plan, requests, names, &command, &releases);
    if (rc == EXIT_VALID)
        *pairs_per_s = 1 / (1 / acquires + 1 / releases);
    return rc;
}

enum exit_code limit_measure(const struct limit_plan *plan, double *pairs_per_s)
{
    struct blocking *redis = blocking_open(plan->lab, LAB_REDIS);
    enum exit_code rc = EXIT_UNAVAILABLE;

    if (redis) {
        rc = measure(plan, redis, pairs_per_s);
        if (!blocking_clear(redis) && rc == EXIT_VALID)
            rc = EXIT_UNAVAILABLE;
    }
    blocking_close(redis);
    return rc;
}
