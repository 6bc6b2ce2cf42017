--[[ Replaces the rules in force when nobody else has since they were read. Guarantee: of two writers that read the same
version one is refused.
KEYS[1] rules
ARGV[1] expectedVersion (empty: there are none)
ARGV[2] version
ARGV[3] json
Reply: 1, or -4 conflict ]]
local rules = KEYS[1]
local expectedVersion, version, json = ARGV[1], ARGV[2], ARGV[3]

if (redis.call('HGET', rules, 'version') or '') ~= expectedVersion then return REFUSED.conflict end
redis.call('HSET', rules, 'version', version, 'json', json)
return 1
