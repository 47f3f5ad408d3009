/* SPDX-License-Identifier: MIT */
/* config_addresses.h -- the settings that name stores of locks, and where a setting came from. */
#ifndef APP_CONFIG_ADDRESSES_H
#define APP_CONFIG_ADDRESSES_H

#include "base/text/settings.h"

/* Where the value of the setting `name` came from, for messages: "flag", "environment" or
 * "FILE:LINE".  `s` owns it. */
const char *config_source(const struct settings *s, const char *name);

/* Can every address of Redis, ZooKeeper and etcd that was given be read, whether the lock uses it or
 * not?  False: standard error says which setting it is, where that came from, at which character
 * the address goes wrong, and the form that it has to have; without passwords. */
bool config_addresses_are_good(const struct settings *s);

#endif /* APP_CONFIG_ADDRESSES_H */
