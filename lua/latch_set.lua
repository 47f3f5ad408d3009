-- latch_set.lua -- make a countdown latch if there is none.
--
-- KEYS[1]  what is left to count, a number
-- KEYS[2]  the channel on which waiters listen
-- ARGV[1]  count, above 0
--
-- Returns  1  made, and published as "1": it is closed
--          0  there is one already; nothing was changed
if redis.call('SETNX', KEYS[1], ARGV[1]) == 0 then
    return 0
end
redis.call('PUBLISH', KEYS[2], '1')
return 1
