-- latch_set.lua -- make a countdown latch if there is none.
--
-- KEYS[1]  the count that is left, a number
-- KEYS[2]  the channel on which waiters listen
-- ARGV[1]  count, above 0
--
-- Returns  1  made and closed, and "1" was published
--          0  the latch exists already; nothing was changed
if redis.call('SETNX', KEYS[1], ARGV[1]) == 0 then
    return 0
end
redis.pcall('PUBLISH', KEYS[2], '1')
return 1
