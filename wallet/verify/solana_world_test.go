package verify_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op/solmsg"
)

// payment is the Solana operation of a run, taken apart so that a test can change it and put it together again the way
// a service would: the message, the listed instructions and the other members always agree with one another.
type payment struct {
	a                    *answers
	op                   *api.ChainOperation
	user, sponsor, vault solmsg.Key
	mint                 solmsg.Key
	hash                 solmsg.Key
	payer                solmsg.Key
	amount               uint64
	builds               []solmsg.Build
}

// onSolana takes the last operation of the run apart.
func (a *answers) onSolana() *payment {
	a.t.Helper()
	o := &a.quote.OriginChainsOperations[len(a.quote.OriginChainsOperations)-1]
	m, err := solmsg.ParseBase64(o.DataToSign)
	need(a.t, err)
	p := &payment{a: a, op: o, hash: m.Blockhash, payer: m.FeePayer(),
		vault: keyOf(a.t, a.policy.Network.Pins.SolanaVault), sponsor: keyOf(a.t, a.policy.Network.Pins.SolanaSponsor)}
	account, _ := a.intent().SolanaAccount()
	p.user = keyOf(a.t, account.AccountAddress)
	p.amount, err = strconv.ParseUint(o.Amount, 10, 64)
	need(a.t, err)
	asset, err := caip.ParseAsset(o.AssetType)
	need(a.t, err)
	if mint, token := asset.Mint(); token {
		p.mint = mint
	}
	p.builds = append(p.pay(), solmsg.Memo(a.quote.ID))
	return p
}

// pay is the payment as it should be.
func (p *payment) pay() []solmsg.Build {
	if p.mint == (solmsg.Key{}) {
		return []solmsg.Build{solmsg.SystemTransfer(p.user, p.vault, p.amount)}
	}
	return []solmsg.Build{solmsg.TokenTransferChecked(p.tokens(p.user), p.mint, p.tokens(p.vault), p.user, p.amount, 6)}
}

// tokens is the token account of an owner.
func (p *payment) tokens(owner solmsg.Key) solmsg.Key {
	k, err := solmsg.AssociatedTokenAccount(owner, p.mint, solmsg.TokenProgram())
	need(p.a.t, err)
	return k
}

// put writes the message and everything that is said about it.
func (p *payment) put() {
	p.a.t.Helper()
	m, err := solmsg.Compose(p.payer, p.hash, p.builds...)
	need(p.a.t, err)
	p.say(m)
}

func (p *payment) say(m solmsg.Message) {
	p.op.DataToSign, p.op.Instructions, p.op.FeePayer, p.op.RecentBlockHash = m.Base64(), m.Wire(),
		m.FeePayer().String(), m.Blockhash.String()
}

// raw writes bytes that Compose would not make, and lists what they contain.
func (p *payment) raw(b []byte) {
	p.a.t.Helper()
	m, err := solmsg.Parse(b)
	need(p.a.t, err)
	p.say(m)
}

func (p *payment) bytes() []byte {
	b, err := base64.StdEncoding.DecodeString(p.op.DataToSign)
	need(p.a.t, err)
	return b
}

// belongsTo makes the run that of another account, message and all.
func (p *payment) belongsTo(user solmsg.Key) {
	p.user = user
	for _, list := range [][]api.Account{p.a.draft.Accounts, p.a.quote.Accounts} {
		for i := range list {
			if list[i].Type == api.AccountSolana {
				list[i].AccountAddress = user.String()
			}
		}
	}
	p.builds = append(p.pay(), solmsg.Memo(p.a.quote.ID))
	p.put()
}

func keyOf(t testing.TB, s string) solmsg.Key {
	t.Helper()
	k, err := solmsg.ParseKey(s)
	need(t, err)
	return k
}

// solanaKey derives a worthless test key from a label.
func solanaKey(label string) (ed25519.PrivateKey, solmsg.Key) {
	k := ed25519.NewKeyFromSeed(crypto.Keccak256([]byte(label)))
	return k, solmsg.Key(k.Public().(ed25519.PublicKey))
}

// somebody is a key that nobody here knows.
func somebody() solmsg.Key {
	_, k := solanaKey("somebody")
	return k
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	need(t, err)
	return b
}

// The runs that the rows of Solana are tried on: one pays coins, one pays tokens, one pays tokens for a call.
const (
	paysCoins   = "v3-swap-from-solana"
	paysTokens  = "v3-swap-from-solana-to-self"
	paysForCall = "v3-kernel-solana-funded"
	paysMixed   = "v3-kernel-mixed"
)

// eachPaymentRefused changes the Solana operation of each of the runs and demands a refusal by the row of this code.
func eachPaymentRefused(t *testing.T, code string, runs []string, changes map[string]func(p *payment)) {
	t.Helper()
	for what, change := range changes {
		t.Run(what, func(t *testing.T) {
			for _, name := range runs {
				a := answer(t, name)
				change(a.onSolana())
				a.refuses(code)
			}
		})
	}
}
