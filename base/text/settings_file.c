/* SPDX-License-Identifier: MIT */
/* settings_file.c -- the configuration file: lines of key = value.
 *
 * The file is read by hand because the library for it in Debian (libinih 55) cuts lines
 * at 200 bytes, which five addresses of Redis exceed, and tells no line numbers. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/utf8.h"
#include "base/text/settings_inside.h"

enum { FILE_BYTES_MAX = 1 << 20 };

static const char BYTE_ORDER_MARK[] = "\xef\xbb\xbf";

static bool refuse_file(struct loading *l, const char *path, const char *why)
{
    settings_complain(l->s, "cannot read %s: %s", path, why);
    l->failed = true;
    return false;
}

static bool read_all(struct loading *l, const char *path, int fd, char *text, size_t size)
{
    size_t len = 0;

    while (len < size) {
        ssize_t n = read(fd, text + len, size - len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return refuse_file(l, path, strerror(errno));
        if (n == 0)
            break;
        len += (size_t)n;
    }
    if (len > FILE_BYTES_MAX)
        return refuse_file(l, path, "it has more than 1 MiB, which no settings need");
    text[len] = '\0';
    if (memchr(text, '\0', len))
        return refuse_file(l, path, "it has a zero byte, so it is no text");
    return true;
}

/* Read the text of the file, which settings_free() frees.  NULL: it failed, and stderr
 * says why.  The file must be regular, because a pipe or a device could make the
 * program wait for ever. */
static char *read_text(struct loading *l, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    char *text;
    bool ok;

    if (fd < 0 || fstat(fd, &st) != 0) {
        refuse_file(l, path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    if (!S_ISREG(st.st_mode)) {
        refuse_file(l, path,
                    S_ISDIR(st.st_mode) ? "it is a directory" : "it is no regular file");
        close(fd);
        return NULL;
    }
    l->is_shared = st.st_mode & (st.st_uid == 0 ? S_IROTH : S_IROTH | S_IRGRP);
    text = settings_keep(l->s, FILE_BYTES_MAX + 2);
    ok = read_all(l, path, fd, text, FILE_BYTES_MAX + 1);
    close(fd);
    return ok ? text : NULL;
}

/* Remove the blanks at both ends. */
static char *trim(char *text)
{
    size_t len;

    text += strspn(text, " \t\r\v\f");
    len = strlen(text);
    while (len > 0 && strchr(" \t\r\v\f", text[len - 1]))
        len--;
    text[len] = '\0';
    return text;
}

/* Remove a comment at the end of a line, which begins with a blank and # or ;. */
static void drop_comment(char *value)
{
    for (char *p = value; *p; p++) {
        if ((*p == '#' || *p == ';') && p > value && (p[-1] == ' ' || p[-1] == '\t')) {
            *p = '\0';
            return;
        }
    }
}

static bool refuse_key(struct loading *l, const char *key)
{
    const char *near, *passes_to = l->s->program->passes_to;

    l->failed = true;
    if (settings_is_passed_on(l->s, key)) {
        settings_complain(l->s,
                          "%s: %s is a setting of %s; write it on the command line: %s -- "
                          "--%s=...",
                          l->source, key, passes_to, l->s->program->name, key);
        return false;
    }
    near = settings_suggest_key(l->s, key);
    if (near)
        settings_complain(l->s, "%s: unknown key \"%s\"; did you mean \"%s\"?", l->source,
                          key, near);
    else
        settings_complain(l->s, "%s: unknown key \"%s\"; --show-config lists them",
                          l->source, key);
    return false;
}

static bool read_pair(struct loading *l, char *key, char *value)
{
    int index = settings_find_key(l->s, key);
    const struct setting_origin *before;

    if (index < 0) {
        if (!settings_key_is_known(key) || settings_is_passed_on(l->s, key))
            return refuse_key(l, key);
        return true; /* another program's */
    }
    if (*value == '\0')
        return true; /* as an empty variable; settings_show() writes such lines */
    if (l->is_shared && l->s->program->settings[index].type == SETTING_SECRET &&
        (strchr(value, '@') || strstr(value, "password"))) { /* no URL without one has these */
        settings_complain(l->s, "%s: %s has a password, and other users may read the file; "
                          "change its mode to 0600, or to 0640 if it is root's", l->source, key);
        return !(l->failed = true);
    }
    before = &l->s->origins[index];
    if (before->rank == SETTING_FILE &&
        l->s->program->settings[index].type != SETTING_LINES) {
        settings_complain(l->s, "%s: %s stands there twice; it is also at %s", l->source,
                          key, before->source);
        return !(l->failed = true);
    }
    return settings_assign(l, (size_t)index, value);
}

static bool read_line(struct loading *l, char *line)
{
    char *key = trim(line), *value;

    if (*key == '\0' || *key == '#' || *key == ';')
        return true;
    value = strpbrk(key, "=:");
    if (*key == '[' || !value || value == key) {
        /* The line itself is not shown, because it may contain a password. */
        settings_complain(l->s, "%s: expected key = value%s", l->source,
                          *key == '[' ? "; the file has no sections" : "");
        return !(l->failed = true);
    }
    *value++ = '\0';
    drop_comment(value);
    return read_pair(l, trim(key), trim(value));
}

void settings_read_file(struct loading *l, const char *path)
{
    char *line = read_text(l, path), *next;

    if (!line)
        return;
    l->rank = SETTING_FILE;
    if (strncmp(line, BYTE_ORDER_MARK, sizeof BYTE_ORDER_MARK - 1) == 0)
        line += sizeof BYTE_ORDER_MARK - 1;
    for (size_t number = 1; line; number++, line = next) {
        size_t size = UTF8_SHOWN_SIZE(strlen(path)) + 24;
        char *source = settings_keep(l->s, size);

        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        utf8_show(path, source, size - 24);
        snprintf(source + strlen(source), 24, ":%zu", number);
        l->source = source;
        if (!read_line(l, line))
            return;
    }
}
