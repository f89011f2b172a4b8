package verify_test

import (
	"encoding/binary"
	"math/big"
	"slices"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op/solmsg"
	"coffer/wallet/verify"
)

// memo puts another text into every memo.
func (s *solanaForm) memo(text string) {
	for i, b := range s.builds {
		if b.Program == solmsg.MemoProgram() {
			s.builds[i] = solmsg.Memo(text)
		}
	}
}

// replace puts another key into every place of one.
func (s *solanaForm) replace(from, to solmsg.Key) {
	for i := range s.builds {
		for k := range s.builds[i].Accounts {
			if s.builds[i].Accounts[k].Key == from {
				s.builds[i].Accounts[k].Key = to
			}
		}
	}
	if s.payer == from {
		s.payer = to
	}
}

// user is the Solana account of the intent.
func (f *forged) user() solmsg.Key {
	a, _ := f.s.in.SolanaAccount()
	k, err := solmsg.ParseKey(a.AccountAddress)
	if err != nil {
		f.t.Fatal(err)
	}
	return k
}

func onSolana(change func(f *forged, s *solanaForm) bool) func(f *forged) bool {
	return func(f *forged) bool {
		o := f.aPayment(true)
		if o == nil {
			return false
		}
		told := false
		return f.solana(o, func(s *solanaForm) { told = change(f, s) }) && told
	}
}

func liesAboutMessages() []falsehood {
	return []falsehood{
		{what: "another vault", tell: onSolana(func(f *forged, s *solanaForm) bool {
			i, _ := transfer(s)
			to := &s.builds[i].Accounts[1]
			if s.builds[i].Program == solmsg.TokenProgram() {
				to = &s.builds[i].Accounts[2]
			}
			s.replace(to.Key, f.key())
			return true
		})},
		{what: "the vault's owner instead of its token account", tell: onSolana(func(f *forged, s *solanaForm) bool {
			i, _ := transfer(s)
			vault, err := solmsg.ParseKey(f.s.policy.Network.Pins.SolanaVault)
			if err != nil || s.builds[i].Program != solmsg.TokenProgram() {
				return false
			}
			s.builds[i].Accounts[2].Key = vault
			return true
		})},
		{what: "the account of somebody else in every place", tell: func(f *forged) bool {
			o := f.aPayment(true)
			if o == nil {
				return false
			}
			own, other := f.user(), f.key()
			for _, a := range f.accounts() {
				if !a.IsEVM() {
					a.AccountAddress = other.String()
				}
			}
			return f.solana(o, func(s *solanaForm) { s.replace(own, other) })
		}},
		{what: "another source", tell: onSolana(func(f *forged, s *solanaForm) bool {
			i, _ := transfer(s)
			if s.builds[i].Program != solmsg.TokenProgram() {
				return false
			}
			s.builds[i].Accounts[0].Key = f.key()
			return true
		})},
		{what: "much more than asked for", tell: func(f *forged) bool {
			o := f.aPayment(true)
			return o != nil && f.more(o, f.much())
		}},
		{what: "much more, told as a fee", tell: func(f *forged) bool {
			o := f.aPayment(true)
			if o == nil {
				return false
			}
			v := f.much()
			return f.more(o, v) && f.fee(o, v)
		}},
		{what: "one unit more, which exact input does not allow", tell: func(f *forged) bool {
			o := f.aPayment(true)
			return o != nil && !f.s.call && f.more(o, big.NewInt(1))
		}},
		{what: "another amount in message and list alone", tell: onSolana(func(f *forged, s *solanaForm) bool {
			i, k := transfer(s)
			s.builds[i].Data = slices.Clone(s.builds[i].Data)
			binary.LittleEndian.PutUint64(s.builds[i].Data[k:], f.r.Uint64())
			return true
		})},
		{what: "another mint", tell: func(f *forged) bool {
			o := f.aPayment(true)
			if o == nil {
				return false
			}
			mint, ok := f.asset(o.AssetType).Mint()
			other := f.key()
			if !ok || !f.solana(o, func(s *solanaForm) { s.replace(mint, other) }) {
				return false
			}
			f.renameAsset(o, caip.SPL(other).String())
			return true
		}},
		{what: "other decimals", tell: onSolana(func(f *forged, s *solanaForm) bool {
			i, _ := transfer(s)
			if s.builds[i].Program != solmsg.TokenProgram() {
				return false
			}
			s.builds[i].Data = slices.Clone(s.builds[i].Data)
			s.builds[i].Data[9] ^= byte(1 + f.r.Intn(255))
			return true
		})},
		{what: "the memo of another quote", tell: onSolana(func(f *forged,
			s *solanaForm) bool {
			s.memo("0x" + f.key().String())
			return true
		})},
		{what: "no memo", tell: onSolana(func(f *forged, s *solanaForm) bool {
			s.builds = slices.DeleteFunc(s.builds,
				func(b solmsg.Build) bool { return b.Program == solmsg.MemoProgram() })
			return true
		})},
		{what: "another block hash in both places",
			tell:  onSolana(func(f *forged, s *solanaForm) bool { s.blockhash = f.key(); return true }),
			class: verify.Opaque,
			why: "a block hash only says until when the message is valid; the chain knows no other than recent ones " +
				"(S4)"},
		{what: "another block hash in the description", tell: func(f *forged) bool {
			o := f.aPayment(true)
			if o == nil {
				return false
			}
			o.RecentBlockHash = f.key().String()
			return true
		}},
		{what: "another fee payer", tell: onSolana(func(f *forged,
			s *solanaForm) bool {
			s.payer = f.key()
			return true
		})},
		{what: "the user pays Solana's fee", tell: onSolana(func(f *forged, s *solanaForm) bool {
			s.replace(s.payer, f.user())
			return !slices.ContainsFunc(s.builds, func(b solmsg.Build) bool { return b.Program == solmsg.ATAProgram() })
		}), class: verify.Bounded, why: "the fee is computed from the message, shown as spent, and capped (S3)"},
	}
}

