-- reentrant_release.lua -- give back one level of the lock, as Redisson's RLock does.
--
-- The caller names the level that it gives back.  So a request that arrives twice, or for a level
-- that was never granted, does not change the levels below it.
--
-- The channel is no key: while the slot of a cluster moves, a script is refused if one of its keys is
-- missing.
--
-- KEYS[1]  the lock, a hash
-- ARGV[1]  owner, "uuid:number"
-- ARGV[2]  level to give back; the levels below it are kept
-- ARGV[3]  lease in ms, above 0
-- ARGV[4]  the message to publish when the lock becomes free; empty: none
-- ARGV[5]  the channel on which its waiters listen
--
-- Returns  n >= 1  free now; if a message was published, n - 1 clients received it
--          0       given back, levels below it are still held; lease as ARGV[3] from now
--          nil     the owner does not hold the lock; nothing was changed
local held = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0)
local kept = tonumber(ARGV[2]) - 1
if held == 0 then
    return nil
end
if kept == 0 then
    redis.call('DEL', KEYS[1])
    if ARGV[4] == '' then
        return 1
    end
    return 1 + (tonumber(redis.pcall('PUBLISH', ARGV[5], ARGV[4])) or 0)
end
if held > kept then
    redis.call('HSET', KEYS[1], ARGV[1], kept)
end
if redis.call('PTTL', KEYS[1]) <= tonumber(ARGV[3]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return 0
