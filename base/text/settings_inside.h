/* SPDX-License-Identifier: MIT */
/* settings_inside.h -- what the files settings*.c share; for nobody else. */
#ifndef BASE_SETTINGS_INSIDE_H
#define BASE_SETTINGS_INSIDE_H

#include "base/text/settings.h"

/* A call of settings_load(), and the source that is being read. */
struct loading {
    struct settings *s;
    void *values;
    const char *source; /* as in struct setting_origin                            */
    enum setting_rank rank;
    bool failed;        /* something was refused, and said                        */
};

/* Say on stderr, as one line, what is wrong; the program's name is put before it. */
void settings_complain(const struct settings *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Memory that settings_free() frees. */
void *settings_keep(struct settings *s, size_t size);

/* The same, with a copy of the text in it. */
const char *settings_keep_text(struct settings *s, const char *text);

/* Give setting `index` the value, or say why not and set l->failed. */
bool settings_assign(struct loading *l, size_t index, const char *text);

/* Read the file, and assign what it says. */
void settings_read_file(struct loading *l, const char *path);

/* Refuse the SECKILL_ variables that no program of the project knows. */
void settings_check_environment(struct loading *l);

/* The program's setting with this key; -1: it has none. */
int settings_find_key(const struct settings *s, const char *key);

/* Does any program have this key? */
bool settings_key_is_known(const char *key);

/* Is `flag` one of the program that s->program passes flags on to? */
bool settings_is_passed_on(const struct settings *s, const char *flag);

/* The key that `word` may have been meant for; NULL: none is near. */
const char *settings_suggest_key(const struct settings *s, const char *word);

/* The flag that `word` may have been meant for: of the program, or, then with *passed_on,
 * of the one that it passes flags on to; NULL: none is near. */
const char *settings_suggest_flag(const struct settings *s, const char *word,
                                  bool *passed_on);

#endif /* BASE_SETTINGS_INSIDE_H */
