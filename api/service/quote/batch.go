package quote

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/service/chain"
)

// batch tells the user's calls from the approvals around them. deposit is the chain of a funding operation, which has
// neither; else 0.
type batch struct {
	approvals, calls int
	deposit          uint64
}

// where names a call of the batch for a person and as a path of the request.
func (b batch) where(index int) (words, path string) {
	switch {
	case b.deposit != 0:
		return "the deposit on " + caip.EVM(b.deposit).String(), ""
	case index < 0:
		return "the calls", "calls"
	case index < b.approvals:
		return "the approval in front of call 0", "allowanceRequirements"
	case index < b.approvals+b.calls:
		i := strconv.Itoa(index - b.approvals)
		return "call " + i, "calls[" + i + "]"
	}
	return "the reset of an approval", "allowanceRequirements"
}

// allowance reads a requirement.
func (r *request) allowance(a api.AllowanceRequirement) (token, spender common.Address, want *big.Int, err error) {
	asset, err := caip.ParseAsset(a.AssetType)
	if err != nil {
		return token, spender, nil, err
	}
	token, _ = asset.Token()
	text, _ := api.SpenderOf(a, r.Calls)
	want, err = amount.ParseBase(a.Amount)
	return token, common.HexToAddress(text), want, err
}

// askAllowance is not asked in the account's name: a call counts as its sender's transaction, and an account with a
// nonce could not be deployed.
func askAllowance(q *Quoter, token, owner, spender common.Address) chain.Message {
	return chain.Message{From: q.Network.Pins.EntryPoint, To: token, Data: erc20.Allowance(owner, spender),
		Gas: 1_000_000}
}

// calls are the user's.
func (r *request) calls() (out []op.Call) {
	for _, c := range r.Calls {
		value, _ := api.ParseWei(c.Value)
		out = append(out, op.Call{To: common.HexToAddress(c.To), Value: value, Data: common.FromHex(c.Data)})
	}
	return out
}

// batch is the user's calls with the approvals around them (protocol §2.7).
func (q *Quoter) batch(st chain.State, r *request) (_ []op.Call, _ batch, err error) {
	defer chain.Faulty(st, &err)
	var before, after []op.Call
	for i, a := range r.AllowanceRequirements {
		token, spender, want, err := r.allowance(a)
		if err != nil {
			return nil, batch{}, err
		}
		res := st.Call(askAllowance(q, token, r.evm.Address, spender))
		now, ok := erc20.DecodeUint(res.Return)
		if res.Err != nil || !ok {
			return nil, batch{}, api.Invalid(fmt.Sprintf("allowanceRequirements[%d].assetType", i),
				"a token contract on the target chain", a.AssetType)
		}
		if want.Sign() > 0 && now.Cmp(want) >= 0 {
			continue
		}
		before = append(before, op.Call{To: token, Value: new(big.Int), Data: erc20.Approve(spender, want)})
		if want.Sign() > 0 {
			after = append(after, op.Call{To: token, Value: new(big.Int), Data: erc20.Approve(spender, new(big.Int))})
		}
	}
	calls := append(slices.Clone(before), r.calls()...)
	return append(calls, after...), batch{approvals: len(before), calls: len(r.Calls)}, nil
}

// balancesOf reads the account's balances of all known assets of a chain. Those of a view that overrides have not
// changed are told by the chain's nodes, where they can.
func (q *Quoter) balancesOf(st chain.State, owner common.Address, chainID uint64,
	overridden bool) (map[caip.Asset]*big.Int, error) {
	out := map[caip.Asset]*big.Int{}
	known := q.Network.Catalog.On(caip.EVM(chainID))
	able, tells := q.Network.Chains[chainID].(chain.Primer)
	if tells && !overridden {
		tokens := make([]common.Address, len(known))
		for i, e := range known {
			tokens[i], _ = e.Asset.Token()
		}
		told, err := able.Told(st, owner, tokens)
		if err != nil {
			return nil, err
		}
		for i, e := range known {
			out[e.Asset] = told[i]
			if told[i] == nil {
				return nil, fmt.Errorf("%s does not tell balances", e.Asset.Display())
			}
		}
		return out, nil
	}
	q.Network.PrimeBalances(st, owner, chainID)
	for _, e := range known {
		v, err := q.Network.BalanceAt(st, owner, e.Asset)
		if err != nil {
			return nil, err
		}
		out[e.Asset] = v
	}
	return out, nil
}

// spentSince tells what the view's calls took of an asset; what they brought in counts as nothing taken, and so does a
// token that they never met.
func (q *Quoter) spentSince(st chain.State, owner common.Address, chainID uint64,
	before map[caip.Asset]*big.Int) func(caip.Asset) (*big.Int, error) {
	able, tells := q.Network.Chains[chainID].(chain.Primer)
	return func(a caip.Asset) (*big.Int, error) {
		if token, is := a.Token(); is && tells && !able.Met(st, token) {
			return new(big.Int), nil
		}
		now, err := q.Network.BalanceAt(st, owner, a)
		if err != nil {
			return nil, err
		}
		return less(before[a], now), nil
	}
}
