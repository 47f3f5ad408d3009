-- stream_find.lua -- find the state of a request.
--
-- KEYS[1]  the stream of orders that wait for their rows
-- KEYS[2]  the request: "state voucher order entry"
--
-- Returns  its value; if the order was queued and is not in the stream any more, the state is lost.
--          nil: Redis does not have the request
local request = redis.call('GET', KEYS[2])
local entry = request and request:match('^queued %S+ %S+ (%S+)$')
if entry and #redis.call('XRANGE', KEYS[1], entry, entry) == 0 then
    return (request:gsub('^queued', 'lost'))
end
return request