func liesAboutInstructions() []falsehood {
	more := func(make func(f *forged, s *solanaForm) (solmsg.Build, bool)) func(f *forged) bool {
		return onSolana(func(f *forged, s *solanaForm) bool {
			b, ok := make(f, s)
			at := f.r.Intn(len(s.builds) + 1)
			s.builds = slices.Insert(slices.Clone(s.builds), at, b)
			return ok
		})
	}
	// source is the account that the payment takes from: a token account, or the user
	source := func(f *forged, s *solanaForm) solmsg.Key { i, _ := transfer(s); return s.builds[i].Accounts[0].Key }
	owned := func(f *forged, s *solanaForm, program solmsg.Key, data ...byte) solmsg.Build {
		return solmsg.Build{Program: program, Data: data, Accounts: []solmsg.Meta{
			{Key: source(f, s), Writable: true}, {Key: f.key(), Writable: true}, {Key: f.user(), Signer: true},
		}}
	}
	return []falsehood{
		{what: "a second transfer, to somebody", tell: more(func(f *forged, s *solanaForm) (solmsg.Build, bool) {
			return solmsg.SystemTransfer(f.user(), f.key(), 1+uint64(f.r.Int63())), true
		})},
		{what: "the transfer twice", tell: more(func(f *forged, s *solanaForm) (solmsg.Build,
			bool) {
			i, _ := transfer(s)
			return s.builds[i], true
		})},
		{what: "an approval for somebody", tell: more(func(f *forged, s *solanaForm) (solmsg.Build, bool) {
			return owned(f, s, solmsg.TokenProgram(), 4, 1, 0, 0, 0, 0, 0, 0, 0), true
		})},
		{what: "another owner of the token account", tell: more(func(f *forged, s *solanaForm) (solmsg.Build, bool) {
			k := f.key()
			return owned(f, s, solmsg.TokenProgram(), append([]byte{6, 2, 1}, k[:]...)...), true
		})},
		{what: "the token account is closed to somebody",
			tell: more(func(f *forged, s *solanaForm) (solmsg.Build, bool) {
				return owned(f, s, solmsg.TokenProgram(), 9), true
			})},
		{what: "any other instruction of the token programs",
			tell: more(func(f *forged, s *solanaForm) (solmsg.Build, bool) {
				program := []solmsg.Key{solmsg.TokenProgram(), solmsg.Token2022Program()}[f.r.Intn(2)]
				return owned(f, s, program, byte(f.r.Intn(256)), 1, 0, 0, 0, 0, 0, 0, 0, 6), true
			})},
		{what: "another owner of the user's account", tell: more(func(f *forged, s *solanaForm) (solmsg.Build, bool) {
			k := f.key()
			return solmsg.Build{Program: solmsg.SystemProgram(), Data: append([]byte{1, 0, 0, 0}, k[:]...),
				Accounts: []solmsg.Meta{{Key: f.user(), Signer: true, Writable: true}}}, true
		})},
		{what: "a durable nonce in front", tell: onSolana(func(f *forged, s *solanaForm) bool {
			b := solmsg.Build{Program: solmsg.SystemProgram(), Data: []byte{4, 0, 0, 0},
				Accounts: []solmsg.Meta{{Key: f.key(), Writable: true}, {Key: f.key()}, {Key: f.user(), Signer: true}}}
			s.builds = append([]solmsg.Build{b}, s.builds...)
			return true
		})},
		{what: "any other instruction of the system program",
			tell: more(func(f *forged, s *solanaForm) (solmsg.Build, bool) {
				tag := byte(f.r.Intn(13))
				b := owned(f, s, solmsg.SystemProgram(), tag, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0)
				return b, true
			})},
		{what: "a program that nobody knows", tell: more(func(f *forged, s *solanaForm) (solmsg.Build,
			bool) {
			return owned(f, s, f.key(), 1, 2, 3), true
		})},
		{what: "a program that nobody knows, without the user",
			tell: more(func(f *forged, s *solanaForm) (solmsg.Build, bool) {
				return solmsg.Build{Program: f.key(), Data: []byte{1}}, true
			})},
		{what: "a token account of somebody at the user's cost",
			tell: more(func(f *forged, s *solanaForm) (solmsg.Build, bool) {
				return solmsg.CreateATAIdempotent(f.user(), f.key(), f.key()), true
			})},
		{what: "one signer more", tell: onSolana(func(f *forged, s *solanaForm) bool {
			i, _ := transfer(s)
			s.builds[i].Accounts = append(slices.Clone(s.builds[i].Accounts), solmsg.Meta{Key: f.key(), Signer: true})
			return true
		})},
		{what: "one account more", tell: onSolana(func(f *forged, s *solanaForm) bool {
			i, _ := transfer(s)
			s.builds[i].Accounts = append(slices.Clone(s.builds[i].Accounts), solmsg.Meta{Key: f.key(), Writable: true})
			return true
		})},
		{what: "a second memo", tell: more(func(f *forged, s *solanaForm) (solmsg.Build,
			bool) {
			return solmsg.Memo("pay me"), true
		})},
		{what: "a limit of compute units", tell: more(func(f *forged, s *solanaForm) (solmsg.Build, bool) {
			return solmsg.Build{Program: solmsg.ComputeBudgetProgram(),
				Data: binary.LittleEndian.AppendUint32([]byte{2}, 1+uint32(f.r.Intn(1_000_000)))}, true
		}), class: verify.Bounded, why: "the sponsor pays; where the user does, the fee is capped (S3)"},
		{what: "an enormous price, paid by the user", tell: onSolana(func(f *forged, s *solanaForm) bool {
			s.replace(s.payer, f.user())
			s.builds = append(s.builds, solmsg.Build{Program: solmsg.ComputeBudgetProgram(),
				Data: binary.LittleEndian.AppendUint64([]byte{3}, 1<<50)})
			return true
		})},
		{what: "a list that leaves an instruction out", tell: described(func(f *forged, o *api.ChainOperation) {
			i := f.r.Intn(len(o.Instructions))
			o.Instructions = slices.Delete(slices.Clone(o.Instructions), i, i+1)
		})},
		{what: "a list with another recipient than the message",
			tell: described(func(f *forged, o *api.ChainOperation) {
				keys := o.Instructions[0].Keys
				keys[f.r.Intn(len(keys))].Pubkey = f.key().String()
			})},
		{what: "a list in another order than the message",
			tell: described(func(f *forged, o *api.ChainOperation) { slices.Reverse(o.Instructions) })},
		{what: "a list with another flag than the message", tell: described(func(f *forged, o *api.ChainOperation) {
			k := &o.Instructions[0].Keys[f.r.Intn(len(o.Instructions[0].Keys))]
			k.IsSigner = !k.IsSigner
		})},
	}
}

// described changes the list of instructions and leaves the message alone.
func described(change func(f *forged, o *api.ChainOperation)) func(f *forged) bool {
	return func(f *forged) bool {
		o := f.aPayment(true)
		if o == nil || len(o.Instructions) < 2 || len(o.Instructions[0].Keys) == 0 {
			return false
		}
		change(f, o)
		return true
	}
}
