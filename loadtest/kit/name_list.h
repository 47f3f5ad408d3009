/* SPDX-License-Identifier: MIT */
/* name_list.h -- a flag's list of names with commas between. */
#ifndef LOADTEST_KIT_NAME_LIST_H
#define LOADTEST_KIT_NAME_LIST_H

#include <stddef.h>
#include <stdint.h>

/* Define a function that gives these names, and NULL past the last:
 * static NAME_LIST(face_name, "hmdp", "v1") */
#define NAME_LIST(function, ...)                                                       \
    const char *function(size_t i)                                                     \
    {                                                                                  \
        static const char *const names[] = {__VA_ARGS__};                              \
                                                                                       \
        return i < sizeof names / sizeof names[0] ? names[i] : NULL;                   \
    }

/* The place of a name among those that `names` gives; SIZE_MAX: it is none of them. */
size_t words_place(const char *(*names)(size_t), const char *name);

/* The names of all locks; NULL past the last. */
const char *words_lock_at(size_t i);

/* Read a list; NULL and "all" mean every name.  A name that is given twice counts once, since each
 * name stands for a run or a directory.  `program` and `flag` are for messages; `names` gives the
 * known names, NULL past the last, and the pointers in `out` are from there.  0: the list is wrong,
 * and the reason is on stderr. */
size_t words_read(const char *program, const char *flag, const char *text,
                  const char *(*names)(size_t), const char **out, size_t max);

#endif /* LOADTEST_KIT_NAME_LIST_H */
