/** An ad of the sample day. */
type SampleAd = { creativeId: string; brandId?: string; industryIds?: string[] };

export type ExpectedDecision = {
  outcome: string;
  remaining: number | null;
  /** The rule that blocks. */
  ruleId?: string;
  /** As a time of the sample day. */
  nextAllowed?: string;
};

export type SampleBreak = {
  /** As a time of the sample day, or ahead of now for a pod that is reserved. */
  at: string | { inMinutes: number };
  slots?: number;
  candidates: readonly { ad: SampleAd; expect: ExpectedDecision }[];
};

export type Scene = {
  title: string;
  /** The device’s name; one that is no identity is posted as it is. */
  device: string;
  watched: readonly { ad: SampleAd; at: string }[];
  /** How often the whole is told. */
  tellings?: number;
  breaks: readonly SampleBreak[];
};

const sneaker = { creativeId: 'sneaker-30', brandId: 'sneaker.example' };
const acmeSummer = { creativeId: 'acme-summer', brandId: 'https://www.acme.example/' };
const acmeWinter = { creativeId: 'acme-winter', brandId: 'acme.example' };
const bet = (number: number) => ({ creativeId: `bet-${number}`, industryIds: ['betting'] });
const sponsor = { creativeId: 'sponsor-ident', brandId: 'sponsor.example' };
const promo = { creativeId: 'promo-once' };
const news = { creativeId: 'news-at-ten' };

const blocked = (ruleId: string, nextAllowed: string): ExpectedDecision => ({
  outcome: 'capped',
  remaining: 0,
  ruleId,
  nextAllowed,
});

/** What infra/rules/sample.yaml says about a morning in a few living rooms. */
export const SCENES: readonly Scene[] = [
  {
    title: 'Three views of one spot, at most three in sixty minutes',
    device: 'living-room',
    watched: ['08:12', '08:40', '08:55'].map((at) => ({ ad: sneaker, at })),
    breaks: [
      { at: '09:00', candidates: [{ ad: sneaker, expect: blocked('any-creative-hourly', '09:12') }] },
      { at: '09:12', candidates: [{ ad: sneaker, expect: { outcome: 'allowed', remaining: 1 } }] },
      { at: '08:30', candidates: [{ ad: sneaker, expect: { outcome: 'allowed', remaining: 2 } }] },
    ],
  },
  {
    title: 'Two spots of one brand, under two spellings, at most two in sixty minutes',
    device: 'kitchen',
    watched: [
      { ad: acmeSummer, at: '08:30' },
      { ad: acmeWinter, at: '08:50' },
    ],
    breaks: [
      {
        at: '09:00',
        candidates: [
          { ad: acmeSummer, expect: blocked('acme-hourly', '09:30') },
          { ad: acmeWinter, expect: blocked('acme-hourly', '09:30') },
          { ad: news, expect: { outcome: 'allowed', remaining: 3 } },
        ],
      },
    ],
  },
  {
    title: 'An industry, whoever sold the spot: one in thirty minutes',
    device: 'bedroom',
    watched: [{ ad: bet(1), at: '08:45' }],
    breaks: [{ at: '09:00', candidates: [{ ad: bet(2), expect: blocked('betting-half-hourly', '09:15') }] }],
  },
  {
    title: 'A sponsor is OFF: free of every generic rule',
    device: 'den',
    watched: ['08:20', '08:35', '08:50', '08:58'].map((at) => ({ ad: sponsor, at })),
    breaks: [{ at: '09:00', candidates: [{ ad: sponsor, expect: { outcome: 'allowed', remaining: null } }] }],
  },
  {
    title: 'A pod of four: what may be seen once fills one slot',
    device: 'tablet',
    watched: [],
    breaks: [
      {
        at: { inMinutes: 1 },
        slots: 4,
        candidates: [
          { ad: promo, expect: { outcome: 'placed', remaining: 1 } },
          { ad: promo, expect: { outcome: 'podCapped', remaining: 1, ruleId: 'promo-once-daily' } },
          { ad: news, expect: { outcome: 'placed', remaining: 3 } },
          { ad: promo, expect: { outcome: 'podCapped', remaining: 1, ruleId: 'promo-once-daily' } },
        ],
      },
    ],
  },
  {
    title: 'A beacon that is told twice counts once',
    device: 'phone',
    watched: [{ ad: sneaker, at: '08:55' }],
    tellings: 2,
    breaks: [{ at: '09:00', candidates: [{ ad: sneaker, expect: { outcome: 'allowed', remaining: 2 } }] }],
  },
  {
    title: 'A device without an identity shares no counter with anyone',
    device: '[IFA]',
    watched: ['08:50', '08:52', '08:54', '08:56'].map((at) => ({ ad: sneaker, at })),
    breaks: [{ at: '09:00', candidates: [{ ad: sneaker, expect: { outcome: 'allowed', remaining: null } }] }],
  },
];
