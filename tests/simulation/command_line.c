/* SPDX-License-Identifier: MIT */
#include "tests/simulation/command_line.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulation/batch.h"
#include "tests/simulation/subject.h"

#define NUMBER_MAX UINT64_C(999999999999999999)

const char *const COMMAND_LINE_CLASSES = "calm,net,crash,pause,store,clock";

/* Read a whole number from 1 to `most`; end the program if `text` is none. */
static uint64_t read_number(const char *flag, const char *text, uint64_t most)
{
    char *end = NULL;
    unsigned long long number = strtoull(text, &end, 10);

    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && number > 0 && number <= most &&
        strlen(text) < 19)
        return number;
    (void)fprintf(stderr, "simulate: %s=%s is not accepted; it takes a whole number from 1 to "
                  "%llu\n", flag, text, (unsigned long long)most);
    exit(64);
}

static struct smaller read_less(const char *text)
{
    struct smaller less;

    if (smaller_read(&less, text))
        return less;
    (void)fprintf(stderr, "simulate: LESS=%s is not accepted; it takes sizes such as faults:1,"
                  "rounds:2 with these names: %s\n", text, smaller_names());
    exit(64);
}

static bool is_listed(const char *list, const char *name, size_t len)
{
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, len) == 0 && (at[len] == ',' || at[len] == '\0'))
            return true;
    }
    return false;
}

bool command_line_names(const char *list, const char *name)
{
    return is_listed(list, "all", 3) || is_listed(list, name, strlen(name));
}

static void refuse_unknown(const char *what, const char *list, const char *known)
{
    for (const char *at = list;; at++) {
        size_t len = strcspn(at, ",");

        if (len == 0 || (!is_listed("all", at, len) && !is_listed(known, at, len))) {
            (void)fprintf(stderr, "simulate: there is no %s \"%.*s\"; accepted are: all,%s\n",
                          what, (int)len, at, known);
            exit(64);
        }
        at += len;
        if (*at == '\0')
            return;
    }
}

static const char USAGE[] =
    "usage: simulate [--variant=NAMES] [--class=NAMES] [--seeds=N]      a table of many seeds\n"
    "       simulate --variant=NAME --class=NAME --seed=N               one seed, event by event\n"
    "       simulate --hunt | --hashes | --stories | --beside=SOCKET    see below\n"
    "\n"
    "The program plays the project's own locks in simulated worlds: clocks, threads, networks\n"
    "and Redis are simulated.  A seed decides all chance, so the same build plays the same seed\n"
    "in the same way, event by event.\n"
    "\n"
    "Which seeds are played:\n"
    "  --variant=NAMES     locks or primitives, with commas between (default: all)\n"
    "  --class=NAMES       classes of faults, with commas between (default: all)\n"
    "  --seeds=N           so many seeds of each variant in each class (default: 100)\n"
    "  --from=N            the first seed (default: 1)\n"
    "  --jobs=N            so many seeds are played at once (default: 2)\n"
    "\n"
    "What is done with each of them:\n"
    "  --twice             each seed is played twice, and its two traces have to be the same\n"
    "  --strict            every verdict but `fine` is a failure, whatever is expected\n"
    "  --check-one-in=N    `seckill check` judges the records of one in N seeds too (default 100)\n"
    "  --failed=FILE       FILE gets the commands that play the failed seeds again\n"
    "  --record=DIR        DIR keeps the records that `seckill check` judged\n"
    "\n"
    "One seed:\n"
    "  --seed=N            print what happens in it, then the smallest world that ends as badly\n"
    "  --quiet             print only how it ended\n"
    "  --less=SIZES        play a smaller world of the seed, such as faults:1,rounds:2,draw:4\n"
    "\n"
    "Other commands:\n"
    "  --hunt              end at the first seed whose verdict must not come\n"
    "  --hashes            print the hash of each seed's trace: variant, class, seed, hash\n"
    "  --stories           play the circumstances of mended bugs, as TAP\n"
    "  --beside=SOCKET     play random sequences of commands to the model and to a redis-server\n"
    "  --help              print this text\n"
    "\n"
    "Exit status: 0 all is as expected; 1 a seed or a cell is not; 64 a flag is not accepted;\n"
    "70 a process, memory or a file is not to be had.\n"
    "\n"
    "Examples:\n"
    "  simulate --seeds=1000 --variant=lua,redlock --class=net\n"
    "  simulate --variant=fair --class=clock --seed=7\n"
    "\n";

static void print_usage(void)
{
    (void)printf("%sClasses: %s\nVariants: %s\n", USAGE, COMMAND_LINE_CLASSES, subject_names());
    exit(0);
}

/* getopt_long() has printed its own line on stderr before. */
static void refuse_flag(void)
{
    (void)fprintf(stderr, "simulate: `simulate --help` lists all flags\n");
    exit(64);
}

/* The program takes no arguments but flags. */
static void refuse_word(const char *word)
{
    (void)fprintf(stderr, "simulate: \"%s\" is not accepted; every argument is a flag\n", word);
    refuse_flag();
}

void command_line_read(int argc, char **argv, struct settings *out)
{
    static const struct option options[] = {
        {"variant", required_argument, NULL, 'v'}, {"class", required_argument, NULL, 'c'},
        {"seeds", required_argument, NULL, 'n'},   {"from", required_argument, NULL, 'f'},
        {"seed", required_argument, NULL, 's'},    {"jobs", required_argument, NULL, 'j'},
        {"twice", no_argument, NULL, '2'},         {"quiet", no_argument, NULL, 'q'},
        {"stories", no_argument, NULL, 't'},       {"beside", required_argument, NULL, 'b'},
        {"hunt", no_argument, NULL, 'h'},          {"hashes", no_argument, NULL, 'H'},
        {"less", required_argument, NULL, 'l'},    {"strict", no_argument, NULL, 'S'},
        {"failed", required_argument, NULL, 'F'},
        {"record", required_argument, NULL, 'r'},
        {"check-one-in", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'u'}, {NULL, 0, NULL, 0}};
    int flag;

    *out = (struct settings){.variants = "all", .classes = "all", .seed_count = 100,
                             .first_seed = 1, .check_one_in = 100, .job_count = 2};
    while ((flag = getopt_long(argc, argv, "", options, NULL)) != -1)
        switch (flag) {
        case 'v': out->variants = optarg; break;
        case 'c': out->classes = optarg; break;
        case 'n': out->seed_count = read_number("SEEDS", optarg, NUMBER_MAX); break;
        case 'f': out->first_seed = read_number("FROM", optarg, NUMBER_MAX); break;
        case 's': out->seed = read_number("SEED", optarg, NUMBER_MAX), out->has_seed = true; break;
        case 'j': out->job_count = (int)read_number("JOBS", optarg, BATCH_JOBS_MAX); break;
        case '2': out->twice = true; break;
        case 'q': out->is_quiet = true; break;
        case 'b': out->beside = optarg; break;
        case 'o': out->check_one_in = read_number("check-one-in", optarg, NUMBER_MAX); break;
        case 'r': out->record_dir = optarg; break;
        case 'h': out->hunts = true; break;
        case 'F': out->failed_file = optarg; break;
        case 'S': out->is_strict = true; break;
        case 'l': out->less = read_less(optarg), out->has_less = true; break;
        case 'H': out->prints_hashes = true; break;
        case 't': out->plays_stories = true; break;
        case 'u': print_usage(); break;
        default: refuse_flag();
        }
    if (optind < argc)
        refuse_word(argv[optind]);
    refuse_unknown("class", out->classes, COMMAND_LINE_CLASSES);
    refuse_unknown("variant", out->variants, subject_names());
}
