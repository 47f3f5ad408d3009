/* SPDX-License-Identifier: MIT */
/* catalogue.c -- the list of faults, made from faults.def alone. */
#include "loadtest/fault/catalogue.h"

#include <string.h>

#define SERVER_FAULT(file) extern const struct server_fault fault_##file;
#include "loadtest/fault/faults.def"
#undef SERVER_FAULT

static const struct server_fault *const faults[] = {
#define SERVER_FAULT(file) &fault_##file,
#include "loadtest/fault/faults.def"
#undef SERVER_FAULT
};

enum { FAULT_COUNT = sizeof faults / sizeof faults[0] };

const struct server_fault *server_fault_at(size_t i)
{
    return i < FAULT_COUNT ? faults[i] : NULL;
}

const char *server_fault_name_at(size_t i)
{
    return i < FAULT_COUNT ? faults[i]->name : NULL;
}

const struct server_fault *server_fault_find(const char *name)
{
    for (size_t i = 0; i < FAULT_COUNT; i++) {
        if (strcmp(faults[i]->name, name) == 0)
            return faults[i];
    }
    return NULL;
}
