-- latch_delete.lua -- remove a latch without opening it.
--
-- KEYS[1]  the count that is left, a number
-- KEYS[2]  the channel on which waiters listen
--
-- Returns  1  removed, and "1" was published, which is no opening
--          0  there was no latch
if not redis.call('GET', KEYS[1]) then -- an error if the key is no string
    return 0
end
redis.call('DEL', KEYS[1])
redis.pcall('PUBLISH', KEYS[2], '1')
return 1
