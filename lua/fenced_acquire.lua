-- fenced_acquire.lua -- take the lock as reentrant_acquire.lua does, and a fence with it.
--
-- The fence counts the holders that the lock has had.  Redisson counts re-entries too;
-- here they keep the fence of their hold, so that what a holder wrote under the outer
-- level is not older than what it writes under the inner one, and the same request
-- arriving twice counts once.  Either way it grows with every new holder, so both may
-- share a counter.  The counter has no end: one that began anew would repeat itself.
--
-- That is what a server does that lost its data.  So the counter begins at an epoch times
-- 2^32, and epochs come from elsewhere, each above all before it.  A counter that is not
-- there, is below the first epoch (a client without epochs began it) or has used up its
-- own is moved to a new one; and only to one that was drawn after this server was asked:
-- KEYS[3] remembers who asked, and is lost with everything else.
--
-- KEYS[1]  the lock, a hash
-- KEYS[2]  the counter, a string
-- KEYS[3]  who was told to bring an epoch, a hash of tokens; it ends by itself
-- ARGV[1]  lease in ms, above 0
-- ARGV[2]  owner, "uuid:number"
-- ARGV[3]  level wanted: 1, or one more than the owner holds
-- ARGV[4]  "" count without epochs; "?" with them, no epoch at hand; or an epoch * 2^32
-- ARGV[5]  the token of this attempt
--
-- Returns  text   taken, and this is the fence; the lease ends no earlier than ARGV[1]
--                 ms from now
--          n >= 0 somebody else's for n more ms; nothing was changed
--          -1     somebody else's, without an end; nothing was changed
--          -3     the owner does not hold the levels below; nothing was changed
--          -4     an epoch is needed that was drawn after this answer; but for KEYS[3]
--                 nothing was changed
local EPOCH = 4294967296
local USED_UP = EPOCH - 1048576
local ASKED_MS = 10000
local left = redis.call('PTTL', KEYS[1]) -- -2: there is none
local held = left ~= -2 and tonumber(redis.call('HGET', KEYS[1], ARGV[2]) or 0) or 0
local wanted = tonumber(ARGV[3])
local counter
local count
if held == 0 then
    if wanted > 1 then
        return -3
    end
    if left ~= -2 then
        return left
    end
end
counter = redis.call('GET', KEYS[2])
count = tonumber(counter or 0)
if ARGV[4] ~= '' and (held == 0 or not counter) and
   (count < EPOCH or count % EPOCH >= USED_UP) then
    if ARGV[4] == '?' or tonumber(ARGV[4]) <= count or
       redis.call('HEXISTS', KEYS[3], ARGV[5]) == 0 then
        redis.call('HSET', KEYS[3], ARGV[5], 1)
        redis.call('PEXPIRE', KEYS[3], ASKED_MS)
        return -4
    end
    redis.call('SET', KEYS[2], ARGV[4])
    redis.call('DEL', KEYS[3])
end
if held == 0 or not counter then
    redis.call('INCR', KEYS[2])
end
if held < wanted then
    redis.call('HSET', KEYS[1], ARGV[2], wanted)
end
if left <= tonumber(ARGV[1]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return redis.call('GET', KEYS[2])
