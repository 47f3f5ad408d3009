/* SPDX-License-Identifier: MIT */
/* config_addresses.h -- checks the settings that name stores of locks, and finds the
 * source of a setting. */
#ifndef APP_CONFIG_ADDRESSES_H
#define APP_CONFIG_ADDRESSES_H

#include "base/text/settings.h"

/* The source of the value of the setting `name`, for messages: "flag", "environment",
 * "FILE:LINE" or "default".  `s` owns the text. */
const char *config_source(const struct settings *s, const char *name);

/* Is every given address of Redis, ZooKeeper and etcd well-formed, also if the lock
 * does not use it?  False: standard error names the setting, its source, the first
 * wrong character and the right form, without passwords. */
bool config_addresses_are_good(const struct settings *s);

#endif /* APP_CONFIG_ADDRESSES_H */
