/* SPDX-License-Identifier: MIT */
/* lesson.c -- the list of lessons, and the list as JSON. */
#include "loadtest/show/lesson.h"

#include <stdlib.h>
#include <string.h>

#include "loadtest/kit/files.h"

/* This number of connections keeps both processes of the service busy on a machine with two
 * processors.  More connections would only wait. */
enum { LESSON_STOCK = 100, LESSON_CONNECTIONS = 16 };

static const struct lesson LESSONS[] = {
#define LESSON(...) {__VA_ARGS__},
#include "loadtest/show/lessons.def"
#undef LESSON
};

static const char *const OUTCOMES[] = {
#define X(id, name) name,
    LESSON_OUTCOMES(X)
#undef X
};

const char *lesson_outcome_name(enum lesson_outcome outcome)
{
    return OUTCOMES[outcome];
}

enum lesson_outcome lesson_outcome_find(const char *name)
{
    for (size_t i = 0; i < sizeof OUTCOMES / sizeof OUTCOMES[0]; i++)
        if (strcmp(OUTCOMES[i], name) == 0)
            return (enum lesson_outcome)i;
    return LESSON_UNCLEAR;
}

int lesson_count(void)
{
    return (int)(sizeof LESSONS / sizeof LESSONS[0]);
}

const struct lesson *lesson_at(int number)
{
    return number >= 1 && number <= lesson_count() ? &LESSONS[number - 1] : NULL;
}

int lesson_rounds(const struct lesson *lesson)
{
    int rounds = 0;

    while (rounds < LESSON_ROUNDS_MAX && lesson->locks[rounds])
        rounds++;
    return rounds;
}

bool lesson_has_answer(const struct lesson *lesson, enum lesson_outcome outcome)
{
    for (int i = 0; i < LESSON_ANSWERS_MAX && lesson->answers[i].text.en; i++)
        if (lesson->answers[i].outcome == outcome)
            return true;
    return false;
}

struct show_switches lesson_switches(const struct lesson *lesson, int round)
{
    return (struct show_switches){.lock = lesson->locks[round],
                                  .scope = show_scope_at(SHOW_SCOPE_VOUCHER),
                                  .stock_guard = lesson->stock_guard,
                                  .duplicate_guard = "none",
                                  .watchdog = "on",
                                  .order_path = "each",
                                  .users = show_users_at(SHOW_USERS_DIFFERENT),
                                  .lease_ms = lesson->lease_ms,
                                  .processes = lesson->processes,
                                  .connections = LESSON_CONNECTIONS,
                                  .stock = LESSON_STOCK};
}

static json_t *text_json(const struct lesson_text *text)
{
    return json_pack("{s:s, s:s}", "en", text->en, "zh", text->zh);
}

static json_t *answers_json(const struct lesson *lesson)
{
    json_t *list = json_array();

    for (int i = 0; i < LESSON_ANSWERS_MAX && lesson->answers[i].text.en; i++)
        json_array_append_new(
            list, json_pack("{s:s, s:o}", "name", lesson_outcome_name(lesson->answers[i].outcome),
                            "text", text_json(&lesson->answers[i].text)));
    return list;
}

static json_t *settings_json(const struct lesson *lesson)
{
    json_t *list = json_array();

    for (int i = 0; i < lesson_rounds(lesson); i++) {
        struct show_switches switches = lesson_switches(lesson, i);

        json_array_append_new(list, show_switches_json(&switches));
    }
    return list;
}

/* A lesson as JSON, without its required outcome, which the page must not know before the sale. */
static json_t *lesson_json(int number)
{
    const struct lesson *lesson = lesson_at(number);

    return json_pack("{s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o}", "number",
                     number, "name", lesson->name, "title", text_json(&lesson->title), "question",
                     text_json(&lesson->question), "answers", answers_json(lesson), "settings",
                     settings_json(lesson), "happens", text_json(&lesson->happens), "says",
                     text_json(&lesson->says), "article", text_json(&lesson->article), "command",
                     lesson->command, "document", text_json(&lesson->document), "read",
                     text_json(&lesson->read));
}

char *lesson_document(const char *path)
{
    char found[FILES_PATH_MAX];

    for (int number = 1; number <= lesson_count(); number++) {
        const struct lesson_text *document = &lesson_at(number)->document;

        if (strcmp(path, document->en) != 0 && strcmp(path, document->zh) != 0)
            continue;
        return files_find_data(found, path) ? files_read(found, NULL) : NULL;
    }
    return NULL;
}

char *lesson_catalog(void)
{
    json_t *list = json_array(), *json;
    char *text;

    for (int number = 1; number <= lesson_count(); number++)
        json_array_append_new(list, lesson_json(number));
    json = json_pack("{s:i, s:o}", "format", 1, "lessons", list);
    text = files_json_text(json, JSON_COMPACT);
    json_decref(json);
    return text;
}
