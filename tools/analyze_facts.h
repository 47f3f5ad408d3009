/* SPDX-License-Identifier: MIT */
/* analyze_facts.h -- facts about headers of the system, which cppcheck does not read.
 *
 * Without these macros of utlist and uthash cppcheck would take the loops for function calls.
 */
#ifndef TOOLS_ANALYZE_FACTS_H
#define TOOLS_ANALYZE_FACTS_H

#define DL_FOREACH(head, el) for (el = head; el; el = (el)->next)
#define DL_FOREACH_SAFE(head, el, tmp) for (el = head; el && (tmp = (el)->next, 1); el = tmp)
#define HASH_ITER(hh, head, el, tmp) for (el = head; el && (tmp = (el)->hh.next, 1); el = tmp)

#endif /* TOOLS_ANALYZE_FACTS_H */
