-- redisson_force.lua -- free a lock, whoever holds it, and send a message to its waiters.
--
-- A waiter of Redisson that died keeps its turn for minutes.  So if the lock is free, this script
-- takes the turn away from a waiter for which no client listens.
--
-- KEYS[1]  the lock, a hash
-- KEYS[2]  its queue, a list of owners
-- KEYS[3]  the deadlines of the waiters, a sorted set of owners, ms since 1970
-- ARGV[1]  'queue': only the first waiter of the queue gets a message
-- ARGV[2]  the channel of the waiters; with a queue, its prefix before the owner; '': none
-- ARGV[3]  the message to publish
--
-- Returns  1  the lock was held, or a turn was taken away
--          0  the lock was free; nothing was changed
local was_held = #redis.call('HGETALL', KEYS[1]) > 0 -- an error if the key is no hash
redis.call('DEL', KEYS[1])
if ARGV[1] ~= 'queue' then
    if not was_held then
        return 0
    end
    if ARGV[2] ~= '' then
        redis.pcall('PUBLISH', ARGV[2], ARGV[3])
    end
    return 1
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local head = redis.call('LINDEX', KEYS[2], 0)
local was_gone = false
while head do
    if (tonumber(redis.call('ZSCORE', KEYS[3], head)) or 0) > now then
        if was_held or redis.call('PUBSUB', 'NUMSUB', ARGV[2] .. head)[2] > 0 then
            break
        end
        was_gone = true
    end
    redis.call('LPOP', KEYS[2])
    redis.call('ZREM', KEYS[3], head)
    head = redis.call('LINDEX', KEYS[2], 0)
end
if head and (was_held or was_gone) then
    redis.pcall('PUBLISH', ARGV[2] .. head, ARGV[3])
end
return (was_held or was_gone) and 1 or 0
