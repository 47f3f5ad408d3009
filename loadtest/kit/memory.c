/* SPDX-License-Identifier: MIT */
/* memory.c -- allocations that cannot fail. */
#include "loadtest/kit/memory.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text/exit_codes.h"

void *memory_need(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "seckill: there is not enough memory\n");
        exit(EXIT_BUG);
    }
    return memory;
}
