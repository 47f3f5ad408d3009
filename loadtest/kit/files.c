/* SPDX-License-Identifier: MIT */
/* files.c -- files, directories, programs and names. */
#include "loadtest/kit/files.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/os/utf8.h"
#include "base/text/exit_codes.h"
#include "base/text/output_file.h"
#include "loadtest/kit/memory.h"
#include "loadtest/kit/url_mask.h"

enum { LEVELS_ABOVE = 4, TAIL_LINES = 10 };
/* The errno of files_open_input() that no file gives otherwise. */
enum { NOT_REGULAR = EMEDIUMTYPE };

/* The largest files that are read.  JSON takes many times its size in memory. */
enum { JSON_MAX = 64 << 20, ROWS_MAX = 1 << 30 };

static off_t largest(const char *path)
{
    const char *end = strrchr(path, '.');

    return end && strcmp(end, ".json") == 0 ? JSON_MAX : ROWS_MAX;
}

static void too_long(void)
{
    fputs("seckill: a path is too long\n", stderr);
    exit(EXIT_USAGE);
}

void files_path(char *out, const char *fmt, ...)
{
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(out, FILES_PATH_MAX, fmt, args);
    va_end(args);
    if (n < 0 || n >= FILES_PATH_MAX)
        too_long();
}

void files_join(char *out, const char *dir, const char *name)
{
    files_path(out, "%s/%s", dir, name);
}

bool files_is_directory(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* An open descriptor, as /dev/stdin and the /dev/fd/63 of a shell's <(...) are, is read whatever it
 * is, because the user has given it on purpose. */
static bool is_descriptor(const char *path)
{
    return strncmp(path, "/dev/std", 8) == 0 || strncmp(path, "/dev/fd/", 8) == 0 ||
           strncmp(path, "/proc/", 6) == 0;
}

int files_open_input(const char *path)
{
    /* O_NONBLOCK, because opening a FIFO would otherwise wait for a writer. */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat st = {0};

    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || is_descriptor(path)) &&
        st.st_size <= largest(path) && fcntl(fd, F_SETFL, 0) == 0)
        return fd;
    close(fd);
    errno = S_ISDIR(st.st_mode) ? EISDIR : st.st_size > largest(path) ? EFBIG : NOT_REGULAR;
    return -1;
}

const char *files_reason(void)
{
    return errno == NOT_REGULAR ? "it is no regular file"
           : errno == EFBIG     ? "it is larger than any file of its kind"
                                : strerror(errno);
}

char *files_read(const char *path, size_t *size)
{
    int fd = files_open_input(path);
    FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
    char *text = NULL;
    size_t used = 0, room = 0;
    int why = 0;

    if (!file)
        return NULL;
    do {
        if (room - used < 4096)
            text = memory_need(realloc(text, (room += room / 2 + 65536) + 1));
        used += fread(text + used, 1, room - used, file);
    } while (!feof(file) && !ferror(file) && used <= (size_t)largest(path));
    if (!feof(file)) {
        why = ferror(file) ? errno : EFBIG;
        free(text);
        text = NULL;
    } else {
        text[used] = '\0';
    }
    fclose(file);
    if (size)
        *size = used;
    errno = why;
    return text;
}

static bool replace(const char *path, const char *text, bool is_secret)
{
    size_t size = strlen(text);
    struct output_file file;

    return output_file_open(&file, path, is_secret) &&
           output_file_close(&file, fwrite(text, 1, size, file.stream) == size);
}

bool files_write(const char *path, const char *text)
{
    return replace(path, text, false);
}

bool files_write_secret(const char *path, const char *text)
{
    return replace(path, text, true);
}

/* A copy without the logins of its texts; `before` is the element before it. */
static json_t *files_mask(const json_t *before, const json_t *json)
{
    json_t *copy = json_is_array(json) ? json_array() : json_is_object(json) ? json_object() : NULL;
    const char *key;
    json_t *value;
    char *masked;
    size_t i;

    json_array_foreach(json, i, value)
        json_array_append_new(copy, files_mask(json_array_get(json, i - 1), value));
    json_object_foreach((json_t *)json, key, value)
        json_object_set_new(copy, key, files_mask(NULL, value));
    if (!json_is_string(json))
        return copy ? copy : json_incref((json_t *)json);
    masked = url_mask(json_string_value(before), json_string_value(json));
    copy = json_string(masked);
    free(masked);
    return copy;
}

char *files_json_text(const json_t *json, size_t flags)
{
    json_t *masked = files_mask(NULL, json);
    char *plain = memory_need(json_dumps(masked, flags)), *text = NULL;
    size_t size = 0;
    FILE *out = memory_need(open_memstream(&text, &size));

    for (const char *at = plain; *at != '\0';) {
        uint32_t value;
        size_t len = utf8_read(at, &value);

        assert(len > 0);
        if (value >= 0x7f && utf8_is_control(value))
            fprintf(out, "\\u%04x", value);
        else
            fwrite(at, 1, len, out);
        at += len;
    }
    free(plain);
    json_decref(masked);
    if (fclose(out) != 0)
        abort();
    return memory_need(text);
}

