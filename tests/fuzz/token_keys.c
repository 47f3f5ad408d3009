/* SPDX-License-Identifier: MIT */
/* token_keys.c -- fuzz: a file of keys. */
#include <sys/stat.h>

#include "base/http/token.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[128], why[TOKEN_WHY_MAX] = "";
    static const unsigned char zeros[TOKEN_KEY_BYTES];
    struct token_keys keys;

    fuzz_file("token.key", data, size, path);
    fuzz_check(chmod(path, 0600) == 0);
    if (!token_keys_load(path, getuid(), &keys, why)) {
        fuzz_check(why[0] != '\0' && strlen(why) < sizeof(why));
        return 0;
    }
    fuzz_check(keys.count >= 1 && keys.count <= TOKEN_KEYS_MAX);
    for (size_t i = 0; i < keys.count; i++) {
        fuzz_check(keys.at[i].id <= TOKEN_KEY_ID_MAX);
        fuzz_check(memcmp(keys.at[i].bytes, zeros, sizeof(zeros)) != 0);
        for (size_t j = 0; j < i; j++)
            fuzz_check(keys.at[i].id != keys.at[j].id);
    }
    return 0;
}
