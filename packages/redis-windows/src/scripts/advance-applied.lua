--[[ Moves a partition's applied offset, and up to when its impressions had been received. Guarantee: nothing is written
where the offset is not the one last seen there, so a Redis that was emptied or restored is noticed; the instant never
goes back and never lies ahead of this server's clock.
KEYS[1] applied
ARGV[1] partition
ARGV[2] expectedOffset (empty: none was seen, whatever is there is replaced)
ARGV[3] nextOffset
ARGV[4] asOfMs (empty: as it was)
Reply: 1, or -4 conflict ]]
local applied = KEYS[1]
local partition, expectedOffset, nextOffset, asOfMs = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])

if expectedOffset ~= '' and redis.call('HGET', applied, partition) ~= expectedOffset then
  return REFUSED.conflict
end
redis.call('HSET', applied, partition, nextOffset)
if asOfMs then
  local before = tonumber(redis.call('HGET', applied, partition .. ':at')) or 0
  redis.call('HSET', applied, partition .. ':at', text(math.max(before, math.min(asOfMs, nowMs()))))
end
return 1
