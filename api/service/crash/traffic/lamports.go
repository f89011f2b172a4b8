package traffic

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op/solmsg"
	"coffer/api/service/foreign"
)

// Payer sends lamports on Solana, one transaction after another.
type Payer struct {
	outside
	wire    string // of the transaction under way, "" for none
	name    string // its signature
	claimed bool
}

// PayerKind is the kind of person that a Payer is.
const PayerKind = api.AccountKernelV31 + foreign.WithSolana

const (
	feeOfSignature = 5_000
	leastLamports  = 890_880 // an account without data has them or nothing
	fewLamports    = 10_000_000
)

// NewPayer makes one of a person with lamports; the error is ErrPoor when there are too few.
func NewPayer(p *Person, have []Holding) (*Payer, error) {
	for _, h := range have {
		if h.Asset == caip.SOL() && h.Amount.Cmp(big.NewInt(fewLamports)) > 0 {
			return &Payer{outside: outside{Person: p}}, nil
		}
	}
	return nil, ErrPoor
}

// Idle implements Outsider.
func (p *Payer) Idle() bool { return p.wire == "" && p.turn >= 2 }

// lamports are what the transaction under way pays.
func (p *Payer) lamports() uint64 {
	if p.turn == 0 {
		return leastLamports
	}
	return uint64(1000 + p.turn)
}

func (p *Payer) sinkKey() solmsg.Key {
	return solmsg.Key(crypto.Keccak256([]byte("coffer traffic sink"), p.Wallet[:]))
}

func (p *Payer) prepare(ctx context.Context, e Endpoint) error {
	var recent struct{ Value struct{ Blockhash string } }
	if err := e.Call(ctx, &recent, "getLatestBlockhash"); err != nil {
		return err
	}
	hash, err := solmsg.ParseKey(recent.Value.Blockhash)
	if err != nil {
		return err
	}
	m, err := solmsg.Compose(p.Wallet, hash, solmsg.SystemTransfer(p.Wallet, p.sinkKey(), p.lamports()))
	if err != nil {
		return err
	}
	sig := [64]byte(ed25519.Sign(p.Solana, m.Bytes()))
	p.wire = base64.StdEncoding.EncodeToString(append(append([]byte{1}, sig[:]...), m.Bytes()...))
	p.name, p.claimed = solmsg.FormatSignature(sig), false
	return nil
}

// asked is how a transaction is read.
var asked = map[string]any{"encoding": "base64", "maxSupportedTransactionVersion": 0}

// Step implements Outsider.
func (p *Payer) Step(ctx context.Context, nodes Nodes, _ *Person) ([]Move, error) {
	e, again := nodes[0], p.wire != ""
	if !again {
		if err := p.prepare(ctx, e); err != nil {
			return nil, err
		}
	}
	var answer json.RawMessage
	if again {
		if err := e.Call(ctx, &answer, "getTransaction", p.name, asked); err != nil {
			return nil, err
		}
	}
	if null(answer) {
		if p.claimed {
			return nil, broken("transaction %s was answered and is lost", p.name)
		}
		var got string
		err := e.Call(ctx, &got, "sendTransaction", p.wire, map[string]any{"encoding": "base64"})
		var no *Refusal
		if again && errors.As(err, &no) && strings.Contains(no.Message, "Blockhash not found") {
			p.wire = "" // too old to run ever
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		p.claimed = true
		if err := e.Call(ctx, &answer, "getTransaction", p.name, asked); err != nil {
			return nil, err
		}
		if got != p.name || null(answer) {
			return nil, broken("transaction %s was answered with %s and is %s", p.name, got, answer)
		}
	}
	var r struct {
		Meta struct {
			Err any
			Fee uint64
		}
	}
	if err := json.Unmarshal(answer, &r); err != nil {
		return nil, err
	}
	if r.Meta.Err != nil || r.Meta.Fee != feeOfSignature {
		return nil, broken("transaction %s: %s", p.name, answer)
	}
	v := new(big.Int).SetUint64(p.lamports())
	p.note("lamports", p.name, answer)
	p.wire = ""
	p.turn++
	me := p.Wallet.String()
	return append(moved(me, p.sinkKey().String(), caip.SOL(), v),
		Move{me, caip.SOL(), big.NewInt(-feeOfSignature)}), nil
}

// Recall implements Outsider.
func (p *Payer) Recall(ctx context.Context, nodes Nodes, from int) (int, error) {
	return p.recall(ctx, nodes[0], from, "getTransaction", asked)
}
