/* SPDX-License-Identifier: MIT */
/* model_scripts.c -- the project's scripts in Lua 5.1, with the functions of Redis around them.
 *
 * One interpreter serves all servers, because a script keeps nothing between two calls. Each server
 * knows for itself which scripts were loaded into it. */
#include <lua5.1/lauxlib.h>
#include <lua5.1/lua.h>
#include <lua5.1/lualib.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulation/model.h"
#include "tests/simulation/world.h"

static lua_State *lua;
static struct model *model_here; /* the model of the running script */
static struct script {
    char sha[41];
    int function; /* a reference in Lua's registry */
} scripts[MODEL_SCRIPTS_MAX];
static size_t script_count;

void sha1_hex(struct bytes of, char out[41])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned len = 0;

    if (EVP_Digest(of.at, of.len, digest, &len, EVP_sha1(), NULL) != 1)
        abort();
    for (unsigned i = 0; i < 20; i++)
        (void)snprintf(out + (size_t)i * 2, 3, "%02x", digest[i]);
}

/* ---- replies into Lua and back ---- */

/* Push the reply at `at` on the stack of Lua. Returns the position behind the reply. */
static const char *push_reply(const char *at)
{
    const char *end = strstr(at, "\r\n");
    long long number = strtoll(at + 1, NULL, 10);

    switch (at[0]) {
    case ':':
        lua_pushnumber(lua, (lua_Number)number);
        return end + 2;
    case '$':
        if (number < 0) {
            lua_pushboolean(lua, 0);
            return end + 2;
        }
        lua_pushlstring(lua, end + 2, (size_t)number);
        return end + 2 + number + 2;
    case '*':
        at = end + 2;
        if (number < 0) {
            lua_pushboolean(lua, 0);
            return at;
        }
        lua_newtable(lua);
        for (long long i = 1; i <= number; i++) {
            at = push_reply(at);
            lua_rawseti(lua, -2, (int)i);
        }
        return at;
    default: /* a status or an error */
        lua_newtable(lua);
        lua_pushlstring(lua, at + 1, (size_t)(end - at) - 1);
        lua_setfield(lua, -2, at[0] == '+' ? "ok" : "err");
        return end + 2;
    }
}

static bool reply_field(struct buffer *out, const char *field, char kind)
{
    const char *text;

    lua_getfield(lua, -1, field);
    text = lua_tostring(lua, -1);
    lua_pop(lua, 1);
    if (text == NULL)
        return false;
    if (kind == '+')
        reply_status(out, text);
    else
        reply_error(out, text);
    return true;
}

/* Reply with the value on top of the stack. */
static void reply_top(struct buffer *out)
{
    struct buffer parts = {0};
    size_t len;
    int count = 0;

    switch (lua_type(lua, -1)) {
    case LUA_TSTRING: {
        const char *text = lua_tolstring(lua, -1, &len);

        reply_bulk(out, (struct bytes){(char *)(uintptr_t)text, len});
        return;
    }
    case LUA_TNUMBER:
        reply_integer(out, (int64_t)lua_tonumber(lua, -1));
        return;
    case LUA_TBOOLEAN:
        if (lua_toboolean(lua, -1))
            reply_integer(out, 1);
        else
            reply_nil(out);
        return;
    case LUA_TTABLE:
        if (reply_field(out, "err", '-') || reply_field(out, "ok", '+'))
            return;
        for (lua_rawgeti(lua, -1, 1); !lua_isnil(lua, -1); lua_rawgeti(lua, -1, count + 1)) {
            reply_top(&parts);
            lua_pop(lua, 1);
            count++;
        }
        lua_pop(lua, 1);
        reply_array(out, count);
        buffer_add(out, parts.at, parts.len);
        buffer_free(&parts);
        return;
    default:
        reply_nil(out);
    }
}

/* ---- functions that a script can call ---- */

/* Convert the arguments as Redis does. Returns false if an argument is neither a text nor a
 * number. */
static bool read_arguments(struct bytes argv[MODEL_ARGS_MAX], char texts[][32], int argc)
{
    for (int i = 0; i < argc; i++)
        if (lua_type(lua, i + 1) == LUA_TNUMBER) {
            int len = snprintf(texts[i], 32, "%.17g", lua_tonumber(lua, i + 1));

            argv[i] = (struct bytes){texts[i], (size_t)len};
        } else if (lua_type(lua, i + 1) == LUA_TSTRING) {
            argv[i].at = (char *)(uintptr_t)lua_tolstring(lua, i + 1, &argv[i].len);
        } else {
            return false;
        }
    return true;
}

static int call_redis(bool raises)
{
    struct bytes argv[MODEL_ARGS_MAX];
    char texts[MODEL_ARGS_MAX][32];
    struct buffer out = {0};
    int argc = lua_gettop(lua);
    struct call call = {model_here, NULL, argv, (size_t)argc, &out};
    const struct command *command;

    if (argc == 0 || argc > MODEL_ARGS_MAX || !read_arguments(argv, texts, argc))
        return luaL_error(lua, "Lua redis lib command arguments must be strings or integers");
    command = model_command(argv[0]);
    if (command != NULL && !command->in_script)
        reply_error(&out, "ERR This Redis command is not allowed from script");
    else
        model_call(&call);
    buffer_add(&out, "", 1);
    (void)push_reply(out.at);
    raises = raises && out.at[0] == '-';
    buffer_free(&out);
    return raises ? lua_error(lua) : 1;
}

