-- fair_release.lua -- give back one level as reentrant_release.lua does, or a place in
-- the queue.  If the lock is then free, send a message to the first waiter of the queue.
--
-- A client that does not hold the lock gives its place back: it waited, and its last attempt had no
-- answer.
--
-- KEYS[1]  the lock, a hash
-- KEYS[2]  its queue, a list of owners
-- KEYS[3]  the deadlines of the waiters, a sorted set of owners, ms since 1970
-- ARGV[1]  owner, "uuid:number"
-- ARGV[2]  level to give back; the levels below it are kept; 0: the place in the queue
-- ARGV[3]  lease in ms, above 0
-- ARGV[4]  the message to publish when the lock is free
-- ARGV[5]  the prefix of a waiter's channel; the owner follows
--
-- Returns  1    free now; or the place is given back
--          0    given back, levels below it are still held; lease as ARGV[3] from now
--          nil  the owner does not hold the lock, and has no place in the queue now
local held = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0)
local kept = tonumber(ARGV[2]) - 1
local answer = nil
local is_free = false
if kept < 0 or held == 0 then
    redis.call('LREM', KEYS[2], 0, ARGV[1])
    redis.call('ZREM', KEYS[3], ARGV[1])
    answer = kept < 0 and 1 or nil
elseif kept > 0 then
    if held > kept then
        redis.call('HSET', KEYS[1], ARGV[1], kept)
    end
    if redis.call('PTTL', KEYS[1]) <= tonumber(ARGV[3]) then
        redis.call('PEXPIRE', KEYS[1], ARGV[3])
    end
    return 0
else
    redis.call('DEL', KEYS[1])
    answer = 1
    is_free = true
end
local head = (is_free or redis.call('EXISTS', KEYS[1]) == 0) and
    redis.call('LINDEX', KEYS[2], 0)
if not head then
    return answer
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
while head and (tonumber(redis.call('ZSCORE', KEYS[3], head)) or 0) <= now do
    redis.call('LPOP', KEYS[2])
    redis.call('ZREM', KEYS[3], head)
    head = redis.call('LINDEX', KEYS[2], 0)
end
if head then
    redis.pcall('PUBLISH', ARGV[5] .. head, ARGV[4])
end
return answer
