-- redisson_force.lua -- free a lock, whoever holds it, and tell who waits.
--
-- KEYS[1]  the lock, a hash
-- KEYS[2]  its queue, a list of owners
-- KEYS[3]  until when each is believed to wait, a sorted set of owners, ms since 1970
-- ARGV[1]  'queue': only who is first in the queue is told
-- ARGV[2]  the channel that waiters listen on, of a queue but for the owner; '' if none
-- ARGV[3]  what to publish
--
-- Returns  1  it was held
--          0  it was free; nothing was changed
if redis.call('DEL', KEYS[1]) == 0 then
    return 0
end
if ARGV[1] ~= 'queue' then
    if ARGV[2] ~= '' then
        redis.call('PUBLISH', ARGV[2], ARGV[3])
    end
    return 1
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local head = redis.call('LINDEX', KEYS[2], 0)
while head and (tonumber(redis.call('ZSCORE', KEYS[3], head)) or 0) <= now do
    redis.call('LPOP', KEYS[2])
    redis.call('ZREM', KEYS[3], head)
    head = redis.call('LINDEX', KEYS[2], 0)
end
if head then
    redis.call('PUBLISH', ARGV[2] .. head, ARGV[3])
end
return 1
