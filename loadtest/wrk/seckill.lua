-- SPDX-License-Identifier: MIT
-- seckill.lua -- what the wrk scripts share: requests, outcomes, the ledger, the
-- summary.
--
-- Environment (all optional):
--   SECKILL_TOKENS      tokens file, "<user> <token>" per line; no pipe  (.lab/tokens.txt)
--   SECKILL_VOUCHER     voucher number, or several with commas     (1)
--   SECKILL_FACE        hmdp or v1: which of the service's faces   (hmdp)
--   SECKILL_URLS        several addresses with commas: wrk's threads take one each
--   SECKILL_RUN         prefix of the request ids                  (made from the clock)
--   SECKILL_IDS         off: requests have no ids, so the service need not look for
--                       earlier ones; then there is no ledger and no latency      (on)
--   SECKILL_LEDGER_DIR  where to write ledger-<thread>.tsv and load.json
--   SECKILL_CONTROL     a file that the laboratory shares with us, see control.lua
--   SECKILL_START_SIGNAL         all threads start in one moment, see start_signal.lua
--   SECKILL_CLIENTS     the number of wrk processes of one run, all with as many threads
--   SECKILL_CLIENT      the number of this process, from 1; the process that ends last
--                       prints the summary of all
--
-- Properties of wrk 4.1.0 that this script depends on:
--   * It calls request() once more than it sends, in the first thread, to see what a
--     request looks like.  That one is neither counted nor given a user.
--   * After a lost connection it forgets the request that was on it.  Requests are
--     therefore told apart by their id: what has no answer in the end has "no answer".
--   * done() runs in a Lua state of its own, after the threads have ended.  Reading the
--     global `finish` of a thread's state runs finish() there, see M.run().

local ffi = require("ffi")
local here = debug.getinfo(1, "S").source:match("^@(.*/)") or "./"
local latency = dofile(here .. "latency.lua")
local control = dofile(here .. "control.lua")
local gun = dofile(here .. "start_signal.lua")
local summary = dofile(here .. "summary.lua")
local users = dofile(here .. "users.lua")

ffi.cdef [[
typedef struct { long sec; long nsec; } seckill_timespec;
int clock_gettime(int clock, seckill_timespec *out);
int usleep(unsigned usec);
]]

-- anonymous: requests have no ids
local M = { anonymous = os.getenv("SECKILL_IDS") == "off", target = control.target,
            set_ran_out = control.set_ran_out }

-- The clock of the laboratory, which subtracts our times from its own.  It goes on while the
-- machine sleeps.
local CLOCK_BOOTTIME = 7
local STALLED_US, STALL_PAUSE_US = 50000, 2000
local instant = ffi.new("seckill_timespec")

function M.now_us()
    ffi.C.clock_gettime(CLOCK_BOOTTIME, instant)
    return tonumber(instant.sec) * 1e6 + tonumber(instant.nsec) / 1e3
end