static int redis_call(lua_State *state)
{
    (void)state;
    return call_redis(true);
}

static int redis_pcall(lua_State *state)
{
    (void)state;
    return call_redis(false);
}

static int redis_sha1hex(lua_State *state)
{
    char sha[41];
    struct bytes of = {0};

    of.at = (char *)(uintptr_t)luaL_checklstring(state, 1, &of.len);
    sha1_hex(of, sha);
    lua_pushstring(state, sha);
    return 1;
}

void scripts_prepare(void)
{
    static const luaL_Reg functions[] = {
        {"call", redis_call}, {"pcall", redis_pcall}, {"sha1hex", redis_sha1hex}, {NULL, NULL}};

    lua = luaL_newstate();
    if (lua == NULL)
        abort();
    luaL_openlibs(lua);
    luaL_register(lua, "redis", functions);
    lua_settop(lua, 0);
}

/* ---- EVAL, EVALSHA, SCRIPT ---- */

static struct script *find_script(const char *sha)
{
    for (size_t i = 0; i < script_count; i++)
        if (strcmp(scripts[i].sha, sha) == 0)
            return &scripts[i];
    return NULL;
}

/* Compile a script. NULL: the text is no Lua, and the reply says so. */
static struct script *compile(struct call *call, struct bytes text)
{
    struct script *script;
    char sha[41];

    sha1_hex(text, sha);
    script = find_script(sha);
    if (script != NULL)
        return script;
    if (script_count == MODEL_SCRIPTS_MAX) {
        world_condemn(NOT_KNOWN, "the model of Redis takes no more than %d scripts",
                      MODEL_SCRIPTS_MAX);
        return NULL;
    }
    if (luaL_loadbuffer(lua, text.at, text.len, "@user_script") != 0) {
        reply_error(call->out, "ERR Error compiling script");
        lua_pop(lua, 1);
        return NULL;
    }
    script = &scripts[script_count++];
    memcpy(script->sha, sha, sizeof(sha));
    script->function = luaL_ref(lua, LUA_REGISTRYINDEX);
    return script;
}

void scripts_compile(const char *text)
{
    struct buffer unread = {0};
    struct call call = {.out = &unread};

    if (compile(&call, (struct bytes){(char *)(uintptr_t)text, strlen(text)}) == NULL)
        abort();
}

static void set_list(const char *name, const struct bytes *argv, size_t count)
{
    lua_createtable(lua, (int)count, 0);
    for (size_t i = 0; i < count; i++) {
        lua_pushlstring(lua, argv[i].at, argv[i].len);
        lua_rawseti(lua, -2, (int)i + 1);
    }
    lua_setglobal(lua, name);
}

/* Reply with the error of a script, which is a table with "err", or a text of Lua. */
static void reply_raised(struct buffer *out)
{
    char text[256];

    if (lua_istable(lua, -1) && reply_field(out, "err", '-'))
        return;
    (void)snprintf(text, sizeof(text), "ERR %s",
                   lua_tostring(lua, -1) != NULL ? lua_tostring(lua, -1) : "script");
    reply_error(out, text);
}

static void run(struct call *call, const struct script *script)
{
    int64_t key_count;

    if (!model_number(call, 2, &key_count))
        return;
    if (key_count < 0 || (size_t)key_count > call->argc - 3) {
        reply_error(call->out, key_count < 0
                                   ? "ERR Number of keys can't be negative"
                                   : "ERR Number of keys can't be greater than number of args");
        return;
    }
    model_here = call->model;
    model_here->script_has_written = false;
    set_list("KEYS", call->argv + 3, (size_t)key_count);
    set_list("ARGV", call->argv + 3 + key_count, call->argc - 3 - (size_t)key_count);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, script->function);
    if (lua_pcall(lua, 0, 1, 0) != 0)
        reply_raised(call->out);
    else
        reply_top(call->out);
    lua_settop(lua, 0);
}

static void eval(struct call *call)
{
    struct script *script = compile(call, call->argv[1]);

    if (script == NULL)
        return;
    call->model->has_script[script - scripts] = true;
    run(call, script);
}

static void evalsha(struct call *call)
{
    char sha[41] = "";
    struct script *script;

    if (call->argv[1].len == 40)
        memcpy(sha, call->argv[1].at, 40);
    script = find_script(sha);
    if (script == NULL || !call->model->has_script[script - scripts])
        reply_error(call->out, "NOSCRIPT No matching script. Please use EVAL.");
    else
        run(call, script);
}

static void manage(struct call *call)
{
    struct script *script;

    if (bytes_is(call->argv[1], "FLUSH") && call->argc == 2) {
        memset(call->model->has_script, 0, sizeof(call->model->has_script));
        reply_status(call->out, "OK");
    } else if (bytes_is(call->argv[1], "LOAD") && call->argc == 3) {
        script = compile(call, call->argv[2]);
        if (script == NULL)
            return;
        call->model->has_script[script - scripts] = true;
        reply_text(call->out, script->sha);
    } else {
        world_condemn(NOT_KNOWN, "the model of Redis does not know SCRIPT %.*s",
                      (int)call->argv[1].len, call->argv[1].at);
    }
}

const struct command model_script_commands[] = {
    {"EVAL", eval, -3, false, false},
    {"EVALSHA", evalsha, -3, false, false},
    {"SCRIPT", manage, -2, false, false},
    {NULL, NULL, 0, false, false},
};
