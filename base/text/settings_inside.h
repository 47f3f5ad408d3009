/* SPDX-License-Identifier: MIT */
/* settings_inside.h -- the common part of the files settings*.c.  No other file includes it. */
#ifndef BASE_SETTINGS_INSIDE_H
#define BASE_SETTINGS_INSIDE_H

#include "base/text/settings.h"

/* A call of settings_load(), and the source that is being read. */
struct loading {
    struct settings *s;
    void *values;
    const char *source; /* as in struct setting_origin                            */
    enum setting_rank rank;
    bool failed;        /* something was refused, and stderr says so              */
    bool is_shared;     /* of the file: users may read it who do not run the program */
};

/* Write a line to stderr that says what is wrong, after the program's name. */
void settings_complain(const struct settings *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Allocate memory that settings_free() frees.  Without memory the program aborts. */
void *settings_keep(struct settings *s, size_t size);

/* Copy a text into such memory. */
const char *settings_keep_text(struct settings *s, const char *text);

/* Set the setting `index` to the value `text`.  If the value is wrong, stderr says so,
 * and l->failed is set. */
bool settings_assign(struct loading *l, size_t index, const char *text);

/* Read the file, and assign its values. */
void settings_read_file(struct loading *l, const char *path);

/* Refuse the SECKILL_ variables that no program of the project knows. */
void settings_check_environment(struct loading *l);

/* The program's setting with this key; -1: it has none. */
int settings_find_key(const struct settings *s, const char *key);

/* Does any program have this key? */
bool settings_key_is_known(const char *key);

/* Is `flag` one of the program that s->program passes flags on to? */
bool settings_is_passed_on(const struct settings *s, const char *flag);

/* The key that is most similar to `word`; NULL: none is similar. */
const char *settings_suggest_key(const struct settings *s, const char *word);

/* The flag that is most similar to `word`: of the program, or of the program that it
 * passes flags on to, and *passed_on is then true.  NULL: none is similar. */
const char *settings_suggest_flag(const struct settings *s, const char *word,
                                  bool *passed_on);

#endif /* BASE_SETTINGS_INSIDE_H */
