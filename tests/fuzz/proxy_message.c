/* SPDX-License-Identifier: MIT */
/* proxy_message.c -- fuzz: the ends of messages. The first byte chooses the protocol and direction,
 * and the second the size of the pieces in which the bytes arrive, which must not change the
 * ends. */
#include "loadtest/proxy/message.h"
#include "tests/fuzz/fuzz.h"

/* The positions at which messages end, as one hash. */
static uint64_t scan(struct proxy_scanner s, const uint8_t *data, size_t size, size_t piece)
{
    uint64_t ends = 0;

    for (size_t at = 0; at < size;) {
        size_t left = size - at < piece ? size - at : piece;
        bool ended = false;
        size_t taken = proxy_scan(&s, data + at, left, &ended);

        fuzz_check(taken <= left && (taken == left || ended));
        at += taken;
        if (ended)
            ends = ends * 31 + at;
        else if (taken == 0)
            break;
    }
    return ends;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct proxy_scanner s = {0};
    size_t protocols = 0;

    if (size < 3)
        return 0;
    while (proxy_protocol_name(protocols) != NULL)
        protocols++;
    fuzz_check(protocols > 0);
    s.protocol = (enum proxy_protocol)(data[0] % protocols);
    s.direction = data[0] & 0x80 ? PROXY_TO_CLIENT : PROXY_TO_SERVER;
    fuzz_check(scan(s, data + 2, size - 2, size) ==
               scan(s, data + 2, size - 2, data[1] % 16 + 1u));
    return 0;
}
