// Package bundler answers the ERC-4337 methods of a chain, so that the account libraries of others work on it: it
// estimates the gas of user operations, submits them to the EntryPoint and finds them again.
//
// An operation is submitted at once, alone in a transaction of the service's operator, and only if the EntryPoint takes
// it: there is no pool in which operations wait, so the rules that protect one (ERC-7562: opcodes, storage, stakes) do
// not apply. The operator gets the fees; an operation whose fees do not cover its gas is refused.
//
// Units: gas in gas units, fees in wei. Errors are *jsonrpc.Error with the codes of ERC-7769. Only EntryPoint v0.7.
package bundler

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/consensus/misc/eip1559"

	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/api/service/chain/evm"
	"coffer/api/service/jsonrpc"
	"coffer/api/service/outbox"
	"coffer/api/service/quote/entrypoint"
	"coffer/api/service/signers"
)

// Codes of ERC-7769.
const (
	codeRejected     = -32500 // by the EntryPoint, in creation or validation
	codePaymaster    = -32501 // by the paymaster
	codeTime         = -32503 // outside of its window
	codeSignature    = -32507
	codePaymasterLow = -32508 // the paymaster's deposit is too small
	codeReverted     = -32521 // its calls would fail
)

// Options are what the methods of one chain stand on.
type Options struct {
	Node       *evm.Node   // reads what is sealed
	Chain      chain.Chain // tries operations out
	Send       outbox.EVM  // submits them
	Operator   signers.EVM
	EntryPoint common.Address
	Codec      *entrypoint.Codec
	Clock      func() time.Time
}

type bundler struct{ Options }

var errNotDeployed = jsonrpc.Errorf(codeRejected, "AA20 account not deployed")

// Methods are the eth_…UserOperation… methods of a chain, eth_supportedEntryPoints, and the two of pimlico_ that
// account libraries ask for.
func Methods(o Options) jsonrpc.Methods {
	b := bundler{o}
	return jsonrpc.Methods{
		"eth_supportedEntryPoints": func(_ context.Context, p jsonrpc.Params) (any, error) {
			return []string{o.EntryPoint.Hex()}, p.AtMost(0)
		},
		"eth_estimateUserOperationGas":     b.estimate,
		"eth_sendUserOperation":            b.send,
		"eth_getUserOperationByHash":       b.byHash,
		"eth_getUserOperationReceipt":      b.receipt,
		"pimlico_getUserOperationGasPrice": b.gasPrice,
		"pimlico_getUserOperationStatus":   b.status,
	}
}

// subject reads an operation and its EntryPoint, the parameters of most methods.
func (b bundler) subject(p jsonrpc.Params, most int) (o Operation, err error) {
	var point common.Address
	if err := p.AtMost(most); err != nil {
		return o, err
	}
	if err := p.Read(0, &o); err != nil {
		return o, err
	}
	if err := p.Read(1, &point); err != nil {
		return o, err
	}
	if point != b.EntryPoint {
		return o, jsonrpc.Errorf(jsonrpc.CodeInvalidParams,
			"EntryPoint %s not supported, supported EntryPoints: %s", point, b.EntryPoint)
	}
	return o, nil
}

// state opens the head for simulations.
func (b bundler) state(ctx context.Context) (chain.State, error) {
	return b.Chain.State(ctx, uint64(b.Clock().Unix()))
}

