/* order_paths.h -- the names of the order paths, for the service, which has their code,
 * and for the laboratory, which chooses one.
 *
 * Threads     Any.
 */
#ifndef DB_ORDER_PATHS_H
#define DB_ORDER_PATHS_H

#include <stdbool.h>
#include <stddef.h>

enum order_path_id {
#define ORDER_PATH(id, commits_for_others) ORDER_PATH_##id,
#include "db/order_paths.def"
#undef ORDER_PATH
    ORDER_PATHS
};

/* The prefix of the keys of the path `stream` in Redis, unless a setting names another. */
#define ORDER_PATH_STREAM_NAME "seckill:stream"

/* The name of the order path at index `i`, from 0; NULL past the last.  For a setting's
 * choices. */
const char *order_path_name_at(size_t i);

/* Find an order path by its name.  False: there is none of that name. */
bool order_path_id_find(const char *name, enum order_path_id *out);

/* Does a thread of that order path commit orders of other threads?  False also if there
 * is no path of that name. */
bool order_path_commits_for_others(const char *name);

#endif /* DB_ORDER_PATHS_H */
