--[[ Everything that a decision needs of one device, at one moment. Guarantee: writes nothing, so an earlier break may
be asked about later.
KEYS[1] window
KEYS[2] history
KEYS[3] reservations
KEYS[4] meta
KEYS[5] pod
ARGV[1] sinceMs
Reply: now in ms, version, stored pod or nil, the window's members later than sinceMs in one string, the number of
history records in the same range, the live reservations in one string ]]
local window, history, reservations, meta, pod = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
-- Guards have negative scores, and sinceMs is never negative.
local since = '(' .. ARGV[1]
local now = nowMs()

-- Nested lists are the costliest reply: members say their own length, so one string holds them all.
return {
  now,
  tonumber(redis.call('HGET', meta, 'v') or 0),
  redis.call('GET', pod),
  table.concat(redis.call('ZRANGEBYSCORE', window, since, '+inf')),
  redis.call('ZCOUNT', history, since, '+inf'),
  table.concat(redis.call('ZRANGEBYSCORE', reservations, '(' .. text(now), '+inf')),
}
