package adminrelay

import (
	"context"
	"strconv"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/service/chain"
	"coffer/api/service/quote/smartaccount"
)

// Code says what is at each of the addresses now: it answers GET /account/code. The accounts are on EVM chains of the
// network.
func (r *Relay) Code(ctx context.Context, accounts []caip.Account) (out api.CodeResponse, err error) {
	states := map[caip.Chain]chain.State{}
	defer func() {
		for _, st := range states {
			st.Close()
		}
	}()
	for _, a := range accounts {
		at, evm := a.EVM()
		if !evm {
			return out, api.Invalid("account", "an account on an EVM chain of this network", a.String())
		}
		st, err := r.view(ctx, states, a.Chain)
		if err != nil {
			return out, err
		}
		one := codeAt(st, at)
		one.Account = a.String()
		out.Accounts = append(out.Accounts, one)
	}
	for _, st := range states {
		if err := st.Err(); err != nil {
			return api.CodeResponse{}, err
		}
	}
	return out, nil
}

// view opens a chain once for all addresses on it.
func (r *Relay) view(ctx context.Context, open map[caip.Chain]chain.State, on caip.Chain) (chain.State, error) {
	if st := open[on]; st != nil {
		return st, nil
	}
	ch, err := r.Network.ChainOf(on)
	if err != nil {
		return nil, api.Invalid("account", "an account on an EVM chain of this network", on.String())
	}
	st, err := ch.State(ctx, uint64(r.Clock().Unix()))
	if err == nil {
		open[on] = st
	}
	return st, err
}

func codeAt(st chain.State, at common.Address) api.AccountCode {
	out := api.AccountCode{Code: api.CodeNone, Nonce: strconv.FormatUint(st.Nonce(at), 10)}
	code := st.Code(at)
	if to, ok := smartaccount.DelegateOf(code); ok {
		out.Code, out.Delegate = api.CodeDelegated, to.Hex()
	} else if len(code) > 0 {
		out.Code = api.CodeContract
	}
	return out
}
