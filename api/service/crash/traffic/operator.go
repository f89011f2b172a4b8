package traffic

import (
	"context"
	"encoding/json"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/service/bundler"
	"coffer/api/service/quote/smartaccount"
)

// Operator is a smart account that another library drives: it sends user operations to the bundler of one chain.
type Operator struct {
	outside
	account  smartaccount.Account
	sequence uint64
	left     *big.Int // what account and deposit have together
	open     *op.UserOp
	claimed  bool
}

// OperatorKind is the kind of person that an Operator is.
const OperatorKind = api.AccountKernelV31

// laneOfOperator is one that the service does not use.
const laneOfOperator = 7

// NewOperator makes one of a person with some of a coin, on the chain where that is most. The error is ErrPoor when
// there is none.
func NewOperator(p *Person, have []Holding) (*Operator, error) {
	all := coins(have)
	if len(all) == 0 {
		return nil, ErrPoor
	}
	account, err := smartaccount.Open(p.pins, p.Account)
	chain, _ := all[0].Asset.Chain.EVMID()
	return &Operator{outside: outside{Person: p, chain: chain}, account: account,
		left: new(big.Int).Set(all[0].Amount)}, err
}

// Coin is what its operations are paid in: what it has of it is the business of Recall.
func (o *Operator) Coin() caip.Asset { return caip.Native(o.chain) }

// Idle implements Outsider.
func (o *Operator) Idle() bool { return o.open == nil && o.turn >= 2 }

// value is what operation n pays to the sink.
func (o *Operator) value() *big.Int { return big.NewInt(int64(1000 + o.turn)) }

// prepare makes the next operation with the gas that the endpoint estimates, and signs it.
func (o *Operator) prepare(ctx context.Context, e Endpoint) error {
	data, err := op.EncodeExecute([]op.Call{{To: o.sink(), Value: o.value()}})
	if err != nil {
		return err
	}
	nonce := new(big.Int).Lsh(o.account.Key192(laneOfOperator), 64)
	u := op.UserOp{Sender: o.Address, Nonce: nonce.Add(nonce, new(big.Int).SetUint64(o.sequence)), CallData: data,
		CallGasLimit: new(big.Int), VerificationGasLimit: new(big.Int), PreVerificationGas: new(big.Int),
		MaxFeePerGas: big.NewInt(3e9), MaxPriorityFeePerGas: big.NewInt(1e9), Signature: o.account.StubSignature()}
	if factory, data, _ := o.account.Deployment(); o.sequence == 0 {
		u.Factory, u.FactoryData = &factory, data
	}
	var gas struct {
		PreVerificationGas, VerificationGasLimit, CallGasLimit hexutil.Big
	}
	if err := e.Call(ctx, &gas, "eth_estimateUserOperationGas", bundler.Shown(u), o.pins.EntryPoint); err != nil {
		return err
	}
	u.PreVerificationGas, u.VerificationGasLimit, u.CallGasLimit = gas.PreVerificationGas.ToInt(),
		gas.VerificationGasLimit.ToInt(), gas.CallGasLimit.ToInt()
	hash, err := o.hash(u)
	if err != nil {
		return err
	}
	if u.Signature, err = op.Sign(op.EIP191(hash), o.Key); err != nil {
		return err
	}
	o.open, o.claimed = &u, false
	return nil
}

func (o *Operator) hash(u op.UserOp) (common.Hash, error) {
	return u.Hash(o.pins.EntryPoint, new(big.Int).SetUint64(o.chain))
}

// enoughForOne is what an operation takes at most, in wei.
const enoughForOne = 5e15

// Step implements Outsider.
func (o *Operator) Step(ctx context.Context, nodes Nodes, _ *Person) ([]Move, error) {
	e, again := nodes[o.chain], o.open != nil
	if !again {
		if o.left.Cmp(big.NewInt(enoughForOne)) < 0 { // it has sent what it could
			return nil, nil
		}
		if err := o.prepare(ctx, e); err != nil {
			return nil, err
		}
	}
	hash, err := o.hash(*o.open)
	if err != nil {
		return nil, err
	}
	var answer json.RawMessage
	if again {
		if err := e.Call(ctx, &answer, "eth_getUserOperationReceipt", hash); err != nil {
			return nil, err
		}
	}
	if null(answer) {
		if o.claimed {
			return nil, broken("operation %s was answered and is lost", hash)
		}
		var got common.Hash
		if err := e.Call(ctx, &got, "eth_sendUserOperation", bundler.Shown(*o.open), o.pins.EntryPoint); err != nil {
			return nil, err
		}
		o.claimed = true
		if err := e.Call(ctx, &answer, "eth_getUserOperationReceipt", hash); err != nil {
			return nil, err
		}
		if got != hash || null(answer) {
			return nil, broken("operation %s was answered with %s and has the receipt %s", hash, got, answer)
		}
	}
	var r struct {
		Success       bool
		ActualGasCost hexutil.Big
	}
	if err := json.Unmarshal(answer, &r); err != nil {
		return nil, err
	}
	if !r.Success {
		return nil, broken("operation %s failed: %s", hash, answer)
	}
	v := o.value()
	o.left.Sub(o.left, v).Sub(o.left, r.ActualGasCost.ToInt())
	o.note("operations", hash.Hex(), answer)
	o.open = nil
	o.sequence++
	o.turn++
	return []Move{{strings.ToLower(o.sink().Hex()), o.Coin(), v}}, nil
}

// Recall implements Outsider: receipts are the same byte for byte, and account and deposit have what is left.
func (o *Operator) Recall(ctx context.Context, nodes Nodes, from int) (int, error) {
	e := nodes[o.chain]
	n, err := o.recall(ctx, e, from, "eth_getUserOperationReceipt")
	if err != nil || o.open != nil {
		return n, err
	}
	var coin hexutil.Big
	if err := e.Call(ctx, &coin, "eth_getBalance", o.Address, "latest"); err != nil {
		return 0, err
	}
	var word hexutil.Bytes
	data := append(hexutil.MustDecode("0x70a08231"), common.LeftPadBytes(o.Address[:], 32)...)
	if err := e.Call(ctx, &word, "eth_call", map[string]any{"to": o.pins.EntryPoint, "data": hexutil.Bytes(data)},
		"latest"); err != nil {
		return 0, err
	}
	got := new(big.Int).SetBytes(word)
	if got.Add(got, coin.ToInt()).Cmp(o.left) != 0 {
		return 0, broken("account and deposit of %s have %s, its operations leave %s", o.Address, got, o.left)
	}
	return n, nil
}
