/* SPDX-License-Identifier: MIT */
/* http_answer.c -- fuzz: HTTP answers of a service, in pieces. */
#include "loadtest/open_loop/generator.h"
#include "tests/fuzz/fuzz.h"

/* A complete answer is the same without the bytes after it, and no part of it is complete. */
static void check_whole(const char *bytes, const struct received_answer *whole)
{
    struct received_answer again;

    fuzz_check(whole->status >= 200 && whole->status <= 999);
    fuzz_check(whole->body + whole->body_size == bytes + whole->size);
    fuzz_check(memchr(whole->outcome, '\0', sizeof(whole->outcome)) != NULL);
    fuzz_check(http_answer_read(bytes, whole->size, &again) == HTTP_ANSWER_WHOLE);
    fuzz_check(memcmp(&again, whole, sizeof(again)) == 0);
    for (size_t size = 0; size < whole->size; size++)
        fuzz_check(http_answer_read(bytes, size, &again) == HTTP_ANSWER_PART);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct received_answer answer;
    char *bytes = fuzz_text(data, size);

    if (http_answer_read(bytes, size, &answer) == HTTP_ANSWER_WHOLE)
        check_whole(bytes, &answer);
    free(bytes);
    return 0;
}
