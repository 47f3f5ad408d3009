/* SPDX-License-Identifier: MIT */
/* proxy_script.c -- fuzz: the proxy's script, for each protocol. */
#include "loadtest/proxy/script.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    char one[PROXY_TEXT_MAX + 1], why[PROXY_WHY_MAX];
    struct proxy_fault fault;
    const char *script = text;

    while (proxy_script_next(&script, one, why)) {
        fuzz_check(script <= text + strlen(text) && strlen(one) <= PROXY_TEXT_MAX);
        for (int p = 0; proxy_protocol_name((size_t)p) != NULL; p++) {
            why[0] = '\0';
            if (proxy_fault_parse(&fault, (enum proxy_protocol)p, one, why))
                fuzz_check(strlen(fault.word) <= PROXY_WORD_MAX && fault.delay_ms >= 0);
            else
                fuzz_check(why[0] != '\0' && strlen(why) < PROXY_WHY_MAX);
        }
    }
    free(text);
    return 0;
}
