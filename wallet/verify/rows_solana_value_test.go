package verify_test

import (
	"crypto/ed25519"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/solmsg"
	"coffer/wallet/verify"
)

func TestS10_ExactlyTheNamedAmountLeavesTheUsersAccount(t *testing.T) {
	eachPaymentRefused(t, "S10", everyPayment, map[string]func(p *payment){
		"one unit more": func(p *payment) { p.amount++; p.builds[0] = p.pay()[0]; p.put() },
		"one unit less": func(p *payment) { p.amount--; p.builds[0] = p.pay()[0]; p.put() },
		"twice":         func(p *payment) { p.builds = append(p.builds, p.pay()...); p.put() },
		"never": func(p *payment) {
			p.builds = p.builds[1:]
			p.builds[0].Accounts = []solmsg.Meta{{Key: p.user, Signer: true}}
			p.put()
		},
		"no amount": func(p *payment) { p.op.Amount = "0" },
		"nothing":   func(p *payment) { p.op.Amount, p.amount = "0", 0; p.builds[0] = p.pay()[0]; p.put() },
		"sign":      func(p *payment) { p.op.Amount = "-1" },
		"65 bits":   func(p *payment) { p.op.Amount = "18446744073709551616" },
		"coins besides": func(p *payment) {
			p.builds = append(p.builds,
				solmsg.SystemTransfer(p.user, p.vault, 1))
			p.put()
		},
		"of the sponsor": func(p *payment) {
			p.builds = append(p.builds, solmsg.SystemTransfer(p.sponsor, p.vault, p.amount))
			p.put()
		},
	})
	eachPaymentRefused(t, "S10", []string{paysTokens, paysForCall}, map[string]func(p *payment){
		"another mint":      func(p *payment) { p.mint = somebody(); p.builds[0] = p.pay()[0]; p.put() },
		"only another mint": func(p *payment) { p.builds[0].Accounts[1].Key = somebody(); p.put() },
		"decimals":          func(p *payment) { p.builds[0].Data[9] = 9; p.put() },
		"source":            func(p *payment) { p.builds[0].Accounts[0].Key = somebody(); p.put() },
		"owner": func(p *payment) {
			p.builds[0].Accounts[3].Key = p.sponsor
			p.builds[1].Accounts = []solmsg.Meta{{Key: p.user, Signer: true}}
			p.put()
		},
		"coins instead": func(p *payment) { p.builds[0] = solmsg.SystemTransfer(p.user, p.vault, p.amount); p.put() },
		"you pay the rent": func(p *payment) {
			p.builds = append([]solmsg.Build{solmsg.CreateATAIdempotent(p.user, p.vault, p.mint)}, p.builds...)
			p.put()
		},
	})
	eachPaymentRefused(t, "S10", []string{paysCoins}, map[string]func(p *payment){
		"tokens of no mint": func(p *payment) {
			none := solmsg.Key{}
			p.builds[0] = solmsg.TokenTransferChecked(none, none, none, p.user, p.amount, 9)
			p.put()
		},
		"tokens instead": func(p *payment) {
			p.builds[0] = solmsg.TokenTransferChecked(p.user, somebody(), p.vault, p.user, p.amount, 6)
			p.put()
		},
	})
}

