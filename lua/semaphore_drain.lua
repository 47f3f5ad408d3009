-- semaphore_drain.lua -- take all free permits.
--
-- KEYS[1]  the number of permits that can be taken
--
-- Returns  the number of permits that were taken; 0 if there were none
local value = tonumber(redis.call('GET', KEYS[1]) or 0)
if value <= 0 then
    return 0
end
redis.call('DECRBY', KEYS[1], value)
return value
