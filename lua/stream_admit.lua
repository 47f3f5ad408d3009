-- stream_admit.lua -- let an order in: take a unit of the stock, note the buyer, queue the order.
--
-- KEYS[1]  the stream of orders that wait for their rows
-- KEYS[2]  the voucher: a hash of stock and admitted (all orders so far)
-- KEYS[3]  the voucher's buyers: a hash of user -> request
-- KEYS[4]  the request: "state voucher order entry"
-- KEYS[5]  a hash of voucher -> its orders in the stream
-- ARGV[1]  the order: "voucher user order request admitted trace"
-- ARGV[2]  the MAC of the order
-- ARGV[3]  the voucher
-- ARGV[4]  the limit of orders in the stream
-- ARGV[5]  when these keys expire, in milliseconds since 1970
--
-- Returns  queued                  the order waits in the stream
--          again ORDER             an earlier request of the same id was queued with that number
--          conflict                the user used the id for another voucher, here or on another
--                                  path, as the writer has found
--          bought                  the user has an order of this voucher
--          full                    the limit of orders in the stream is reached
--          sold-out ADMITTED QUEUED
--          unknown ADMITTED QUEUED the stock of the voucher is not in Redis

-- Somebody has deleted an order that waited.  Its buyer may order again.
local function is_lost(request)
    local entry = request:match('^queued %S+ %S+ (%S+)$')
    return entry and #redis.call('XRANGE', KEYS[1], entry, entry) == 0
end

local _, user, order, request = ARGV[1]:match('^(%S+) (%S+) (%S+) (%S+)')
local earlier = redis.call('GET', KEYS[4])
if earlier then
    local state, voucher, number = earlier:match('^(%S+) (%S+) (%S+)')
    if voucher ~= ARGV[3] or state == 'conflict' then
        return 'conflict'
    end
    if (state == 'queued' or state == 'written') and not is_lost(earlier) then
        return 'again ' .. number
    end
end
local bought = redis.call('HGET', KEYS[3], user)
local by = bought and redis.call('GET', KEYS[1] .. ':request:' .. user .. ':' .. bought)
if bought and not (by and is_lost(by)) then
    return 'bought'
end
local known = redis.call('HMGET', KEYS[2], 'stock', 'admitted')
local seen = (known[2] or '0') .. ' ' .. (redis.call('HGET', KEYS[5], ARGV[3]) or '0')
if not known[1] then
    return 'unknown ' .. seen
end
if tonumber(known[1]) < 1 then
    return 'sold-out ' .. seen
end
if redis.call('XLEN', KEYS[1]) >= tonumber(ARGV[4]) then
    return 'full'
end

-- First, because Redis may refuse this command, and a script that fails undoes nothing.
local entry = redis.call('XADD', KEYS[1], '*', 'order', ARGV[1], 'mac', ARGV[2])
redis.call('HINCRBY', KEYS[5], ARGV[3], 1)
redis.call('HINCRBY', KEYS[2], 'stock', -1)
redis.call('HINCRBY', KEYS[2], 'admitted', 1)
redis.call('PEXPIREAT', KEYS[2], ARGV[5])
redis.call('HSET', KEYS[3], user, request)
redis.call('PEXPIREAT', KEYS[3], ARGV[5])
redis.call('SET', KEYS[4], 'queued ' .. ARGV[3] .. ' ' .. order .. ' ' .. entry, 'PXAT', ARGV[5])
return 'queued'
