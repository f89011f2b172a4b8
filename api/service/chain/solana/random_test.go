package solana_test

import (
	"crypto/ed25519"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/store"
)

// model is the ledger as a person would write it down: lamports of wallets, and tokens
// of owners that have an account. It knows neither messages nor layouts.
type model struct {
	lamports map[int]uint64
	tokens   map[int]uint64
	has      map[int]bool // a token account
}

func (m model) clone() model {
	out := model{map[int]uint64{}, map[int]uint64{}, map[int]bool{}}
	for k, v := range m.lamports {
		out.lamports[k] = v
	}
	for k, v := range m.tokens {
		out.tokens[k] = v
	}
	for k, v := range m.has {
		out.has[k] = v
	}
	return out
}

// step is one instruction: what the model does, and what the ledger is sent.
type step struct {
	signer int
	apply  func(m *model) bool
	build  solmsg.Build
}

// wallet is a key with what would cost time to compute again for each step.
type wallet struct {
	secret      ed25519.PrivateKey
	key, tokens solmsg.Key
}

// purse is all wallets of a run, the treasury first.
type purse struct {
	mint solmsg.Key
	all  []wallet
}

func newPurse(t tb) purse {
	_, _, mint := spec(t)
	p := purse{mint: mint}
	for i := range wallets {
		k := secret(i)
		p.all = append(p.all, wallet{k, keyOf(k), ata(t, keyOf(k), mint)})
	}
	return p
}

// The four kinds of steps between wallets.
func (p purse) lamportStep(from, to int, n uint64) step {
	return step{from, func(m *model) bool {
		if m.lamports[from] < n {
			return false
		}
		m.lamports[from] -= n
		m.lamports[to] += n
		return true
	}, solmsg.SystemTransfer(p.all[from].key, p.all[to].key, n)}
}

func (p purse) tokenStep(from, to int, n uint64) step {
	return step{from, func(m *model) bool {
		if !m.has[from] || !m.has[to] || m.tokens[from] < n {
			return false
		}
		m.tokens[from] -= n
		m.tokens[to] += n
		return true
	}, solmsg.TokenTransferChecked(p.all[from].tokens, p.mint, p.all[to].tokens, p.all[from].key, n, decimals)}
}

func (p purse) createStep(payer, owner int) step {
	return step{payer, func(m *model) bool {
		if m.has[owner] {
			return true
		}
		if m.lamports[payer] < tokenRent {
			return false
		}
		m.lamports[payer] -= tokenRent
		m.has[owner] = true
		return true
	}, solmsg.CreateATAIdempotent(p.all[payer].key, p.all[owner].key, p.mint)}
}

func (p purse) closeStep(owner, to int) step {
	return step{owner, func(m *model) bool {
		if !m.has[owner] || m.tokens[owner] != 0 {
			return false
		}
		m.has[owner] = false
		m.lamports[to] += tokenRent
		return true
	}, closing(p.all[owner].tokens, p.all[to].key, p.all[owner].key)}
}

const wallets = 5 // 0 is the treasury

func (p purse) draw(t *rapid.T) step {
	from, to := rapid.IntRange(0, wallets-1).Draw(t, "from"), rapid.IntRange(0, wallets-1).Draw(t, "to")
	switch rapid.IntRange(0, 6).Draw(t, "kind") {
	case 0, 1:
		n := rapid.OneOf(rapid.Uint64Range(0, 2*rent), rapid.Uint64Range(0, 20e9), rapid.Just(uint64(1<<64-1))).Draw(t,
			"lamports")
		return p.lamportStep(from, to, n)
	case 2, 3, 4:
		n := rapid.OneOf(rapid.Uint64Range(0, 10), rapid.Uint64Range(0, 2_000e6), rapid.Just(uint64(1<<64-1))).Draw(t,
			"tokens")
		return p.tokenStep(from, to, n)
	case 5:
		return p.createStep(from, to)
	}
	return p.closeStep(from, to)
}

// run applies a transaction to the model and tells whether it is included and succeeds.
func (m *model) run(payer int, fee uint64, steps []step) (included, success bool) {
	left := m.lamports[payer] - fee
	if m.lamports[payer] < fee || left > 0 && left < rent {
		return false, false
	}
	m.lamports[payer] = left
	after := m.clone()
	success = true
	for _, s := range steps {
		success = success && s.apply(&after)
	}
	for _, v := range after.lamports {
		success = success && (v == 0 || v >= rent)
	}
	if success {
		*m = after
	}
	return true, success
}

func TestTheLedgerDoesWhatASimpleModelDoesAndSumsStayConstant(t *testing.T) {
	transactions, succeeded := 0, 0
	p := newPurse(t)
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, store.NewMemory())
		m := model{map[int]uint64{}, map[int]uint64{}, map[int]bool{0: true, 1: true}}
		for i := range wallets {
			m.lamports[i], m.tokens[i] = w.lamports(t, p.all[i].key), w.tokens(t, p.all[i].key)
		}
		for range rapid.IntRange(10, 50).Draw(t, "transactions") {
			payer := rapid.IntRange(0, wallets-1).Draw(t, "payer")
			signers := map[int]bool{payer: true}
			var steps []step
			var builds []solmsg.Build
			for range rapid.IntRange(1, 4).Draw(t, "steps") {
				s := p.draw(t)
				signers[s.signer] = true
				steps, builds = append(steps, s), append(builds, s.build)
			}
			var keys []ed25519.PrivateKey
			for k := range signers {
				keys = append(keys, p.all[k].secret)
			}
			included, success := m.run(payer, uint64(len(signers))*solana.FeePerSignature, steps)
			out, err := w.seal(w.tx(t, p.all[payer].secret, keys, builds...))
			if included != (err == nil) || err != nil && !errors.Is(err, solana.ErrPayer) {
				t.Fatalf("the model says included %t, the ledger %v", included, err)
			}
			if included && out[0].Success != success {
				t.Fatalf("the model says success %t, the ledger %t: %s", success, out[0].Success, out[0].Error)
			}
			transactions++
			if success {
				succeeded++
			}
			for i := range wallets {
				k := p.all[i].key
				tokens, exists, err := w.Tokens(k, w.mint)
				if err != nil || w.lamports(t, k) != m.lamports[i] || tokens != m.tokens[i] || exists != m.has[i] {
					t.Fatalf("wallet %d: %d lamports, %d tokens, %t; the model says %d, %d, %t", i, w.lamports(t, k),
						tokens, exists, m.lamports[i], m.tokens[i], m.has[i])
				}
			}
			w.checkSums(t)
		}
	})
	if !testing.Short() && transactions < 1_000 || succeeded < transactions/20 || succeeded == transactions {
		t.Errorf("%d of %d transactions succeeded: the test looks at one side only", succeeded, transactions)
	}
}
