-- SPDX-License-Identifier: MIT
-- latency.lua -- how long answers took: counts by microseconds, kept to three digits.
--
-- wrk has a histogram too, but in 4.1.0 it adds samples that nobody measured (its
-- "correction" for coordinated omission), and it leaves out what took longer than
-- --timeout.  This one holds exactly the answers that came.

local M = {}

function M.new() return {} end

function M.add(counts, us)
    local step = 1
    us = math.max(math.floor(us), 0)
    while us / step >= 1000 do step = step * 10 end
    local rounded = math.floor(us / step) * step
    counts[rounded] = (counts[rounded] or 0) + 1
end

-- All of `more` as well.
function M.merge(counts, more)
    for us, count in pairs(more) do counts[us] = (counts[us] or 0) + count end
    return counts
end

-- As lines "latency NAME US COUNT".
function M.print(counts, name, lines)
    for us, count in pairs(counts) do
        lines[#lines + 1] = string.format("latency %s %d %d", name, us, count)
    end
end

-- The microseconds that were counted, in order; the number of answers; the sum of all.
local function sorted(counts)
    local values, total, sum = {}, 0, 0
    for us, count in pairs(counts) do
        values[#values + 1] = us
        total = total + count
        sum = sum + us * count
    end
    table.sort(values)
    return values, total, sum
end

-- Percentiles in milliseconds, and how many answers they are about; nil if there were
-- none.
function M.percentiles(counts)
    local values, total, sum = sorted(counts)
    if total == 0 then return nil end
    local function at(share)
        local rank, seen = math.max(1, math.ceil(share * total)), 0
        for _, us in ipairs(values) do
            seen = seen + counts[us]
            if seen >= rank then return us / 1000 end
        end
    end
    return { count = total, mean = sum / total / 1000, p50 = at(0.5), p90 = at(0.9), p95 = at(0.95),
             p99 = at(0.99), p999 = at(0.999), p9999 = at(0.9999), max = values[#values] / 1000 }
end

-- The curve of the percentiles on an axis of nines, eight points for each nine: pairs of the
-- number of nines (1 is p90, 2 is p99) and milliseconds, as JSON.  It ends where a further point
-- would be about less than one answer.
function M.curve(counts)
    local values, total = sorted(counts)
    local points, at, seen = {}, 0, 0
    for step = 0, 48 do
        local share = 1 - 10 ^ (-step / 8)
        local rank = math.max(1, math.ceil(share * total))
        if total == 0 or (1 - share) * total < 1 then break end
        while seen < rank do
            at = at + 1
            seen = seen + counts[values[at]]
        end
        points[#points + 1] = string.format("[%.3f, %.3f]", step / 8, values[at] / 1000)
    end
    return "[" .. table.concat(points, ", ") .. "]"
end

return M
