import { describe, expect, test } from 'vitest';
import { readRulesRecord } from '../src/index.ts';
import { aRecord, aRule } from './feed-fixtures.ts';

const bounds = { retentionMs: 86_400_000 };

describe('readRulesRecord', () => {
  test('gives a good record as it is', () => {
    expect(readRulesRecord(JSON.stringify(aRecord(3)), bounds)).toEqual({ ok: true, record: aRecord(3) });
  });

  test.for([
    ['what is not JSON', '{', 'not_json'],
    ['a record of a newer schema', JSON.stringify({ schema: 2 }), 'newer_schema'],
    ['a record without a version', JSON.stringify({ ...aRecord(1), version: undefined }), 'not_a_record'],
    ['null', 'null', 'not_a_record'],
    ['duplicate ids', JSON.stringify({ ...aRecord(1), rules: [aRule(), aRule()] }), 'wrong_rules'],
  ] as const)('refuses %s', ([, json, reason]) => {
    expect(readRulesRecord(json, bounds)).toMatchObject({ ok: false, reason });
  });
});