// send submits an operation and answers with its hash once it is sealed.
func (b bundler) send(ctx context.Context, p jsonrpc.Params) (any, error) {
	in, err := b.subject(p, 2)
	if err != nil {
		return nil, err
	}
	o, err := in.userOp()
	if err != nil {
		return nil, err
	}
	auths, err := in.authorizations(b.Chain.ID())
	if err != nil {
		return nil, err
	}
	hash, err := o.Hash(b.EntryPoint, new(big.Int).SetUint64(b.Chain.ID()))
	if err != nil {
		return nil, invalidOp(err)
	}
	if o.Factory == nil && auths == nil {
		if err := b.deployed(ctx, o.Sender); err != nil {
			return nil, err
		}
	}
	data, err := op.HandleOpsCall(b.Operator.Address(), o)
	if err != nil {
		return nil, invalidOp(err)
	}
	var refused error
	_, err = outbox.Do(context.WithoutCancel(ctx), b.Send, outbox.EVMStep{ // also for a caller that hangs up
		ID: "bundler/" + hash.Hex(), Time: uint64(b.Clock().Unix()),
		Txs: []chain.Tx{{From: b.Operator, To: b.EntryPoint, Data: data, Authorizations: auths}},
		Check: func(rs []chain.Receipt) error {
			refused = b.judge(rs, hash)
			return refused
		},
	})
	switch {
	case refused != nil:
		return nil, refused
	case err != nil:
		return nil, b.cannotBeSealed(err)
	}
	return hash, nil
}

// deployed says what the EntryPoint does not: why an address without code takes no operation.
func (b bundler) deployed(ctx context.Context, sender common.Address) error {
	st, err := b.state(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	if len(st.Code(sender)) == 0 && st.Err() == nil {
		return errNotDeployed
	}
	return st.Err()
}

// cannotBeSealed explains a transaction that the protocol refuses, as for its gas. Other faults stay as they are.
func (b bundler) cannotBeSealed(err error) error {
	var tx *chain.TxError
	if errors.As(err, &tx) {
		return jsonrpc.Errorf(codeRejected, "the operation cannot be included in a block: %w", tx.Err)
	}
	return err
}

// judge accepts the transaction of an operation that the EntryPoint took and that pays for itself.
func (b bundler) judge(rs []chain.Receipt, hash common.Hash) error {
	if len(rs) != 1 {
		return errors.New("the operation's transaction has no receipt")
	}
	r := rs[0]
	if !r.Success {
		return refusal(b.Codec.Explain(r.Revert))
	}
	paid, ok := paidFor(r.Logs, b.EntryPoint, hash)
	if !ok {
		return jsonrpc.Errorf(codeRejected, "the EntryPoint did not report the operation")
	}
	price := eip1559.CalcBaseFee(b.Node.Config(), b.Node.Head()) // of the block that is being made
	cost := new(big.Int).Mul(price, new(big.Int).SetUint64(r.GasUsed))
	if paid.Cmp(cost) < 0 {
		return jsonrpc.Errorf(jsonrpc.CodeInvalidParams,
			"preVerificationGas too low: the operation pays %s wei and its transaction costs %s", paid, cost)
	}
	return nil
}

// refusal gives the reason of the EntryPoint the code that clients know.
func refusal(f entrypoint.Failure) error {
	code := codeRejected
	switch {
	case f.Code == "AA24", f.Code == "AA34":
		code = codeSignature
	case f.Code == "AA22", f.Code == "AA32":
		code = codeTime
	case f.Code == "AA31":
		code = codePaymasterLow
	case strings.HasPrefix(f.Code, "AA3"):
		code = codePaymaster
	}
	return jsonrpc.Errorf(code, "UserOperation reverted during simulation with reason: %s", f.Text)
}

// gasPrice suggests fees. There is no competition for a place, so all three speeds are the same.
func (b bundler) gasPrice(_ context.Context, p jsonrpc.Params) (any, error) {
	const tip = 1_000_000_000
	type fees struct {
		Most *hexutil.Big `json:"maxFeePerGas"`
		Tip  *hexutil.Big `json:"maxPriorityFeePerGas"`
	}
	most := new(big.Int).Lsh(b.Chain.Head().BaseFee, 1)
	f := fees{Tip: (*hexutil.Big)(big.NewInt(tip)), Most: (*hexutil.Big)(most.Add(most, big.NewInt(tip)))}
	return map[string]fees{"slow": f, "standard": f, "fast": f}, p.AtMost(0)
}

func invalidOp(err error) error {
	return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "invalid user operation: %w", err)
}
