/* SPDX-License-Identifier: MIT */
/* config.h -- the settings of seckilld; the one list is config.def. */
#ifndef APP_CONFIG_H
#define APP_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text/log.h"
#include "base/text/settings.h"
#include "db/partition.h"
#include "db/sale_types.h"

enum { CONFIG_PROCESS_MAX = 63, CONFIG_FRONTS_MAX = 32, CONFIG_PATH_MAX = 4096,
       CONFIG_STREAM_MAX = 64 };

/* The counter of the orders that are let in. */
enum config_admission { ADMISSION_NONE, ADMISSION_SEMAPHORE, ADMISSION_PERMITS };

struct config {
#define SETTING(type, ctype, field, name, fallback, meta, choices, min, max, in, help, \
                output)                                                                \
    ctype field;
#include "app/config.def"
#undef SETTING
    /* Derived from the settings. */
    struct partition_urls databases; /* of --database-url */
    char process_name[CONFIG_PROCESS_MAX + 1];
    uint32_t process_number; /* random: containers may have one name */
    uint32_t fronts[CONFIG_FRONTS_MAX]; /* network order */
    size_t front_count;
    char admin_token_path[CONFIG_PATH_MAX]; /* the file of the admin token */
    bool lock_scope_is_voucher;
    bool redlock_is_sequential;
    bool lock_knows_readers;
    int64_t voucher_leaders;   /* the transactions of one voucher that may run at once */
    bool waits_without_worker; /* an order that waits in its lane occupies no worker */
    bool unlock_before_commit;
    bool unlock_waits; /* --unlock waits for the store's answer */
    enum duplicate_guard duplicates;
    enum log_level level;
    enum log_format format;
    enum config_admission admission_kind;
    int admission_limit; /* 0: none */
};

/* Is the order path `stream`? */
bool config_has_stream(const struct config *c);

/* The table of the settings. */
extern const struct setting_program config_program;

/* Read and check the settings.  OK: `s` keeps their texts until settings_free(). */
enum settings_result config_load(struct config *config, struct settings *s, int argc,
                                 char **argv);

/* Read IPv4 addresses separated by commas; NULL: no addresses.  False: one of them is
 * malformed, or there are more than CONFIG_FRONTS_MAX. */
bool config_parse_fronts(const char *text, uint32_t fronts[CONFIG_FRONTS_MAX],
                         size_t *count);

/* Read `none`, `semaphore:N` or `permits:N`, where N is from 1 to DLOCK_COUNT_MAX.
 * False: `text` has another form. */
bool config_parse_admission(const char *text, enum config_admission *kind, int *limit);

#endif /* APP_CONFIG_H */
