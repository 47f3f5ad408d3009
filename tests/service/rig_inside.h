/* SPDX-License-Identifier: MIT */
/* rig_inside.h -- functions that the files of the rig share; tests include rig.h. */
#ifndef TESTS_SERVICE_RIG_INSIDE_H
#define TESTS_SERVICE_RIG_INSIDE_H

/* Make the next SQL open a connection to the lab that is up then. */
void rig_forget_database(void);

/* Make the next token use the keys of the lab that is up then. */
void rig_forget_keys(void);

#endif /* TESTS_SERVICE_RIG_INSIDE_H */
