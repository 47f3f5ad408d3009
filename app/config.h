/* SPDX-License-Identifier: MIT */
/* config.h -- the settings of seckilld; the one list is config.def. */
#ifndef APP_CONFIG_H
#define APP_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "base/settings.h"

enum { CONFIG_PROCESS_MAX = 63 };

struct config {
#define SETTING(type, ctype, field, name, fallback, meta, choices, min, max, in, help) \
    ctype field;
#include "app/config.def"
#undef SETTING
    /* What follows from them. */
    char process_name[CONFIG_PROCESS_MAX + 1];
    bool lock_scope_is_voucher;
    bool unlock_before_commit;
    bool duplicate_is_counted;
    enum log_level level;
};

/* Read and check the settings.  OK: `s` keeps their texts until settings_free(). */
enum settings_result config_load(struct config *config, struct settings *s, int argc,
                                 char **argv);

/* Split HOST:PORT, where HOST is an IPv4 address.  False: it is not one; `host` has room
 * for 64 bytes. */
bool config_parse_address(const char *text, char *host, int *port);

#endif /* APP_CONFIG_H */
