/* SPDX-License-Identifier: MIT */
/* expectation.c -- the rows of expectations.def, and which of them a lock is judged by. */
#include "loadtest/expect/expectation.h"

#include <string.h>

static const struct expectation ROWS[] = {
#define LOCKS(names) .locks = (names)
#define LOCKS_WITH(caps) .with = (caps)
#define ALL_LOCKS .with = 0
#define OWN_GUARD NULL
#define EXPECT(what, story, who, under, way, end, signs, gives_way, why)               \
    {.kind = EXPECTATION_OF_##what,                                                    \
     .of = #story,                                                                     \
     who,                                                                              \
     .guard = (under),                                                                 \
     .path = ORDER_PATH_##way,                                                               \
     .outcome = SCENARIO_##end,                                                        \
     .shows = (signs),                                                                 \
     .broken = DLOCK_ASSUMES_##gives_way,                                              \
     .reason = (why)},
#define CHECK_GAP(names)
#define SIMULATED(class, subjects, must, may, reason)
#include "loadtest/expect/expectations.def"
#undef SIMULATED
#undef CHECK_GAP
#undef EXPECT
#undef OWN_GUARD
#undef ALL_LOCKS
#undef LOCKS_WITH
#undef LOCKS
};

enum { ROW_COUNT = sizeof ROWS / sizeof ROWS[0] };

const struct expectation *expectation_at(size_t i)
{
    return i < ROW_COUNT ? &ROWS[i] : NULL;
}

/* A file has an underscore where the name has a dash. */
static bool is_file_of(const char *file, const char *name)
{
    while (*file != '\0' && (*file == *name || (*file == '_' && *name == '-')))
        file++, name++;
    return *file == *name;
}

const struct expectation *expectation_next(const struct expectation *last,
                                           enum expectation_kind kind, const char *name)
{
    size_t i = last == NULL ? 0 : (size_t)(last - ROWS) + 1;

    while (i < ROW_COUNT && (ROWS[i].kind != kind || !is_file_of(ROWS[i].of, name)))
        i++;
    return expectation_at(i);
}

bool expectation_names(const char *words, const char *word)
{
    size_t length = strlen(word);

    for (; words != NULL && *words != '\0'; words += strcspn(words, " ,")) {
        words += strspn(words, " ,");
        if (strcspn(words, " ,") == length && strncmp(words, word, length) == 0)
            return true;
    }
    return false;
}

bool expectation_fits(const struct expectation *e, const dlock_variant_info *lock)
{
    return (e->locks == NULL || expectation_names(e->locks, lock->name)) &&
           (lock->caps & e->with) == e->with;
}

static const struct expectation *first_of(const char *name, const dlock_variant_info *lock,
                                          enum order_path_id path)
{
    const struct expectation *e = NULL;

    do
        e = expectation_next(e, EXPECTATION_OF_HAZARD, name);
    while (e != NULL && !(e->path == path && expectation_fits(e, lock)));
    return e;
}

const struct expectation *expectation_of_hazard(const char *name,
                                                const dlock_variant_info *lock,
                                                enum order_path_id path)
{
    const struct expectation *own = first_of(name, lock, path);

    return own != NULL ? own : first_of(name, lock, ORDER_PATH_each);
}

bool lock_has_check_gap(const dlock_variant_info *lock)
{
    static const char NAMES[] =
#define EXPECT(...)
#define CHECK_GAP(names) names
#define SIMULATED(class, subjects, must, may, reason)
#include "loadtest/expect/expectations.def"
#undef SIMULATED
#undef CHECK_GAP
#undef EXPECT
        ;

    return expectation_names(NAMES, lock->name);
}
