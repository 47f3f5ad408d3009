/* SPDX-License-Identifier: MIT */
/* faults.h -- the faults that a class of worlds plans. */
#ifndef SIMULATION_FAULTS_H
#define SIMULATION_FAULTS_H

#include "lock/record/record.h"
#include "tests/simulation/workload.h"

/* The classes by name, and the faults of each. */
struct class_row {
    const char *name;
    const char *text;
    void (*strike)(void); /* cause one fault; NULL: the class has none */
    dlock_assumption breaks; /* the assumption of a lease that the faults break */
};

extern const struct class_row class_rows[CLASS_COUNT];

/* Plan the faults of the workload's class. */
void faults_begin(void);

#endif /* SIMULATION_FAULTS_H */
