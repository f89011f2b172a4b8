package verify_test

import (
	"encoding/base64"
	"testing"

	"coffer/api"
	"coffer/api/op/solmsg"
	"coffer/wallet/verify"
)

// FuzzExchange judges whatever parses under the intents of a swap and of a transfer that Solana pays, and of a swap
// that an EVM chain pays.
func FuzzExchange(f *testing.F) {
	var runs []*answers
	for _, name := range []string{"v3-swap-evm", paysCoins, "v3-transfer-on-solana"} {
		a := answer(f, name)
		runs = append(runs, a)
		f.Add(a.doc.Raw())
	}
	f.Add(answer(f, paysTokens).doc.Raw())
	f.Add([]byte(`{"originChainsOperations":[{"type":"solana"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		doc, err := api.ParseDocument(raw, api.DefaultLimits())
		if err != nil {
			return
		}
		for _, a := range runs {
			a.t = t
			q, r := verify.Exchange(a.intent(), a.policy, a.seen, a.now, doc)
			if (q == nil) != r.Refused() {
				t.Fatal("a value and a refusal, or neither")
			}
			if q == nil {
				continue
			}
			// Whatever is accepted pays what the user chose, to whom the user chose, signed by the user's keys.
			d, v := a.draft, q.View()
			if len(v.Pay) != 1 || v.Pay[0].Amount.String() != d.Pay.Amount ||
				(d.Receive.Account != "" && v.RecipientOwn) || v.Minimum.Amount.Cmp(v.Delivered.Amount) > 0 {
				t.Fatalf("accepted %+v", v)
			}
			for _, s := range q.Operations() {
				if s.Summary().Sender != d.Accounts[0].AccountAddress {
					t.Fatalf("accepted %+v", s.Summary())
				}
			}
		}
	})
}

// FuzzSolanaMessage puts any bytes in the place of a message, with what they contain listed honestly, so that only the
// rows about what a message does stand between them and a signature.
func FuzzSolanaMessage(f *testing.F) {
	coins, tokens := answer(f, paysCoins), answer(f, paysTokens)
	for _, a := range []*answers{coins, tokens} {
		p := a.onSolana()
		f.Add(p.bytes())
		p.builds = append([]solmsg.Build{limit(1), price(2)}, p.builds...)
		p.put()
		f.Add(p.bytes())
		p.payer = p.user
		p.put()
		f.Add(p.bytes())
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := solmsg.Parse(raw)
		for _, a := range []*answers{coins, tokens} {
			a.t = t
			p := &payment{a: a, op: &a.quote.OriginChainsOperations[0]}
			p.op.DataToSign = base64.StdEncoding.EncodeToString(raw)
			if err == nil {
				p.say(m)
			}
			q, r := a.judge(a.document())
			if (q == nil) != r.Refused() || (q != nil && err != nil) {
				t.Fatal("a value and a refusal, or neither")
			}
			if q == nil {
				continue
			}
			signed, _ := q.Operations()[0].Message()
			if string(signed.Message()) != string(raw) || m.Instructions == nil ||
				q.View().Legs[0].Solana.Memo != a.quote.ID {
				t.Fatalf("accepted %x", raw)
			}
			transfers := 0
			for _, ix := range m.Instructions {
				if ix.Program == solmsg.SystemProgram() || ix.Program == solmsg.TokenProgram() {
					transfers++
				}
			}
			if transfers != 1 {
				t.Fatalf("accepted %d transfers: %x", transfers, raw)
			}
		}
	})
}
