/* SPDX-License-Identifier: MIT */
/* fuzz.h -- functions that the fuzz targets share.
 *
 * A target is one file of tests/fuzz: LLVMFuzzerTestOneInput() is called with random bytes again
 * and again. The target may refuse the bytes, but must not crash, leak or hang. fuzz_check() ends
 * the program when an answer is wrong. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Return the bytes as a text, which ends for its readers at the first NUL. The caller frees the
 * text. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = (char *)malloc(size + 1);

    if (text == NULL)
        abort();
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

/* The directory of this process, which the first call makes in TMPDIR, and which tests/fuzz/run
 * removes. */
static inline const char *fuzz_dir(void)
{
    static char dir[100];
    const char *above = getenv("TMPDIR");

    if (dir[0] == '\0') {
        snprintf(dir, sizeof(dir), "%.80s/fuzz-XXXXXX", above != NULL ? above : "/tmp");
        if (mkdtemp(dir) == NULL)
            abort();
    }
    return dir;
}

/* Write the bytes into the file `name` of that directory, and its path into `path`. */
static inline void fuzz_file(const char *name, const uint8_t *data, size_t size,
                             char path[128])
{
    FILE *file;

    snprintf(path, 128, "%s/%s", fuzz_dir(), name);
    file = fopen(path, "we");
    if (file == NULL || (size > 0 && fwrite(data, size, 1, file) != 1) ||
        fclose(file) != 0)
        abort();
}

#define fuzz_check(fact)                                                               \
    do {                                                                               \
        if (!(fact)) {                                                                 \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #fact);  \
            abort();                                                                   \
        }                                                                              \
    } while (0)

#endif /* FUZZ_H */
