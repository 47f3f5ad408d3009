/* order_paths.h -- the names of the ways in which an order becomes a row: for the service,
 * which has their code, and for the laboratory, which chooses one.
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

/* The name of the `i`th, NULL past the last: what a setting may choose from. */
const char *order_path_name_at(size_t i);

/* False: there is none of that name. */
bool order_path_id_find(const char *name, enum order_path_id *out);

/* Does one thread of that path commit the orders of others?  False too if there is no path of
 * that name. */
bool order_path_commits_for_others(const char *name);

#endif /* DB_ORDER_PATHS_H */
