--[[ Everything that a decision needs of one device, at one moment. Guarantee: writes nothing, so an earlier break may
be asked about later.
KEYS[1] window
KEYS[2] history
KEYS[3] reservations
KEYS[4] meta
KEYS[5] pod
ARGV[1] sinceMs
ARGV[2] withHistory
Reply: now in ms, version, stored pod or nil, the window's members later than sinceMs in one string, 1 where the history
has none in that range that the window lacks (else 0), the live reservations in one string, with the history its records
in that range, a line each ]]
local window, history, reservations, meta, pod = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
-- Guards have negative scores, and sinceMs is never negative.
local since, withHistory = '(' .. ARGV[1], ARGV[2] == '1'
local now = nowMs()

-- A window that was lost and has begun anew may hold as many impressions as the history: what is older than its first
-- gives it away.
local function isComplete(members)
  if redis.call('ZCOUNT', history, since, '+inf') > #members then return 0 end
  if #members == 0 then return 1 end
  return redis.call('ZCOUNT', history, since, '(' .. text(timeOf(members[1]))) == 0 and 1 or 0
end

-- Nested lists are the costliest reply: members say their own length, so one string holds them all.
local members = redis.call('ZRANGEBYSCORE', window, since, '+inf')
return {
  now,
  tonumber(redis.call('HGET', meta, 'v') or 0),
  redis.call('GET', pod),
  table.concat(members),
  isComplete(members),
  table.concat(redis.call('ZRANGEBYSCORE', reservations, '(' .. text(now), '+inf')),
  withHistory and table.concat(redis.call('ZRANGEBYSCORE', history, since, '+inf'), '\n') or '',
}
