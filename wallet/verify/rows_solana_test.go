package verify_test

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/op/solmsg"
	"coffer/wallet/verify"
)

var everyPayment = []string{paysCoins, paysTokens, paysForCall, paysMixed}

func TestPaymentsAreTakenApartAndPutTogetherAsTheServiceMadeThem(t *testing.T) {
	for _, name := range everyPayment {
		a := answer(t, name)
		before := a.onSolana().bytes()
		a.onSolana().put()
		if string(before) != string(a.onSolana().bytes()) {
			t.Errorf("%s: another message", name)
		}
		v := a.passes()
		l := v.Legs[len(v.Legs)-1]
		if l.Solana == nil || l.Nonce != "" || l.Escrow != a.policy.Network.Pins.SolanaVault ||
			l.AccountType != api.AccountSolana || l.Chain.Name != "Solana" {
			t.Errorf("%s: %+v", name, l)
		}
		if s := l.Solana; s.FeePayer != a.policy.Network.Pins.SolanaSponsor || s.Memo != v.ID ||
			len(s.Instructions) != 2 || s.Instructions[1].ProgramName != "Memo" {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestS1_OnlyTheOneSpellingOfAMessageIsSigned(t *testing.T) {
	eachPaymentRefused(t, "S1", []string{paysCoins, paysForCall}, map[string]func(p *payment){
		"line break": func(p *payment) { p.op.DataToSign = p.op.DataToSign[:4] + "\n" + p.op.DataToSign[4:] },
		"no padding": func(p *payment) { p.op.DataToSign = strings.TrimRight(p.op.DataToSign, "=") + "A" },
		"a login text": func(p *payment) {
			p.op.DataToSign =
				base64.StdEncoding.EncodeToString([]byte("log in to example.org"))
		},
		"another version": func(p *payment) {
			b := p.bytes()
			b[0] = 0x81
			p.op.DataToSign =
				base64.StdEncoding.EncodeToString(b)
		},
		"legacy": func(p *payment) { b := p.bytes(); p.raw(b[1 : len(b)-1]) },
		"a key that nothing uses": func(p *payment) {
			b := p.bytes()
			b[3]++ // read-only accounts without signature
			b[4]++ // static keys
			k := somebody()
			p.raw(slices.Insert(b, 5+32*(int(b[4])-1), k[:]...))
		},
		"a signer beside the memo": func(p *payment) { p.builds[1] = solmsg.Memo(p.a.quote.ID, p.user); p.put() },
		"more rights": func(p *payment) {
			last := len(p.builds[0].Accounts) - 1
			p.builds[0].Accounts = append(slices.Clone(p.builds[0].Accounts), p.builds[0].Accounts[last])
			p.builds[0].Accounts[last].Writable = true
			p.builds[0].Accounts = p.builds[0].Accounts[:last+1]
			p.builds = append(p.builds, solmsg.Build{Program: solmsg.ComputeBudgetProgram(),
				Data: unhex(p.a.t, "0240420f00"), Accounts: []solmsg.Meta{{Key: p.vault, Writable: true}}})
			p.put()
		},
	})
}

func TestS1_EveryTruncationAndExtensionIsRefused(t *testing.T) {
	a := answer(t, paysCoins)
	p := a.onSolana()
	whole := p.bytes()
	for n := range len(whole) {
		p.op.DataToSign = base64.StdEncoding.EncodeToString(whole[:n])
		q, r := a.judge(a.document())
		if q != nil || (!r.Has("S1", verify.Refuse) && !r.Has("S2", verify.Refuse) && !r.Has("L3", verify.Refuse)) {
			t.Fatalf("%d bytes: %+v", n, r.Reasons)
		}
		if n > 0 {
			p.op.DataToSign = base64.StdEncoding.EncodeToString(append(slices.Clone(whole), whole[:n]...))
			a.refuses("S1")
		}
	}
}

func TestS2_TheUserAndTheFeePayerSignAndNobodyElse(t *testing.T) {
	eachPaymentRefused(t, "S2", everyPayment, map[string]func(p *payment){
		"a third signer": func(p *payment) { p.builds[1] = solmsg.Memo(p.a.quote.ID, somebody()); p.put() },
		"not the user": func(p *payment) {
			p.builds = []solmsg.Build{solmsg.SystemTransfer(p.sponsor, p.vault, p.amount), p.builds[1]}
			p.put()
		},
		"somebody else instead": func(p *payment) {
			p.builds = []solmsg.Build{solmsg.SystemTransfer(somebody(), p.vault, p.amount), p.builds[1]}
			p.put()
		},
		"impossible header": func(p *payment) {
			b := p.bytes()
			b[1] = 0
			p.op.DataToSign =
				base64.StdEncoding.EncodeToString(b)
		},
	})
	eachPaymentRefused(t, "S2", []string{paysCoins, paysTokens}, map[string]func(p *payment){
		"your account is the sponsor": func(p *payment) { p.belongsTo(p.sponsor) },
		"your account is the vault":   func(p *payment) { p.belongsTo(p.vault) },
	})
}

func TestS3_TheFeeIsPaidByThePinnedSponsorOrWithinTheLimitByTheUser(t *testing.T) {
	eachPaymentRefused(t, "S3", everyPayment, map[string]func(p *payment){
		"a stranger pays":  func(p *payment) { p.payer = somebody(); p.put() },
		"another is named": func(p *payment) { p.op.FeePayer = p.user.String() },
		"no key is named":  func(p *payment) { p.op.FeePayer = "sponsor" },
		"two prices":       func(p *payment) { p.builds = append(p.builds, price(1), price(1)); p.put() },
		"two limits":       func(p *payment) { p.builds = append(p.builds, limit(1), limit(1)); p.put() },
		"heap frame":       func(p *payment) { p.builds = append(p.builds, budget(1, 0, 0, 1, 0)); p.put() },
		"another setting":  func(p *payment) { p.builds = append(p.builds, budget(4, 0, 0, 1, 0)); p.put() },
		"no setting": func(p *payment) {
			p.builds = append(p.builds,
				budget())
			p.put()
			p.op.Instructions[2].Data = "02"
		},
		"you pay a fortune": func(p *payment) {
			p.payer = p.user
			p.builds = append(p.builds,
				price(10_000_000))
			p.put()
		},
		"you pay a fortune for a limit": func(p *payment) {
			p.payer = p.user
			p.builds = append([]solmsg.Build{limit(1_400_000), price(711_000)}, p.builds...)
			p.put()
		},
		"you pay one lamport too much": func(p *payment) {
			p.payer = p.user
			p.a.policy.Caps.SolanaFee = 5_200
			p.builds = append([]solmsg.Build{limit(200_001), price(1_000)}, p.builds...)
			p.put()
		},
	})
}

func budget(data ...byte) solmsg.Build {
	return solmsg.Build{Program: solmsg.ComputeBudgetProgram(), Data: data}
}

func limit(units uint32) solmsg.Build {
	return budget(binary.LittleEndian.AppendUint32([]byte{2}, units)...)
}

func price(microLamports uint64) solmsg.Build {
	return budget(binary.LittleEndian.AppendUint64([]byte{3}, microLamports)...)
}

func TestS3_AFeeThatTheUserPaysIsShownAndCountedAsSpent(t *testing.T) {
	for name, c := range map[string]struct {
		run    string
		builds func(p *payment) []solmsg.Build
		fee    int64
		spend  []string
	}{
		"signature only": {paysCoins, func(p *payment) []solmsg.Build { return p.builds }, 5_000,
			[]string{"1000005000"}},
		"price without a limit": {paysCoins, func(p *payment) []solmsg.Build { return append(p.builds, price(1_000)) },
			5_206, []string{"1000005206"}},
		"price without a limit, of tokens": {paysTokens,
			func(p *payment) []solmsg.Build { return append(p.builds, price(1_000)) }, 5_403,
			[]string{"50000000", "5403"}},
		"limit and price": {paysTokens, func(p *payment) []solmsg.Build {
			return append([]solmsg.Build{limit(200_001), price(1_000)}, p.builds...)
		}, 5_201, []string{"50000000", "5201"}},
		"a limit beyond the chain's": {paysTokens,
			func(p *payment) []solmsg.Build { return append(p.builds, limit(1<<31), price(1_000)) }, 6_400,
			[]string{"50000000", "6400"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := answer(t, c.run)
			p := a.onSolana()
			p.payer = p.user
			p.builds = c.builds(p)
			p.put()
			a.policy.Caps.SolanaFee = uint64(c.fee)
			q, r := a.judge(a.document())
			accepted(t, r)
			if !r.Has("S3", verify.Show) {
				t.Errorf("not shown: %+v", r.Reasons)
			}
			var got []string
			for _, s := range q.Operations()[0].Summary().Spend {
				got = append(got, s.Amount.String())
			}
			if !slices.Equal(got, c.spend) {
				t.Errorf("spends %v, want %v", got, c.spend)
			}
			a.policy.Caps.SolanaFee--
			a.refuses("S3")
		})
	}
}

func TestS4_TheBlockHashIsThatOfTheMessage(t *testing.T) {
	eachPaymentRefused(t, "S4", everyPayment, map[string]func(p *payment){
		"another": func(p *payment) { p.op.RecentBlockHash = somebody().String() },
		"short":   func(p *payment) { p.op.RecentBlockHash = p.op.RecentBlockHash[1:] },
	})
}

func TestS5_TheListedInstructionsAreThoseOfTheMessage(t *testing.T) {
	first := func(p *payment) *api.SolanaInstruction { return &p.op.Instructions[0] }
	eachPaymentRefused(t, "S5", everyPayment, map[string]func(p *payment){
		"program":      func(p *payment) { first(p).ProgramID = solmsg.Token2022Program().String() },
		"an account":   func(p *payment) { first(p).Keys[1].Pubkey = somebody().String() },
		"signs":        func(p *payment) { first(p).Keys[1].IsSigner = !first(p).Keys[1].IsSigner },
		"writable":     func(p *payment) { first(p).Keys[1].IsWritable = !first(p).Keys[1].IsWritable },
		"fewer keys":   func(p *payment) { first(p).Keys = first(p).Keys[:1] },
		"more keys":    func(p *payment) { first(p).Keys = append(first(p).Keys, first(p).Keys[0]) },
		"other data":   func(p *payment) { first(p).Data = strings.Replace(first(p).Data, "0", "1", 1) },
		"data with 0x": func(p *payment) { first(p).Data = "0x" + first(p).Data },
		"less data":    func(p *payment) { first(p).Data = first(p).Data[2:] },
		"half a byte":  func(p *payment) { first(p).Data = first(p).Data[1:] },
		"order":        func(p *payment) { slices.Reverse(p.op.Instructions) },
		"one less":     func(p *payment) { p.op.Instructions = p.op.Instructions[:1] },
		"one more":     func(p *payment) { p.op.Instructions = append(p.op.Instructions, p.op.Instructions[0]) },
		"none":         func(p *payment) { p.op.Instructions = nil },
		"other message": func(p *payment) {
			said := p.op.Instructions
			p.builds = append(p.builds, price(1))
			p.put()
			p.op.Instructions = said
		},
	})
	a := answer(t, paysCoins)
	doc := drop(t, a.doc, "/originChainsOperations/0/instructions/1/keys")
	q, r := a.judge(doc)
	refused(t, q != nil, r, "S5")
}

func TestS6_OnlyKnownProgramsRunWithTheUsersSignature(t *testing.T) {
	foreign := somebody()
	call := func(program solmsg.Key, accounts ...solmsg.Meta) func(p *payment) {
		return func(p *payment) {
			p.builds = append(p.builds, solmsg.Build{Program: program, Accounts: accounts, Data: []byte{1, 2, 3}})
			p.put()
		}
	}
	eachPaymentRefused(t, "S6", everyPayment, map[string]func(p *payment){
		"unknown":    call(foreign),
		"token 2022": call(solmsg.Token2022Program()),
		"pinned, with your key": func(p *payment) {
			p.a.policy.Limits.Programs = []solmsg.Key{foreign}
			call(foreign, solmsg.Meta{Key: p.user})(p)
		},
		"instead of the transfer": func(p *payment) { p.builds[0].Program = foreign; p.put() },
	})
	eachPaymentRefused(t, "S6", []string{paysTokens, paysForCall}, map[string]func(p *payment){
		"pinned, with your tokens": func(p *payment) {
			p.a.policy.Limits.Programs = []solmsg.Key{foreign}
			call(foreign, solmsg.Meta{Key: p.tokens(p.user), Writable: true})(p)
		},
	})
}

func TestS6_AProgramOfThePolicyMayRunWithoutTheUsersAccounts(t *testing.T) {
	foreign := somebody()
	for _, name := range everyPayment {
		a := answer(t, name)
		a.policy.Limits.Programs = []solmsg.Key{foreign}
		p := a.onSolana()
		p.builds = append(p.builds, solmsg.Build{Program: foreign,
			Accounts: []solmsg.Meta{{Key: p.sponsor, Signer: true, Writable: true}, {Key: p.vault}},
			Data:     []byte{1, 2, 3}})
		p.put()
		q, r := a.judge(a.document())
		accepted(t, r)
		if !r.Has("V3", verify.Warn) {
			t.Errorf("%s: bytes that nobody can read are not pointed out: %+v", name, r.Reasons)
		}
		legs := q.View().Legs
		shown := legs[len(legs)-1].Solana.Instructions[2]
		if shown.Program != foreign.String() || shown.ProgramName != "" || shown.Args[0].Value != "0x010203" ||
			shown.Args[1].Value != p.sponsor.String() {
			t.Errorf("%s: %+v", name, shown)
		}
	}
}

// Many instructions that only their bytes describe are one warning, which counts them.
func TestV3_ManyUnreadInstructionsAreOneWarning(t *testing.T) {
	foreign := somebody()
	for _, name := range everyPayment {
		a := answer(t, name)
		a.policy.Limits.Programs = []solmsg.Key{foreign}
		p := a.onSolana()
		for k := range 5 {
			p.builds = append(p.builds, solmsg.Build{Program: foreign, Data: []byte{byte(k)}})
		}
		p.put()
		_, r := a.judge(a.document())
		accepted(t, r)
		var found []verify.Reason
		for _, x := range r.Reasons {
			if x.Code == "V3" && strings.Contains(x.Title, "instructions of programs of your policy") {
				found = append(found, x)
			}
		}
		if len(found) != 1 || !strings.HasPrefix(found[0].Title, "5 instructions") ||
			!strings.HasSuffix(found[0].Got, "and 3 more") {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

func TestS6_Token2022IsNamedWhereThePolicyPinsIt(t *testing.T) {
	a := answer(t, paysTokens)
	a.policy.Limits.Programs = []solmsg.Key{solmsg.Token2022Program()}
	p := a.onSolana()
	p.builds = append(p.builds, solmsg.Build{Program: solmsg.Token2022Program(), Data: []byte{17}})
	p.put()
	if got := a.passes().Legs[0].Solana.Instructions[2]; got.ProgramName != "Token 2022" || len(got.Args) != 1 {
		t.Errorf("%+v", got)
	}
	p.builds[2] = tokenCall(p, 4)
	p.builds[2].Program = solmsg.Token2022Program()
	p.put()
	a.refuses("S6")
}

func TestL3_FlagsAreTrueOrFalse(t *testing.T) {
	a := answer(t, paysCoins)
	for _, value := range []any{"true", 1, nil, []any{}} {
		q, r := a.judge(replace(t, a.doc, "/originChainsOperations/0/instructions/0/keys/0/isSigner", value))
		refused(t, q != nil, r, "L3")
	}
}

func TestS7_TheSystemProgramOnlyTransfers(t *testing.T) {
	for tag := range uint32(20) {
		if slices.Contains([]uint32{2, 4, 5, 6, 7, 12}, tag) {
			continue
		}
		t.Run(fmt.Sprint(tag), func(t *testing.T) {
			a := answer(t, paysCoins)
			p := a.onSolana()
			system(p, binary.LittleEndian.AppendUint32(nil, tag))
			a.refuses("S7")
		})
	}
	eachPaymentRefused(t, "S7", everyPayment, map[string]func(p *payment){
		"no data": func(p *payment) {
			p.builds[1].Program = solmsg.SystemProgram()
			p.builds[1].Data = []byte{
				2}
			p.put()
		},
		"longer data": func(p *payment) { system(p, append(solmsg.SystemTransfer(p.user, p.vault, 1).Data, 0)) },
		"three parties": func(p *payment) {
			b := solmsg.SystemTransfer(p.user, p.vault, p.amount)
			b.Accounts = append(b.Accounts, solmsg.Meta{Key: somebody()})
			p.builds[0] = b
			p.put()
		},
	})
}

// system puts an instruction of the system program with the user's account behind the payment.
func system(p *payment, data []byte) {
	p.builds = append(p.builds, solmsg.Build{Program: solmsg.SystemProgram(),
		Accounts: []solmsg.Meta{{Key: p.user, Signer: true, Writable: true}, {Key: p.vault, Writable: true}},
		Data:     data})
	p.put()
}

func TestS8_NoDurableNonce(t *testing.T) {
	for _, tag := range []uint32{4, 5, 6, 7, 12} {
		eachPaymentRefused(t, "S8", everyPayment, map[string]func(p *payment){
			fmt.Sprint(tag): func(p *payment) {
				advance := solmsg.Build{Program: solmsg.SystemProgram(),
					Accounts: []solmsg.Meta{{Key: somebody(), Writable: true}, {Key: p.sponsor, Signer: true}},
					Data:     binary.LittleEndian.AppendUint32(nil, tag)}
				p.builds = append([]solmsg.Build{advance}, p.builds...)
				p.put()
			},
		})
	}
}

func TestS9_TheTokenProgramOnlyTransfersWithMintAndDecimals(t *testing.T) {
	for tag := range 256 {
		if tag == 12 {
			continue
		}
		a := answer(t, paysTokens)
		p := a.onSolana()
		p.builds[0].Data[0] = byte(tag)
		p.put()
		a.refuses("S9")
	}
	ata := func(data []byte, accounts int) func(p *payment) {
		return func(p *payment) {
			b := solmsg.CreateATAIdempotent(p.sponsor, p.vault, p.mint)
			b.Data, b.Accounts = data, b.Accounts[:accounts]
			p.builds = append([]solmsg.Build{b}, p.builds...)
			p.put()
		}
	}
	eachPaymentRefused(t, "S9", []string{paysTokens, paysForCall}, map[string]func(p *payment){
		"plain transfer": func(p *payment) {
			p.builds[0].Data = p.builds[0].Data[:9]
			p.builds[0].Data[0] =
				3
			p.put()
		},
		"several owners": func(p *payment) {
			p.builds[0].Accounts = append(p.builds[0].Accounts, solmsg.Meta{Key: p.sponsor})
			p.put()
		},
		"account create":   ata([]byte{0}, 6),
		"account recover":  ata([]byte{2}, 6),
		"account unknown":  ata([]byte{3}, 6),
		"account too few":  ata([]byte{1}, 5),
		"approve besides":  func(p *payment) { p.builds = append(p.builds, tokenCall(p, 4)); p.put() },
		"close besides":    func(p *payment) { p.builds = append(p.builds, tokenCall(p, 9)); p.put() },
		"set authority":    func(p *payment) { p.builds = append(p.builds, tokenCall(p, 6)); p.put() },
		"approve checked ": func(p *payment) { p.builds = append(p.builds, tokenCall(p, 13)); p.put() },
	})
	eachPaymentRefused(t, "S9", []string{paysCoins}, map[string]func(p *payment){
		"a token account beside coins": func(p *payment) {
			p.builds = append([]solmsg.Build{solmsg.CreateATAIdempotent(p.sponsor, p.vault, somebody())}, p.builds...)
			p.put()
		},
	})
}

// tokenCall is an instruction of the token program on the user's tokens.
func tokenCall(p *payment, tag byte) solmsg.Build {
	return solmsg.Build{
		Program: solmsg.TokenProgram(), Data: []byte{tag, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		Accounts: []solmsg.Meta{{Key: p.tokens(p.user), Writable: true}, {Key: somebody()},
			{Key: p.user, Signer: true}},
	}
}
