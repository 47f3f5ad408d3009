-- stream_admit.lua -- let an order in: take a unit of the stock, note the buyer, queue the order.
--
-- KEYS[1]  the stream of orders that wait for their rows
-- KEYS[2]  the voucher: a hash of stock, queued (orders that wait) and admitted (all orders so far)
-- KEYS[3]  the voucher's buyers: a hash of user -> request
-- KEYS[4]  the request: "state voucher order"
-- KEYS[5]  the running number of orders
-- ARGV[1]  the voucher
-- ARGV[2]  the user
-- ARGV[3]  the id of the request
-- ARGV[4]  when the sale's window was checked, in microseconds since 1970
-- ARGV[5]  the limit of orders in the stream
-- ARGV[6]  when these keys expire, in milliseconds since 1970
-- ARGV[7]  the trace of the request; empty: none
--
-- Returns  queued ORDER            the order waits in the stream, with that number
--          again ORDER             an earlier request of the same id was queued with that number
--          conflict                the user used the id for another voucher, here or on another
--                                  path, as the writer has found
--          bought                  the user has an order of this voucher
--          full                    the limit of orders in the stream is reached
--          sold-out ADMITTED QUEUED
--          unknown ADMITTED QUEUED the stock of the voucher is not in Redis

-- The seconds times 2^32 plus a running number, computed in decimal digits, because a number of Lua
-- has only 53 bits.
local function order_number(second, number)
    local low = second * 967296 + number
    return string.format('%.0f%06.0f', second * 4294 + math.floor(low / 1000000),
                         low % 1000000)
end

local earlier = redis.call('GET', KEYS[4])
if earlier then
    local state, voucher, order = earlier:match('^(%S+) (%S+) (%S+)$')
    if voucher ~= ARGV[1] or state == 'conflict' then
        return 'conflict'
    end
    if state == 'queued' or state == 'written' then
        return 'again ' .. order
    end
end
if redis.call('HEXISTS', KEYS[3], ARGV[2]) == 1 then
    return 'bought'
end
local known = redis.call('HMGET', KEYS[2], 'stock', 'queued', 'admitted')
local seen = (known[3] or '0') .. ' ' .. (known[2] or '0')
if not known[1] then
    return 'unknown ' .. seen
end
if tonumber(known[1]) < 1 then
    return 'sold-out ' .. seen
end
if redis.call('XLEN', KEYS[1]) >= tonumber(ARGV[5]) then
    return 'full'
end

-- The numbers are from the upper half of the running numbers; PostgreSQL draws from the lower half.
-- A Redis that has lost its data begins at another number.
local now = redis.call('TIME')
redis.call('SET', KEYS[5], string.format('%.0f', now[2] * 2147), 'NX')
local number = 2147483648 + redis.call('INCR', KEYS[5]) % 2147483648
local order = order_number(now[1] - 1640995200, number)
redis.call('HINCRBY', KEYS[2], 'stock', -1)
redis.call('HINCRBY', KEYS[2], 'queued', 1)
redis.call('HINCRBY', KEYS[2], 'admitted', 1)
redis.call('PEXPIREAT', KEYS[2], ARGV[6])
redis.call('HSET', KEYS[3], ARGV[2], ARGV[3])
redis.call('PEXPIREAT', KEYS[3], ARGV[6])
redis.call('SET', KEYS[4], 'queued ' .. ARGV[1] .. ' ' .. order, 'PXAT', ARGV[6])
local entry = {'voucher', ARGV[1], 'user', ARGV[2], 'order', order, 'request', ARGV[3],
               'admitted', ARGV[4]}
if ARGV[7] ~= '' then
    entry[#entry + 1] = 'trace'
    entry[#entry + 1] = ARGV[7]
end
redis.call('XADD', KEYS[1], '*', unpack(entry))
return 'queued ' .. order
