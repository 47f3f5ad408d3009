/* SPDX-License-Identifier: MIT */
/* report.c -- fuzz: the data of a run, and the page that is made of it. The first byte chooses the
 * file of a run to which the bytes belong. A data.json is also compared with itself, and with the
 * bytes after its first NUL. */
#include "loadtest/report/report.h"
#include "tests/fuzz/fuzz.h"

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;

    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        count++;
    return count;
}

/* The page must be complete, and must have only its own elements. */
static void print_page(const struct run_data *a, const struct run_data *b)
{
    static const char end[] = "</html>\n";
    char *page = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&page, &size);

    fuzz_check(out != NULL);
    report_print(out, a, b);
    fuzz_check(fclose(out) == 0 && strlen(page) == size && size > sizeof end);
    fuzz_check(strcmp(page + size - (sizeof end - 1), end) == 0);
    fuzz_check(count_of(page, "<script") == (b ? 4 : 3));
    free(page);
}

static void read_text(const uint8_t *data, size_t size)
{
    const uint8_t *zero = size > 0 ? memchr(data, 0, size) : NULL;
    size_t first = zero ? (size_t)(zero - data) : size;
    struct run_data a, b;

    (void)run_data_parse(&a, (const char *)data, first);
    print_page(&a, NULL);
    print_page(&a, &a);
    if (zero) {
        (void)run_data_parse(&b, (const char *)zero + 1, size - first - 1);
        print_page(&a, &b);
        run_data_free(&b);
    }
    run_data_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"data.json",   "summary.json",    "matrix.json",
                                        "bench.json",  "bench-locks.json", "stories.json",
                                        "verdict.json", "run.json",        "rate.json",
                                        "objectives.json"};
    char path[128];
    struct run_data run;
    size_t which;

    if (size == 0)
        return 0;
    which = data[0] % (sizeof names / sizeof names[0]);
    if (which == 0) {
        read_text(data + 1, size - 1);
        return 0;
    }
    fuzz_file(names[which], data + 1, size - 1, path);
    (void)run_data_read(&run, fuzz_dir());
    print_page(&run, NULL);
    run_data_free(&run);
    unlink(path);
    return 0;
}
