/* SPDX-License-Identifier: MIT */
/* gate.c -- fuzz: the head of a request. An accepted head must have only one meaning. */
#include <strings.h>

#include "base/http/gate.h"
#include "tests/fuzz/fuzz.h"

static void check_admitted(const struct gate_verdict *verdict,
                           const struct gate_request *request, size_t size)
{
    size_t lengths = 0;

    fuzz_check(verdict->head_bytes > 0 && verdict->head_bytes <= size);
    fuzz_check(verdict->body_bytes >= 0);
    fuzz_check(gate_knows_method(request->method));
    fuzz_check(request->uri[0] == '/');
    fuzz_check(strlen(request->uri) <= GATE_URI_MAX);
    fuzz_check(strpbrk(request->uri, " \t\r\n") == NULL);
    fuzz_check(request->header_count <= GATE_HEADERS_MAX);
    for (size_t i = 0; i < request->header_count; i++) {
        const struct gate_header *header = &request->headers[i];

        fuzz_check(header->name[0] != '\0' && strpbrk(header->name, " \t\r\n:") == NULL);
        fuzz_check(strpbrk(header->value, "\r\n") == NULL);
        fuzz_check(strcasecmp(header->name, "Transfer-Encoding") != 0);
        lengths += strcasecmp(header->name, "Content-Length") == 0;
    }
    fuzz_check(lengths == (verdict->has_length ? 1 : 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = fuzz_text(data, size); /* with a NUL behind them, which is not judged */
    char *again = fuzz_text(data, size);
    struct gate_request request, twin;
    struct gate_verdict verdict = gate_check(bytes, size, &request);

    if (verdict.status == 0) {
        struct gate_verdict alone;

        check_admitted(&verdict, &request, size);
        /* The bytes behind the head do not change the verdict. */
        alone = gate_check(again, verdict.head_bytes, &twin);
        fuzz_check(alone.status == 0 && alone.head_bytes == verdict.head_bytes &&
                   alone.body_bytes == verdict.body_bytes);
    } else {
        fuzz_check(verdict.status >= 400 && verdict.status < 600 && verdict.why != NULL);
    }
    free(again);
    free(bytes);
    return 0;
}
