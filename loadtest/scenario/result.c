/* SPDX-License-Identifier: MIT */
/* result.c -- the names and the verdict of a performance. */
#include "loadtest/scenario/result.h"

enum verdict scenario_verdict(const struct scenario_result *result)
{
    return !result->has_happened        ? VERDICT_UNKNOWN
           : result->rc == EXIT_VALID   ? VERDICT_VALID
           : result->rc == EXIT_INVALID ? VERDICT_INVALID
                                        : VERDICT_UNKNOWN;
}

const char *scenario_outcome_name(enum scenario_outcome outcome, bool is_chinese)
{
    static const char *const names[][2] = {
#define X(id, name, chinese, text) {name, chinese},
        SCENARIO_OUTCOMES(X)
#undef X
    };

    return names[outcome][is_chinese];
}

const char *scenario_sign_name(int number, bool is_chinese)
{
    static const char *const names[][2] = {
#define X(id, name, chinese, text) {name, chinese},
        SCENARIO_SIGNS(X)
#undef X
    };

    return names[number][is_chinese];
}

json_t *scenario_signs_json(unsigned signs)
{
    json_t *json = json_array();

    for (int i = 0; i < SIGN_COUNT; i++)
        if (signs & (1u << i))
            json_array_append_new(json, json_string(scenario_sign_name(i, false)));
    return json;
}

const char *scenario_sale_name(enum sale_answer sale, bool is_chinese)
{
    static const char *const names[][2] = {
#define X(id, name, chinese) [SALE_##id] = {name, chinese},
        SCENARIO_SALES(X)
#undef X
    };

    return names[sale][is_chinese];
}

bool scenario_is_measured(const struct scenario *scenario)
{
    return scenario->duration_ms > 0;
}

bool scenario_has_own_servers(const struct scenario *scenario)
{
    return scenario->needs_own_servers || scenario->topology != LAB_TOPOLOGY_CORE;
}

bool scenario_is_in_all(const struct scenario *scenario)
{
    return !scenario_is_measured(scenario) && scenario->topology == LAB_TOPOLOGY_CORE;
}
