-- redisson_inspect.lua -- describe a lock that is a hash of an owner and its levels.
--
-- The number of waiters is that of the owners in the queue whose deadline has not passed, or else
-- of the connections that listen on the channel.
--
-- KEYS[1]  the lock, a hash
-- KEYS[2]  its queue, a list of owners
-- KEYS[3]  the deadlines of the waiters, a sorted set of owners, ms since 1970
-- KEYS[4]  the counter of fences, a string
-- ARGV[1]  'queue': the waiters are in the queue
-- ARGV[2]  the channel of the waiters; with a queue, its prefix before the owner; '': none
--
-- Returns  text  in the form of lock/info.h
local levels = redis.call('HGETALL', KEYS[1])
local waiters = -1
local turn = ''
if ARGV[1] == 'queue' then
    local time = redis.call('TIME')
    local now = string.format('%d', time[1] * 1000 + math.floor(time[2] / 1000))
    waiters = redis.call('ZCOUNT', KEYS[3], '(' .. now, '+inf')
    for _, waiter in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
        local left = (tonumber(redis.call('ZSCORE', KEYS[3], waiter)) or 0) - now
        if left > 0 then -- a score may have a fraction, so the time left is rounded up
            turn = '\n' .. string.format('%d', math.ceil(left)) .. ' ' ..
                redis.call('PUBSUB', 'NUMSUB', ARGV[2] .. waiter)[2] .. ' ' .. waiter
            break
        end
    end
elseif ARGV[2] ~= '' then
    waiters = redis.call('PUBSUB', 'NUMSUB', ARGV[2])[2]
end
if #levels == 0 then
    return '0 0 0 ' .. string.format('%d', waiters) .. ' 0 0 ' .. turn
end
local left = redis.call('PTTL', KEYS[1])
return '1 ' .. (left < 0 and 'never' or string.format('%d', left)) .. ' ' .. levels[2] ..
    ' ' .. string.format('%d', waiters) .. ' 0 ' .. (redis.call('GET', KEYS[4]) or '0') ..
    ' ' .. levels[1] .. turn