func TestS11_ThePaymentGoesIntoThePinnedVault(t *testing.T) {
	eachPaymentRefused(t, "S11", everyPayment, map[string]func(p *payment){
		"another vault":   func(p *payment) { p.vault = somebody(); p.builds[0] = p.pay()[0]; p.put() },
		"to yourself":     func(p *payment) { p.vault = p.user; p.builds[0] = p.pay()[0]; p.put() },
		"no pinned vault": func(p *payment) { p.a.policy.Network.Pins.SolanaVault = "" },
		"no sponsor":      func(p *payment) { p.a.policy.Network.Pins.SolanaSponsor = "0" },
	})
	open := func(build func(p *payment) solmsg.Build) func(p *payment) {
		return func(p *payment) { p.builds = append([]solmsg.Build{build(p)}, p.builds...); p.put() }
	}
	eachPaymentRefused(t, "S11", []string{paysTokens, paysForCall}, map[string]func(p *payment){
		"the vault's key": func(p *payment) { p.builds[0].Accounts[2].Key = p.vault; p.put() },
		"a stranger's account": open(func(p *payment) solmsg.Build {
			return solmsg.CreateATAIdempotent(p.sponsor,
				somebody(), p.mint)
		}),
		"of another mint": open(func(p *payment) solmsg.Build {
			return solmsg.CreateATAIdempotent(p.sponsor, p.vault,
				somebody())
		}),
		"at another place": open(func(p *payment) solmsg.Build {
			b := solmsg.CreateATAIdempotent(p.sponsor, p.vault, p.mint)
			b.Accounts[1].Key = somebody()
			return b
		}),
		"with other programs": open(func(p *payment) solmsg.Build {
			b := solmsg.CreateATAIdempotent(p.sponsor, somebody(), p.mint)
			b.Accounts[1].Key = p.tokens(p.vault)
			return b
		}),
		"its mint is another one": open(func(p *payment) solmsg.Build {
			b := solmsg.CreateATAIdempotent(p.sponsor, p.vault, p.mint)
			b.Accounts[3].Key = somebody()
			return b
		}),
	})
}

func TestS11_TheSponsorMayOpenTheVaultsTokenAccount(t *testing.T) {
	for _, name := range []string{paysTokens, paysForCall, paysMixed} {
		a := answer(t, name)
		p := a.onSolana()
		p.builds = append([]solmsg.Build{solmsg.CreateATAIdempotent(p.sponsor, p.vault, p.mint)}, p.builds...)
		p.put()
		v := a.passes()
		if got := v.Legs[len(v.Legs)-1].Solana.Instructions[0]; got.ProgramName != "Associated Token Account" ||
			got.Args[2].Value != p.vault.String() {
			t.Errorf("%s: %+v", name, got)
		}
	}
	eachPaymentRefused(t, "S1", []string{paysTokens}, map[string]func(p *payment){
		"with another program at its end": func(p *payment) {
			b := solmsg.CreateATAIdempotent(p.sponsor, p.vault, p.mint)
			b.Accounts[5].Key = solmsg.Token2022Program()
			p.builds = append([]solmsg.Build{b}, p.builds...)
			p.put()
		},
	})
}

func TestS12_NoKeyComesFromALookupTable(t *testing.T) {
	table := somebody()
	eachPaymentRefused(t, "S12", everyPayment, map[string]func(p *payment){
		"in the message": func(p *payment) {
			b := p.bytes()
			p.raw(append(append(append(b[:len(b)-1], 1), table[:]...), 1, 7, 0))
		},
		"named only": func(p *payment) { p.op.AddressLookupTableAddresses = []string{table.String()} },
		"used by the transfer": func(p *payment) {
			b := p.bytes()
			n := int(b[4])
			// version, header, count; keys; block hash; count; program and length of the first instruction
			at := 5 + 32*n + 32 + 1 + 2
			b[at+1] = byte(n) // its second account is the table's
			p.raw(append(append(append(b[:len(b)-1], 1), table[:]...), 1, 7, 0))
			p.op.Instructions[0].Keys[1].Pubkey = p.tokens(p.vault).String() // says the service
		},
	})
	for _, name := range everyPayment {
		a := answer(t, name)
		a.onSolana().op.AddressLookupTableAddresses = []string{}
		a.passes()
	}
}

func TestS13_TheMessageArrivesUnsigned(t *testing.T) {
	eachPaymentRefused(t, "S13", everyPayment, map[string]func(p *payment){
		"signed": func(p *payment) { p.op.Signature = solmsg.FormatSignature([64]byte{1}) },
	})
	a := answer(t, paysCoins)
	for _, value := range []any{"", nil, map[string]any{"r": "1"}, []any{}} {
		q, r := a.judge(replace(t, a.doc, "/originChainsOperations/0/signature", value))
		refused(t, q != nil, r, "S13")
	}
}

