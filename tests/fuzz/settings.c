/* SPDX-License-Identifier: MIT */
/* settings.c -- fuzz: the settings file of the service, and its flags. */
#include "app/config.h"
#include "tests/fuzz/fuzz.h"

enum { FLAGS_MAX = 8 };

/* The bytes up to the first NUL are the file; the others are flags, each ended by a NUL. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[128], flag[160];
    char *text = fuzz_text(data, size);
    size_t at = strlen(text);
    char *argv[FLAGS_MAX + 3] = {(char *)"seckilld", flag};
    int argc = 2;
    struct settings settings = {0};
    struct config config;

    fuzz_file("settings", data, at, path);
    snprintf(flag, sizeof(flag), "--config=%s", path);
    for (at++; at < size && argc < FLAGS_MAX + 2; at += strlen(text + at) + 1)
        argv[argc++] = text + at;
    memset(&config, 0, sizeof(config));
    (void)config_load(&config, &settings, argc, argv);
    settings_free(&settings);
    free(text);
    return 0;
}
