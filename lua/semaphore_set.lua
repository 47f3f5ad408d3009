-- semaphore_set.lua -- make a semaphore, or one of permits that expire, if there is
-- none.
--
-- KEYS[1]  how many permits there are to take, a number
-- KEYS[2]  the channel on which waiters listen
-- ARGV[1]  permits, above 0
--
-- Returns  1  made, and published
--          0  there is one already; nothing was changed
if redis.call('SETNX', KEYS[1], ARGV[1]) == 0 then
    return 0
end
redis.call('PUBLISH', KEYS[2], ARGV[1])
return 1
