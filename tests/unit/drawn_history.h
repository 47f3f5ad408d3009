/* SPDX-License-Identifier: MIT */
/* drawn_history.h -- makes the page of a history, and counts the elements in it. */
#ifndef TESTS_UNIT_DRAWN_HISTORY_H
#define TESTS_UNIT_DRAWN_HISTORY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadtest/page/page.h"
#include "tests/registered.h"

#define HOLD "<rect class=\"hold\""
#define LATE "<rect class=\"late\""

/* A lock after the end of its lease: the second and the third owner hold it at once. */
static const char cascade[] =
    "system p1 pid=11 caps=exclusive,expires variant=naive lease=30\n"
    "system p2 pid=12 caps=exclusive,expires variant=naive lease=30\n"
    "system p3 pid=13 caps=exclusive,expires variant=naive lease=30\n"
    "10 p1 t1 acquire a -> 11 ok until=40\n"
    "20 fault freeze begun process pid=11\n"
    "41 p2 t2 acquire a -> 42 ok until=71\n"
    "45 fault freeze ended process pid=11\n"
    "50 p1 t1 release a -> 51 ok\n"
    "52 p3 t3 acquire a -> 53 ok until=82\n"
    "60 p2 t2 release a -> 61 ok\n"
    "70 p3 t3 release a -> 71 ok\n";

static inline void add_hostile_name(struct history *h, const char *name)
{
    struct history_call *call = history_add_call(h);
    struct history_process *process;

    process = history_add_process(h);
    snprintf(process->uuid, sizeof(process->uuid), "<b>\"&'");
    call->kind = DLOCK_EVENT_ACQUIRE;
    call->is_answered = true;
    call->name = history_name(h, name, strlen(name));
    call->answer_ns = 1;
    call->deadline_ns = 20;
    history_damage(h, "torn: %s", name);
    history_sort(h);
}

/* Judge the history and print its page. The caller frees the text. */
static char *page_of_judged(const struct history *h, const struct check_options *options)
{
    struct check *c = check_new();
    struct check_verdict verdict;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    check_judge(c, h, options, &verdict);
    page_print(out, h, c, &verdict);
    fclose(out);
    check_free(c);
    return text;
}

static char *page_of(const struct history *h)
{
    struct check_options options = check_options_default();

    return page_of_judged(h, &options);
}

static char *page_of_text(const char *text)
{
    struct history h = {0};
    char error[128];
    char *page;

    assert_true(history_parse(&h, text, error, sizeof(error)));
    history_scale(&h, 1000000);
    page = page_of(&h);
    history_free(&h);
    return page;
}

static inline int count_of(const char *text, const char *what)
{
    int count = 0;

    while ((text = strstr(text, what)) != NULL) {
        count++;
        text += strlen(what);
    }
    return count;
}

/* The figure of one property; the caller frees it. */
static char *figure_of(const char *page, const char *property)
{
    char mark[64];
    const char *from, *to;

    snprintf(mark, sizeof(mark), "data-property=\"%s\"", property);
    from = strstr(page, mark);
    assert_non_null(from);
    to = strstr(from, "</section>");
    assert_non_null(to);
    return strndup(from, (size_t)(to - from));
}

#endif /* TESTS_UNIT_DRAWN_HISTORY_H */
