/* SPDX-License-Identifier: MIT */
/* duration.c -- fuzz: durations, and the times in the policies of the lock library. */
#include "base/text/duration.h"
#include "lock/retry.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct dlock_retry retry;
    char written[64];
    int64_t ms = -1, back = -1;

    if (duration_parse(text, &ms)) {
        fuzz_check(ms >= 0);
        fuzz_check(duration_parse(duration_format(ms, written, sizeof(written)), &back));
        fuzz_check(back == ms);
    } else {
        fuzz_check(ms == -1);
    }
    if (dlock_retry_parse(text, &retry) == DLOCK_OK && retry.kind >= DLOCK_RETRY_FIXED)
        fuzz_check(retry.first_ms >= 1 && retry.max_ms >= retry.first_ms &&
                   retry.max_ms <= 3600000 && retry.jitter_percent >= 0 &&
                   retry.jitter_percent <= 100);
    free(text);
    return 0;
}