func TestS13_OnlyTheAccountsOwnSignatureOfThisMessageIsSent(t *testing.T) {
	key, user := solanaKey("a key of this test")
	a := answer(t, paysTokens)
	a.onSolana().belongsTo(user)
	doc := a.document()
	q, r := a.judge(doc)
	accepted(t, r)
	s := q.Operations()[0]
	m, ok := s.Message()
	if !ok || m.IsZero() || m.Signer() != user || m.Network() != a.policy.Network.ID || s.Count() != 1 ||
		s.Hash() != s.Digest() || string(m.Message()) != string(a.onSolana().bytes()) {
		t.Fatalf("%+v", s.Summary())
	}
	good := ed25519.Sign(key, m.Message())
	stranger, _ := solanaKey("somebody")
	spoilt := append([]byte(nil), good...)
	spoilt[40] ^= 1
	for name, sig := range map[string][]byte{
		"nothing": nil, "short": good[:63], "long": append(append([]byte(nil), good...), 0), "spoilt": spoilt,
		"a stranger's":   ed25519.Sign(stranger, m.Message()),
		"of other bytes": ed25519.Sign(key, append(m.Message(), 0)),
	} {
		if _, err := q.ExecuteBody([]verify.Signatures{{Operation: sig}}); err == nil {
			t.Errorf("%s: sent", name)
		}
	}
	if _, err := q.ExecuteBody([]verify.Signatures{{Operation: good, Delegation: &op.SignedAuthorization{}}}); err ==
		nil {
		t.Error("a delegation beside a message was sent")
	}
	body, err := q.ExecuteBody([]verify.Signatures{{Operation: good}})
	need(t, err)
	want := strings.Replace(string(doc.Raw()), `"amount":"50000000"}]`,
		`"amount":"50000000","signature":"`+caip.FormatSolanaSignature([64]byte(good))+`"}]`, 1)
	if string(body.Raw()) != want {
		t.Errorf("more than the signature was changed: %s", body.Raw())
	}
	if err := q.CheckBody(replace(t, body, "/originToken/amount", "50000001")); err == nil {
		t.Error("a changed body passes for the reviewed one")
	}
}

