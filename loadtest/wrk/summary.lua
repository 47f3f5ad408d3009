-- SPDX-License-Identifier: MIT
-- summary.lua -- the end of a run: every request sent is in exactly one line.

local here = debug.getinfo(1, "S").source:match("^@(.*/)") or "./"
local latency = dofile(here .. "latency.lua")

local M = {}

local ERRORS = { "connect", "read", "write", "status", "timeout" }

-- The counts of wrk itself, as lines.
local function of_wrk(wrk_summary)
    local lines = { "duration " .. math.floor(wrk_summary.duration) }
    for _, kind in ipairs(ERRORS) do
        lines[#lines + 1] = "error " .. kind .. " " .. wrk_summary.errors[kind]
    end
    return table.concat(lines, "\n")
end

-- Put what the threads and wrk reported together.
local function merge(reports)
    local all = { sent = 0, answered = 0, users = 0, wrapped = 0, unserved = 0, outcomes = {},
                  accepted = latency.new(), others = latency.new(), duration = 0,
                  errors = {} }
    for _, report in ipairs(reports) do
        for line in report:gmatch("[^\n]+") do
            local count, outcome = line:match("^outcome (%d+) (.+)$")
            local which, us, times = line:match("^latency (%a+) (%d+) (%d+)$")
            local key, value = line:match("^(%a+) (%d+)$")
            local kind, errors = line:match("^error (%a+) (%d+)$")
            if outcome then
                all.outcomes[outcome] = (all.outcomes[outcome] or 0) + tonumber(count)
            elseif which then
                us = tonumber(us)
                all[which][us] = (all[which][us] or 0) + tonumber(times)
            elseif kind then
                all.errors[kind] = (all.errors[kind] or 0) + tonumber(errors)
            elseif key == "duration" then
                all.duration = math.max(all.duration, tonumber(value))
            elseif key then
                all[key] = all[key] + tonumber(value)
            end
        end
    end
    all.unanswered = all.sent - all.answered
    return all
end

local function sorted(outcomes)
    local names = {}
    for name in pairs(outcomes) do names[#names + 1] = name end
    table.sort(names, function(a, b)
        if a == "accepted" or b == "accepted" then return a == "accepted" and b ~= a end
        return outcomes[a] > outcomes[b] or outcomes[a] == outcomes[b] and a < b
    end)
    return names
end

local function print_latency(title, counts)
    local p = latency.percentiles(counts)
    if p then
        print(string.format(
            "  %-22s p50 %.2f ms  p90 %.2f ms  p99 %.2f ms  max %.2f ms", title,
            p.p50, p.p90, p.p99, p.max))
    end
end

local function print_table(all, context)
    local sum = all.unanswered
    print(("\nOrders for voucher %s, face %s"):format(context.voucher, context.face))
    for _, name in ipairs(sorted(all.outcomes)) do
        sum = sum + all.outcomes[name]
        print(string.format("  %-22s %9d", name, all.outcomes[name]))
    end
    print(string.format("  %-22s %9d%s", "no answer", all.unanswered,
        all.unanswered > 0 and "  in flight at the end, or lost on the way" or ""))
    print(string.format("  %-22s %9d%s", "sent", all.sent,
        sum == all.sent and "  = the sum of the lines above" or
        "  BUT THE LINES ABOVE ADD UP TO " .. sum))
    print_latency("latency, accepted", all.accepted)
    print_latency("latency, all others", all.others)
end

local function print_notes(all, context)
    local errors = all.errors
    if all.wrapped > 0 then
        print("  note: users ran out, and those who may have bought ordered again; make more: " ..
            "seckill seed --users=N")
    end
    if all.unserved > 0 then
        print("  note: users ran out: each had bought, or may have, so connections rested; " ..
            "make more:\n        seckill seed --users=N")
    end
    if context.face == "v1" and errors.status > 0 then
        print(string.format("  note: wrk's \"Non-2xx or 3xx responses: %d\" are " ..
            "answers such as 409 sold out,\n        counted one by one above; they are " ..
            "not errors", errors.status))
    end
    if errors.timeout > 0 then
        print(string.format("  note: %d answers took longer than wrk's --timeout; " ..
            "they are counted above", errors.timeout))
    end
end

local function json_latency(counts)
    local p = latency.percentiles(counts)
    if not p then return "null" end
    return string.format('{"count": %d, "mean_ms": %.3f, "p50_ms": %.3f, ' ..
        '"p90_ms": %.3f, "p95_ms": %.3f, "p99_ms": %.3f, "p99.9_ms": %.3f, "p99.99_ms": %.3f, ' ..
        '"max_ms": %.3f, "curve": %s}', p.count, p.mean, p.p50, p.p90, p.p95, p.p99, p.p999,
        p.p9999, p.max, latency.curve(counts))
end

local function write_json(all, context)
    local path = context.dir .. "/load.json"
    local file = io.open(path, "w")
    local outcomes, e = {}, all.errors
    if not file then
        io.stderr:write("cannot write ", path, "\n")
        return
    end
    for i, name in ipairs(sorted(all.outcomes)) do
        outcomes[i] = string.format('"%s": %d', name, all.outcomes[name])
    end
    file:write(string.format('{"sent": %d, "answered": %d, "unanswered": %d, ' ..
        '"outcomes": {%s},\n "users": %d, "users_started_over": %d, "users_ran_out": %s, ' ..
        '"duration_ms": %d,\n ' ..
        '"latency_accepted": %s,\n "latency_others": %s,\n "latency_all": %s,\n ' ..
        '"errors": {"connect": %d, "read": %d, "write": %d, "timeout": %d}}\n',
        all.sent, all.answered, all.unanswered, table.concat(outcomes, ", "), all.users,
        all.wrapped, tostring(all.unserved > 0), all.duration / 1000, json_latency(all.accepted),
        json_latency(all.others),
        json_latency(latency.merge(latency.merge({}, all.accepted), all.others)), e.connect, e.read, e.write, e.timeout))
    file:close()
end

-- With several processes: leave the part of this process in a file.  The last process finds the
-- parts of all processes, as others may; the one that gets the token answers all parts, and the
-- others answer nil.
local function exchange(reports, context)
    local parts, path = {}, context.dir .. "/part-"
    local file = assert(io.open(path .. context.client .. ".new", "w"))
    file:write(table.concat(reports, "\n"), "\n")
    file:close()
    io.stdout:flush() -- what wrk has printed stands before the summary of all
    os.rename(path .. context.client .. ".new", path .. context.client)
    for client = 1, context.clients do
        file = io.open(path .. client, "r")
        if not file then return nil end
        parts[client] = file:read("*a")
        file:close()
    end
    if not os.rename(path .. "token", path .. "token.taken") then return nil end
    for client = 1, context.clients do os.remove(path .. client) end
    os.remove(path .. "token.taken")
    return parts
end

function M.print(reports, wrk_summary, context)
    reports[#reports + 1] = of_wrk(wrk_summary)
    if context.clients > 1 then reports = exchange(reports, context) end
    if not reports then return end
    local all = merge(reports)
    print_table(all, context)
    print_notes(all, context)
    if context.dir and context.dir ~= "" then write_json(all, context) end
end

return M
