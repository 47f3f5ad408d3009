/* SPDX-License-Identifier: MIT */
/* faults.h -- the faults that a class of worlds plans. */
#ifndef SIMULATION_FAULTS_H
#define SIMULATION_FAULTS_H

#include "lock/record/record.h"
#include "tests/simulation/workload.h"

/* The classes by name, and what happens in each. */
struct class_row {
    const char *name;
    const char *text;
    void (*strike)(void); /* one fault; NULL: none */
    dlock_assumption breaks; /* of a lease */
};

extern const struct class_row class_rows[CLASS_COUNT];

/* Plan the faults of the workload's class. */
void faults_begin(void);

#endif /* SIMULATION_FAULTS_H */
