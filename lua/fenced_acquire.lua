-- fenced_acquire.lua -- take the lock as reentrant_acquire.lua does, and a fence with it.
--
-- The fence is a counter of the holders of the lock.  Redisson counts re-entries too.  Here a
-- re-entry keeps the fence of its hold, so that all writes of a hold have the same fence, and a
-- request that arrives twice counts once.  Both ways the counter grows with every new holder, so
-- both programs may share it.  The counter has no expiry, because a new counter would repeat
-- earlier fences.
--
-- A server that has lost its data begins a new counter.  So a counter begins at an epoch times
-- 2^32; the caller draws epochs elsewhere, each above all earlier ones.  The counter is moved to a
-- new epoch if it does not exist, if it is below the first epoch (a client without epochs began
-- it), or if it has used up its epoch.  The new epoch must have been drawn after this server asked
-- for one: KEYS[3] has the attempts that were asked, and is lost together with the counter.
--
-- KEYS[1]  the lock, a hash
-- KEYS[2]  the counter, a string
-- KEYS[3]  the attempts that were asked for an epoch, a hash of tokens; it expires
-- ARGV[1]  lease in ms, above 0
-- ARGV[2]  owner, "uuid:number"
-- ARGV[3]  level wanted: 1, or one more than the owner holds
-- ARGV[4]  "": count without epochs; "?": with epochs, none drawn yet; or an epoch * 2^32
-- ARGV[5]  the token of this attempt
--
-- Returns  text   taken, and the text is the fence; the lease ends no earlier than ARGV[1]
--                 ms from now
--          n >= 0 another owner holds the lock for n more ms; nothing was changed
--          -1     another owner holds the lock without a lease; nothing was changed
--          -3     the owner does not hold the levels below; nothing was changed
--          -4     an epoch is needed that is drawn after this answer; only KEYS[3] was
--                 changed
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
