/* SPDX-License-Identifier: MIT */
/* words.c -- texts of the page, and numbers. */
#include "loadtest/report/parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "loadtest/page/scene.h"

static const struct {
    const char *english, *chinese;
} words[] = {
#define WORD(id, english, chinese) {english, chinese},
#include "loadtest/report/words.def"
#undef WORD
};

/* arguments[0] is none of them: an array may not be empty. */
static void fill(FILE *out, const char *text, const char *const *arguments)
{
    for (; *text; text++) {
        if (text[0] == '{' && text[1] >= '0' && text[1] <= '9' && text[2] == '}') {
            page_text(out, arguments[text[1] - '0' + 1]);
            text += 2;
        } else {
            char one[2] = {*text, '\0'};

            if (strchr("<>&\"", *text))
                page_text(out, one);
            else
                fputc(*text, out);
        }
    }
}

static void print(FILE *out, const char *element, enum word word, const char *const *arguments)
{
    fprintf(out, "<%s class=\"en\" lang=\"en\">", element);
    fill(out, words[word].english, arguments);
    fprintf(out, "</%s><%s class=\"zh\" lang=\"zh-CN\">", element, element);
    fill(out, words[word].chinese, arguments);
    fprintf(out, "</%s>", element);
}

void say_words(FILE *out, enum word word, const char *const *arguments)
{
    print(out, "span", word, arguments);
}

void say_section(FILE *out, const char *id, enum word heading)
{
    fprintf(out, "<section id=\"%s\"><h2>", id);
    say_words(out, heading, (const char *const[]){""});
    page_end(out, "h2");
}

void say_head(FILE *out, enum word heading, bool is_number)
{
    fprintf(out, "<th scope=\"col\"%s>", is_number ? " class=\"number\"" : "");
    say_words(out, heading, (const char *const[]){""});
    fputs("</th>", out);
}

void draw_words(FILE *out, enum word word, const char *const *arguments)
{
    print(out, "tspan", word, arguments);
}

const char *figure_whole(int64_t value, char out[FIGURE_MAX])
{
    char digits[FIGURE_MAX], *to = out;
    size_t length;
    const char *at = digits;

    snprintf(digits, sizeof digits, "%" PRId64, value);
    if (*at == '-')
        *to++ = *at++;
    length = strlen(at);
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = at[i];
    }
    *to = '\0';
    return out;
}

const char *figure(double value, char out[FIGURE_MAX])
{
    double size = fabs(value);

    if (!isfinite(value))
        snprintf(out, FIGURE_MAX, "-");
    else if (size >= 100)
        figure_whole(size < 9e15 ? (int64_t)llround(value) : 0, out);
    else
        snprintf(out, FIGURE_MAX, "%.*f", size >= 10 ? 1 : 2, value);
    return out;
}
