/* SPDX-License-Identifier: MIT */
/* rig_inside.h -- what the files of the rig share; tests include rig.h. */
#ifndef TESTS_SERVICE_RIG_INSIDE_H
#define TESTS_SERVICE_RIG_INSIDE_H

/* The next question opens a connection to the lab that is up then. */
void rig_forget_database(void);

/* The next token is made with the keys of the lab that is up then. */
void rig_forget_keys(void);

#endif /* TESTS_SERVICE_RIG_INSIDE_H */
