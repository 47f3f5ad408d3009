-- SPDX-License-Identifier: MIT
-- order.lua -- every request is an order by a different user.
--
--   wrk -t2 -c64 -d10s --timeout 30s -s loadtest/wrk/order.lua http://127.0.0.1:8081
--
-- The users come from the tokens file, and each thread takes its share of the users.  When all have
-- ordered, those who were refused order again.  A user who has bought, or may have bought, does not.
-- When no other user is left, the connection rests.  With SECKILL_IDS=off the answers are not known,
-- and all order again, so users may buy twice.  The summary tells of both.  seckill.lua has the
-- environment variables and the rest.

local here = debug.getinfo(1, "S").source:match("^@(.*/)") or "./"
local seckill = dofile(here .. "seckill.lua")

local users, voucher_count
local refused, first, last = {}, 1, 0 -- places of users, in the order of their answers
local wrapped, unserved = 0, 0

local function start(thread_id, thread_count, vouchers)
    users = seckill.open_users((thread_id - 1) % thread_count + 1, thread_count)
    voucher_count = vouchers
end

local function take_back(place)
    last = last + 1
    refused[last] = place
end

-- The next user, the token and the place; nil: none is left.
local function next_user()
    local user, token, place = users:next()
    if user then return user, token, place end
    if seckill.anonymous then
        wrapped = wrapped + 1
        seckill.set_ran_out()
        users:rewind()
        return users:next()
    end
    if first > last then
        unserved = unserved + 1
        return nil
    end
    place = refused[first]
    refused[first] = nil
    first = first + 1
    user, token = users:at(place)
    return user, token, place
end

-- The next buyer: user id, token, which of the vouchers it wants, and the place.
local function next_order(n)
    local user, token, place = next_user()
    return user, token, n % voucher_count + 1, place
end

local function report()
    return { users = users:count(), wrapped = wrapped, unserved = unserved }
end

seckill.run({ start = start, next_order = next_order, take_back = take_back, report = report })
