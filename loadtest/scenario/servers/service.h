/* SPDX-License-Identifier: MIT */
/* service.h -- the service in a performance. */
#ifndef LOADTEST_SCENARIO_SERVERS_SERVICE_H
#define LOADTEST_SCENARIO_SERVERS_SERVICE_H

#include "loadtest/scenario/stage.h"

/* Stop the service, if there is one.  False: it did not stop as it should. */
bool stage_end_service(struct stage *s);

#endif /* LOADTEST_SCENARIO_SERVERS_SERVICE_H */
