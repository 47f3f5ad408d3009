/* SPDX-License-Identifier: MIT */
/* shrink.c -- makes one size after another as small as the verdict allows. */
#include "tests/simulation/shrink.h"

#include "tests/simulation/batch.h"

/* The number of draws that are tried before a size is given up. */
enum { DRAWS = 40, LAST_DRAWS = 120 };

struct search {
    struct play play;
    enum verdict verdict;
    struct smaller best;
    struct account account; /* of the best world */
};

static void play_smaller(const struct search *search, const struct smaller *less,
                         struct account *account)
{
    struct play play = search->play;

    play.less = less;
    batch_play(&play, account, false);
}

/* Does the world end with the verdict for one of the draws? If so, that world becomes the best. */
static bool is_found(struct search *search, const struct smaller *less)
{
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
        struct smaller tried = *less;
        struct account account;

        tried.draw = draw;
        play_smaller(search, &tried, &account);
        if (account.verdict == search->verdict) {
            search->best = tried;
            search->account = account;
            return true;
        }
    }
    return false;
}

/* The size in the best world. */
static int64_t size_now(const struct search *search, enum smaller_size size)
{
    return search->account.sizes[size];
}

/* Make one size smaller. Try the least value first, and then twice as much each time; the last try
 * is one less than the present value. Returns false if no value has the verdict. */
static bool lessen(struct search *search, enum smaller_size size)
{
    int64_t now = size_now(search, size);

    for (int64_t most = smaller_least(size); most < now;) {
        struct smaller less = search->best;

        less.most[size] = most;
        if (is_found(search, &less))
            return true;
        most = most == now - 1 ? now : most == 0 ? 1 : most * 2 < now - 1 ? most * 2 : now - 1;
    }
    return false;
}

/* Among the worlds of the smallest sizes, find the world that ends after the fewest switches of
 * tasks. */
static void find_shortest(struct search *search)
{
    struct smaller tried = search->best;

    for (tried.draw = 0; tried.draw < LAST_DRAWS; tried.draw++) {
        struct account account;

        play_smaller(search, &tried, &account);
        if (account.verdict == search->verdict &&
            account.calls + account.faults < search->account.calls + search->account.faults) {
            search->best = tried;
            search->account = account;
        }
    }
}

bool shrink(const struct play *play, const struct account *whole, struct smaller *less,
            struct account *account)
{
    struct search search = {.play = *play, .verdict = whole->verdict, .best = smaller_nothing,
                            .account = *whole};
    bool is_smaller = false, goes_on = whole->verdict != FINE && whole->verdict != HANG;

    while (goes_on) {
        goes_on = false;
        for (int size = 0; size < SIZE_COUNT; size++)
            goes_on = lessen(&search, (enum smaller_size)size) || goes_on;
        is_smaller = is_smaller || goes_on;
    }
    if (is_smaller)
        find_shortest(&search);
    *less = search.best;
    *account = search.account;
    return is_smaller;
}