func TestSummariesOfMessagesNameTheirEnd(t *testing.T) {
	for name, role := range map[string]string{paysCoins: verify.RoleSwap,
		"v3-transfer-from-solana": verify.RoleTransfer, paysForCall: verify.RoleFunding} {
		a := answer(t, name)
		q, r := a.judge(a.doc)
		accepted(t, r)
		s := q.Operations()[0].Summary()
		p := a.onSolana()
		if s.Role != role || s.Kind != api.AccountSolana || s.Chain != "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp" ||
			s.Sender != p.user.String() || s.Nonce != "" || s.BlockHash != p.hash.String() ||
			s.ValidUntil != a.now.Unix()+90 || len(s.Spend) != 1 || s.Spend[0].Amount.String() != p.op.Amount {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestQ1_TheMemoIsTheQuotesID(t *testing.T) {
	memo := func(text string) func(p *payment) {
		return func(p *payment) { p.builds[1] = solmsg.Memo(text); p.put() }
	}
	eachPaymentRefused(t, "Q1", everyPayment, map[string]func(p *payment){
		"none":         func(p *payment) { p.builds = p.builds[:1]; p.put() },
		"twice":        func(p *payment) { p.builds = append(p.builds, p.builds[1]); p.put() },
		"another id":   memo("0x" + strings.Repeat("12", 32)),
		"other case":   func(p *payment) { memo(strings.ToUpper(p.a.quote.ID))(p) },
		"with a space": func(p *payment) { memo(p.a.quote.ID + " ")(p) },
		"no text":      func(p *payment) { p.builds[1].Data = []byte{0xff, 0xfe}; p.put() },
	})
}

func TestQ3_OneSolanaPaymentFromAnAccountOfTheIntent(t *testing.T) {
	eachPaymentRefused(t, "Q3", everyPayment, map[string]func(p *payment){
		"twice": func(p *payment) {
			p.a.quote.OriginChainsOperations = append(p.a.quote.OriginChainsOperations, *p.op)
		},
	})
	a := answer(t, "v3-swap-evm") // the accounts of the intent have none on Solana
	b := answer(t, paysTokens)
	a.draft.Pay.Asset, a.draft.Pay.Amount = "ob:usdc", "50000000"
	a.draft.Receive.Asset, a.draft.Receive.Minimum = "ob:eth", ""
	a.quote.OriginChainsOperations = b.quote.OriginChainsOperations
	a.refuses("Q3")
	c := answer(t, "v3-transfer-from-solana") // and here none on an EVM chain
	c.quote.OriginChainsOperations = answer(t, "v3-transfer").quote.OriginChainsOperations
	c.refuses("Q3")
}

func TestL4_AnOperationIsOfOneKind(t *testing.T) {
	evm := answer(t, "v3-eip7702-funded").quote.OriginChainsOperations[0]
	eachPaymentRefused(t, "L4", everyPayment, map[string]func(p *payment){
		"a user operation beside": func(p *payment) { p.op.UserOp = evm.UserOp },
		"typed data beside":       func(p *payment) { p.op.TypedDataToSign = evm.TypedDataToSign },
		"a delegation beside": func(p *payment) {
			p.op.Delegation = &api.Delegation{
				ContractAddress: evm.UserOp.Sender}
		},
	})
	message := answer(t, paysCoins).quote.OriginChainsOperations[0]
	eachRefused(t, "v3-swap-evm", "L4", map[string]func(a *answers){
		"a kind":       func(a *answers) { a.quote.OriginChainsOperations[0].Type = "evm" },
		"instructions": func(a *answers) { a.quote.OriginChainsOperations[0].Instructions = message.Instructions },
		"a block hash": func(a *answers) {
			a.quote.OriginChainsOperations[0].RecentBlockHash =
				message.RecentBlockHash
		},
		"a fee payer": func(a *answers) { a.quote.OriginChainsOperations[0].FeePayer = message.FeePayer },
		"a message":   func(a *answers) { a.quote.OriginChainsOperations[0].DataToSign = message.DataToSign },
		"lookup tables": func(a *answers) {
			a.quote.OriginChainsOperations[0].AddressLookupTableAddresses =
				[]string{}
		},
	})
	for _, pointer := range []string{"/originChainsOperations/0/instructions/0/extra",
		"/originChainsOperations/0/versioned"} {
		a := answer(t, paysCoins)
		q, r := a.judge(replace(t, a.doc, pointer, "1"))
		refused(t, q != nil, r, "L4")
	}
}

func TestQ6_AMessagePaysInTheChosenAsset(t *testing.T) {
	eachPaymentRefused(t, "Q6", everyPayment, map[string]func(p *payment){
		"unknown mint": func(p *payment) { p.op.AssetType = caip.SPL(somebody()).String() },
		"EVM asset":    func(p *payment) { p.op.AssetType = opUSDC },
		"another chain": func(p *payment) {
			p.op.AssetType = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1/slip44:501"
		},
	})
	eachPaymentRefused(t, "Q6", []string{paysTokens, paysForCall, paysMixed}, map[string]func(p *payment){
		"coins": func(p *payment) {
			p.op.AssetType, p.mint = caip.SOL().String(), solmsg.Key{}
			p.builds[0] = p.pay()[0]
			p.put()
		},
	})
	eachRefused(t, "v3-swap-evm", "Q6", map[string]func(a *answers){
		"a Solana asset of a user operation": func(a *answers) {
			a.quote.OriginChainsOperations[0].AssetType =
				caip.SOL().String()
		},
	})
}

func TestSolanaIsUnknownToV1(t *testing.T) {
	a := answer(t, "v1-swap")
	message := answer(t, paysCoins).quote.OriginChainsOperations[0]
	q, r := a.judge(replace(t, a.doc, "/originChainsOperations/0", message))
	refused(t, q != nil, r, "L4")
}
