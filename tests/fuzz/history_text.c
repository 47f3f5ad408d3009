/* SPDX-License-Identifier: MIT */
/* history_text.c -- fuzz: a history as text, its verdict and its drawings. */
#include "loadtest/check/check.h"
#include "loadtest/check/history.h"
#include "loadtest/page/page.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct check_options options = check_options_default();
    struct history h = {0};
    struct check_verdict verdict;
    char *text = fuzz_text(data, size);
    char error[200] = "";
    struct check *c = check_new();
    FILE *out = fopen("/dev/null", "we");

    fuzz_check(c != NULL && out != NULL);
    if (history_parse(&h, text, error, sizeof(error))) {
        history_scale(&h, 1000000);
        check_judge(c, &h, &options, &verdict);
        check_print(out, &h, &verdict);
        json_decref(check_to_json(&h, &verdict));
        page_print(out, &h, c, &verdict);
    } else {
        fuzz_check(error[0] != '\0');
    }
    fclose(out);
    check_free(c);
    history_free(&h);
    free(text);
    return 0;
}