local function split(text)
    local parts = {}
    for part in text:gmatch("[^,%s]+") do parts[#parts + 1] = part end
    return parts
end

local function die(message)
    io.stderr:write("order script: ", message, "\n")
    os.exit(64)
end

-- The value of a flag of wrk's own command line, which scripts are not given.
local function wrk_flag(short, long)
    local file = io.open("/proc/self/cmdline", "rb")
    local value, take
    if not file then return nil end
    for word in file:read("*a"):gmatch("[^%z]+") do
        if take then
            value, take = word, false
        elseif word == "-" .. short or word == "--" .. long then
            take = true
        else
            value = word:match("^%-%-" .. long .. "=(.*)$") or
                word:match("^%-" .. short .. "(%d.*)$") or value
        end
    end
    file:close()
    return value
end

-- A file of tokens was made in one go, so one token stands for all: 72 hex digits, of which
-- the 25th to the 40th are the second in which it expires.
local function check_token(token, path)
    local again = "\n  make new ones: seckill seed --users=N (see its --lifetime)"
    if #token ~= 72 then
        die(path .. " has no tokens of 72 hex digits" .. again)
    end
    if tonumber(token:sub(25, 40), 16) <= os.time() then
        die("the tokens in " .. path .. " have expired" .. again)
    end
end

-- The users of one of so many parts of the tokens file, as users.lua has them.
function M.open_users(part, parts)
    local path = os.getenv("SECKILL_TOKENS") or ".lab/tokens.txt"
    local all = users.open(path, part, parts)
    if not all then
        die("cannot read the tokens file " .. path ..
            "\n  make one: seckill seed --users=100000 (or set SECKILL_TOKENS)")
    end
    local _, token = all:next()
    if not token then
        die(path .. " has no users for this thread; make more: seckill seed --users=N")
    end
    check_token(token, path)
    all:rewind()
    return all
end

-- The two faces of the service: where an order goes, and how an answer names its
-- number.
local FACES = {
    hmdp = { path = "/voucher-order/seckill/%s", order = '"data"%s*:%s*(%d+)' },
    v1 = { path = "/api/v1/vouchers/%s/orders", order = '"id"%s*:%s*"(%d+)"' },
}

local function choose_face()
    local name = os.getenv("SECKILL_FACE") or "hmdp"
    if not FACES[name] then die("SECKILL_FACE=" .. name .. ": expected hmdp or v1") end
    return FACES[name], name
end

-- Answers that name an order: it has its row, or is promised one.
local PROMISED = { accepted = true, queued = true }
-- Answers after which nobody can say whether there is an order.
local UNSURE = { unknown = true, internal = true }
-- The answer that names an earlier order of the user.
local HAS_BOUGHT = { duplicate = true }
local OUTCOMES = dofile(here .. "outcomes.lua")

-- The state of one thread of wrk.
local function new_state(thread_id, first_here)
    local face, face_name = choose_face()
    local run = run_id
    local vouchers = split(os.getenv("SECKILL_VOUCHER") or "1")
    local state = {
        face = face, face_name = face_name, vouchers = vouchers, paths = {},
        prefix = run .. "-" .. thread_id .. "-", head = {}, headers = "",
        sent = 0, answered = 0, pending = {}, pending_count = 0,
        answered_before = -1, -- with last_answer_us: see slow_down_if_dead()
        outcomes = {}, sold_out = {}, accepted = latency.new(), others = latency.new(),
        thread_id = thread_id, verified = thread_id ~= first_here,
        connections = tonumber(wrk_flag("c", "connections")) or 10,
    }
    for name, value in pairs(wrk.headers) do
        if name:lower() ~= "host" and name:lower() ~= "content-length" then
            state.headers = state.headers .. name .. ": " .. value .. "\r\n"
        end
    end
    for i, voucher in ipairs(vouchers) do
        state.head[i] = "POST " .. face.path:format(voucher) .. " HTTP/1.1\r\nHost: " ..
            (service_host or wrk.headers["Host"]) .. "\r\nContent-Length: 0\r\n" ..
            state.headers .. "authorization: "
    end
    return state
end

local function open_ledger(state)
    local dir = os.getenv("SECKILL_LEDGER_DIR")
    if not dir or dir == "" or M.anonymous then return end
    local path = dir .. "/ledger-" .. state.thread_id .. ".tsv"
    local ledger = io.open(path, "w")
    if not ledger then die("cannot write " .. path) end
    ledger:setvbuf("line") -- so that a killed wrk loses no answer that a client got
    state.ledger = ledger
end

local function note(state, what, request_id, order_id, buyer)
    if state.ledger then
        state.ledger:write(what, "\t", request_id, "\t", order_id, "\t",
            string.format("%d", buyer.user), "\t", buyer.voucher, "\n")
    end
end

-- wrk reconnects to a dead service as fast as it can, and asks for a request each time.
local function slow_down_if_dead(state)
    if state.pending_count <= 2 * state.connections then return end
    local now = M.now_us()
    if state.answered ~= state.answered_before then
        state.answered_before, state.last_answer_us = state.answered, now
    elseif now - state.last_answer_us > STALLED_US then
        ffi.C.usleep(STALL_PAUSE_US)
    end
end

-- An empty request is written at once and never answered: the connection rests.
local function rest(state)
    if state.pending_count == 0 then wrk.thread:stop() end
    return ""
end

local function make_request(state, script)
    if control.stopped() then return rest(state) end
    local n = state.sent + 1
    local user, token, which, place = script.next_order(n)
    if not user then
        control.set_ran_out()
        return ""
    end
    local key = M.anonymous and "\r\n\r\n" or
        "\r\nIdempotency-Key: " .. state.prefix .. n .. "\r\n\r\n"
    local text = state.head[which] .. token .. key
    if not state.verified then
        state.verified = true
        if place then script.take_back(place) end
        return text
    end
    if not state.started_us then
        local by_signal, reason = gun.wait()
        if control.stopped() then return rest(state) end -- the load ended before its start
        if reason then io.stderr:write("started without the start signal: ", reason, "\n") end
        state.started_us = M.now_us()
        control.set_fired(state.started_us, by_signal)
    end
    slow_down_if_dead(state)
    state.sent = n
    state.pending_count = state.pending_count + 1
    if not M.anonymous then
        state.pending[n] =
            { user = user, place = place, voucher = state.vouchers[which], since_us = M.now_us(),
              era = control.era_of(user) }
    end
    control.set_sent(n)
    return text
end

-- A proxy may write the names of headers in small letters.
local function header(headers, name)
    return headers[name] or headers[name:lower()]
end

-- The request that this answer belongs to.
local function claim(state, headers)
    local id = header(headers, "X-Request-Id")
    if not id or id:sub(1, #state.prefix) ~= state.prefix then return nil end
    local n = tonumber(id:sub(#state.prefix + 1))
    local buyer = n and state.pending[n]
    if not buyer then return nil end
    state.pending[n] = nil
    state.pending_count = state.pending_count - 1
    return buyer, id
end

local function take_answer(state, script, status, headers, body)
    local outcome = header(headers, "X-Outcome")
    local buyer, id
    if M.anonymous then
        state.pending_count = state.pending_count - 1
    else
        buyer, id = claim(state, headers)
    end
    if not outcome or not OUTCOMES[outcome] then
        outcome = "other (HTTP " .. status .. ")"
    end
    state.answered = state.answered + 1
    state.outcomes[outcome] = (state.outcomes[outcome] or 0) + 1
    if buyer then
        local took_us = M.now_us() - buyer.since_us
        latency.add(PROMISED[outcome] and state.accepted or state.others, took_us)
        if PROMISED[outcome] then
            control.set_latency(took_us)
            note(state, outcome, id, body:match(state.face.order) or "-", buyer)
        elseif UNSURE[outcome] or not OUTCOMES[outcome] then
            note(state, "unsure", id, "-", buyer)
        elseif outcome == "sold-out" and not state.sold_out[buyer.voucher] then
            state.sold_out[buyer.voucher] = true
            note(state, "sold-out", id, "-", buyer)
        end
    end
    if buyer and buyer.place and OUTCOMES[outcome] and
        not (PROMISED[outcome] or UNSURE[outcome] or HAS_BOUGHT[outcome]) then
        script.take_back(buyer.place)
    end
    if buyer and buyer.era then control.set_tried(buyer.era, outcome) end
    control.set_answered(state.answered, outcome)
end

-- After the thread has ended: the rest of its ledger, and what it has counted, as
-- lines.
local function finish(state, script)
    local lines = { "sent " .. state.sent, "answered " .. state.answered }
    for n, buyer in pairs(state.pending) do
        note(state, "unanswered", state.prefix .. n, "-", buyer)
    end
    gun.close()
    if state.ledger then
        state.ledger:write(string.format("end\t%d\t%d\t%d\t%d\n", state.sent,
            state.answered, state.outcomes["accepted"] or 0, state.pending_count))
        state.ledger:close()
    end
    for outcome, count in pairs(state.outcomes) do
        lines[#lines + 1] = "outcome " .. count .. " " .. outcome
    end
    for key, value in pairs(script.report()) do
        lines[#lines + 1] = key .. " " .. value
    end
    latency.print(state.accepted, "accepted", lines)
    latency.print(state.others, "others", lines)
    return table.concat(lines, "\n")
end

local function threads_here() return tonumber(wrk_flag("t", "threads")) or 2 end

-- The number of wrk processes, and the index of this one.
local function clients()
    return tonumber(os.getenv("SECKILL_CLIENTS")) or 1,
        tonumber(os.getenv("SECKILL_CLIENT")) or 1
end

-- Give each thread its number, its address and the run's name.  Numbers go on from one
-- process to the next.
local function make_setup(threads)
    local _, client = clients()
    local before = (client - 1) * threads_here()
    local urls = split(os.getenv("SECKILL_URLS") or "")
    local run = os.getenv("SECKILL_RUN")
    if not run or run == "" then
        run = string.format("%x", math.floor(M.now_us()) % 2 ^ 40)
    end
    return function(thread)
        threads[#threads + 1] = thread
        local id = before + #threads
        thread:set("thread_id", id)
        thread:set("run_id", run)
        if #urls == 0 then return end
        local url = urls[(id - 1) % #urls + 1]
        local host, port = url:match("^http://([^:/]+):(%d+)")
        local address = host and wrk.lookup(host, port)[1]
        if not address then
            die("SECKILL_URLS: \"" .. url .. "\" is not http://HOST:PORT")
        end
        thread.addr = address
        thread:set("service_host", host .. ":" .. port)
    end
end

-- Define wrk's callbacks.  `script` has start(thread_id, thread_count, voucher_count);
-- next_order(n) -> user, token, index of the voucher, place of the user, or nil: no user is left;
-- take_back(place): the user at this place has no order; and report() -> users, wrapped, unserved.
function M.run(script)
    local threads, state = {}, nil
    setup = make_setup(threads)
    function init()
        local count, client = clients()
        state = new_state(thread_id, (client - 1) * threads_here() + 1)
        script.start(thread_id, count * threads_here(), #state.vouchers)
        open_ledger(state)
        control.open(os.getenv("SECKILL_CONTROL"), thread_id)
        gun.load()
    end
    function request() return make_request(state, script) end
    function response(status, headers, body)
        take_answer(state, script, status, headers, body)
    end
    function done(wrk_summary)
        local reports = {}
        local count, client = clients()
        for i, thread in ipairs(threads) do reports[i] = thread:get("finish") end
        summary.print(reports, wrk_summary, {
            face = os.getenv("SECKILL_FACE") or "hmdp",
            voucher = os.getenv("SECKILL_VOUCHER") or "1",
            dir = os.getenv("SECKILL_LEDGER_DIR"), clients = count, client = client,
        })
    end
    -- A global that does not exist until somebody asks for it.
    setmetatable(_G, { __index = function(_, name)
        if name == "finish" and state then return finish(state, script) end
    end })
end

return M