static bool write_json(const char *path, char *text, bool is_secret)
{
    char *whole = NULL;
    bool ok = text && asprintf(&whole, "%s\n", text) > 0 && replace(path, whole, is_secret);

    free(whole);
    free(text);
    return ok;
}

bool files_write_json(const char *path, const json_t *json)
{
    return write_json(path, files_json_text(json, JSON_INDENT(2) | JSON_REAL_PRECISION(6)), false);
}

bool files_write_secret_json(const char *path, const json_t *json)
{
    return write_json(path, json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(6)), true);
}

int files_open_log(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

json_t *files_read_json(const char *path)
{
    json_error_t error;
    size_t size = 0;
    char *text = files_read(path, &size);
    json_t *json = text ? json_loadb(text, size, 0, &error) : NULL;

    if (!json)
        eprintf("seckill: cannot read %s: %s\n", path, text ? error.text : files_reason());
    free(text);
    return json;
}

void files_print_json(json_t *json)
{
    char *text = files_json_text(json, JSON_INDENT(2));

    puts(text);
    free(text);
    json_decref(json);
}

bool files_make_dir(const char *path)
{
    char part[FILES_PATH_MAX];

    files_path(part, "%s", path);
    for (char *p = part + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        if (mkdir(part, 0755) != 0 && errno != EEXIST)
            return false;
        *p = '/';
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static int remove_entry(const char *path, const struct stat *st, int kind,
                        struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

bool files_remove_tree(const char *path)
{
    struct stat st;
    const char *second = *path == '/' ? strchr(path + 1, '/') : NULL;

    if (!second || second[1] == '\0' || strstr(path, "/../"))
        return false;
    if (lstat(path, &st) != 0)
        return errno == ENOENT;
    return nftw(path, remove_entry, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) == 0;
}

void files_print_tail(const char *path)
{
    size_t size = 0;
    int lines = TAIL_LINES;
    char *text = files_read(path, &size);
    char *p, *line;

    if (!text) {
        eprintf("  | (no log at %s)\n", path);
        return;
    }
    while (size > 0 && text[size - 1] == '\n')
        text[--size] = '\0';
    for (p = text + size; p > text; p--) {
        if (p[-1] == '\n' && --lines <= 0)
            break;
    }
    while ((line = strsep(&p, "\n")) != NULL)
        eprintf("  | %s\n", line);
    free(text);
}

/* The message of a line of a log, behind "2024-01-31T12:00:00.000Z ERROR ". */
static const char *after_stamp(const char *line)
{
    size_t stamp = strcspn(line, " "), level;
    const char *rest = line + stamp;

    if (stamp < 2 || line[stamp - 1] != 'Z' || line[0] < '0' || line[0] > '9')
        return line;
    rest += strspn(rest, " ");
    level = strcspn(rest, " ");
    return rest + level + strspn(rest + level, " ");
}

void files_last_line(const char *path, char *out, size_t size)
{
    size_t length = 0;
    char *text = files_read(path, &length);
    char *line;

    out[0] = '\0';
    if (!text)
        return;
    while (length > 0 && text[length - 1] == '\n')
        text[--length] = '\0';
    line = strrchr(text, '\n');
    snprintf(out, size, "%s", after_stamp(line ? line + 1 : text));
    free(text);
}

void files_random_hex(char *out, size_t bytes)
{
    unsigned char raw[64];

    if (bytes > sizeof raw || getrandom(raw, bytes, 0) != (ssize_t)bytes)
        abort();
    for (size_t i = 0; i < bytes; i++)
        snprintf(out + 2 * i, 3, "%02x", raw[i]);
}

void files_program_dir(char *out)
{
    char path[FILES_PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    char *slash;

    if (n <= 0)
        too_long();
    path[n] = '\0';
    memcpy(out, path, (size_t)n + 1);
    slash = strrchr(out, '/');
    *(slash == out ? slash + 1 : slash) = '\0';
}

void files_sibling(char *out, const char *name)
{
    char dir[FILES_PATH_MAX];

    files_program_dir(dir);
    files_join(out, dir, name);
}

bool files_find_program(char *out, const char *name)
{
    const char *path = getenv("PATH");

    for (const char *p = path; p && *p;) {
        size_t length = strcspn(p, ":");

        files_path(out, "%.*s/%s", (int)length, p, name);
        if (length > 0 && access(out, X_OK) == 0)
            return true;
        p += length + (p[length] == ':');
    }
    return false;
}

bool files_find_data(char *out, const char *relative)
{
    char dir[FILES_PATH_MAX];
    const char *name = strchr(relative, '/');

    files_program_dir(dir);
    for (int level = 0; level <= LEVELS_ABOVE; level++) {
        char *slash;

        files_join(out, dir, relative);
        if (access(out, R_OK) == 0)
            return true;
        slash = strrchr(dir, '/');
        if (!slash || slash == dir)
            break;
        *slash = '\0';
    }
    files_program_dir(dir);
    files_path(out, "%s/../share/seckill/%s", dir, name ? name + 1 : relative);
    return access(out, R_OK) == 0;
}

void files_utc_stamp(char *out, size_t size)
{
    time_t now = time(NULL);
    struct tm tm;

    gmtime_r(&now, &tm);
    if (strftime(out, size, "%Y%m%dT%H%M%SZ", &tm) == 0)
        *out = '\0';
}
