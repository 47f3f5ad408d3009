/* SPDX-License-Identifier: MIT */
/* postgres_answer.c -- builds the answers of the model of PostgreSQL: rows, tags, errors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulation/postgres_model.h"

void postgres_answer_free(struct postgres_answer *answer)
{
    for (int i = 0; i < answer->rows * answer->columns; i++)
        free(answer->cells[i]);
    free(answer->cells);
    answer->cells = NULL;
    answer->rows = 0;
}

static char *copy(const char *text)
{
    char *made = text != NULL ? strdup(text) : NULL;

    if (text != NULL && made == NULL)
        abort();
    return made;
}

void postgres_answer_add_row(struct postgres_answer *answer, const char *const *cells)
{
    size_t before = (size_t)(answer->rows * answer->columns);
    size_t count = before + (size_t)answer->columns;

    answer->rows++;
    if (count == 0)
        return;
    answer->cells = realloc(answer->cells, count * sizeof(*answer->cells));
    if (answer->cells == NULL)
        abort();
    for (size_t i = before; i < count; i++)
        answer->cells[i] = copy(cells[i - before]);
}

void postgres_answer_add(struct postgres_answer *answer, const char *a, const char *b,
                         const char *c)
{
    postgres_answer_add_row(answer, (const char *[]){a, b, c});
}

void postgres_answer_tag(struct postgres_answer *answer, const char *tag)
{
    (void)snprintf(answer->tag, sizeof(answer->tag), strcmp(tag, "INSERT") == 0 ? "%s 0 %d"
                                                                                : "%s %d",
                   tag, answer->rows);
}

enum postgres_run postgres_answer_refuse(struct postgres_answer *answer, const char *state,
                                         const char *constraint, const char *text)
{
    postgres_answer_free(answer);
    answer->kind = POSTGRES_RESULT_ERROR;
    answer->columns = 0;
    (void)snprintf(answer->state, sizeof(answer->state), "%s", state);
    (void)snprintf(answer->constraint, sizeof(answer->constraint), "%s",
                   constraint != NULL ? constraint : "");
    (void)snprintf(answer->text, sizeof(answer->text), "ERROR:  %s\n", text);
    return POSTGRES_REFUSED;
}
