package adminrelay

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/api/service/outbox"
)

// undelegateGas is the gas limit of a transaction that carries an authorization and does nothing else.
const undelegateGas = 150_000

// Undelegate answers POST /account/undelegate: it sends the authorization with which an EOA ends its delegation. Asked
// again it sends nothing, because the account is not delegated any more.
func (r *Relay) Undelegate(ctx context.Context, doc *api.Document) (*api.Document, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rules := api.Rules{Catalog: r.Network.Catalog, Now: r.Clock()}
	if err := api.NewValidationError(rules.Undelegate(doc)); err != nil {
		return nil, err
	}
	var w api.UndelegateRequest
	if err := doc.Decode(&w); err != nil {
		return nil, err
	}
	auth, err := op.EndFromWire(w.Authorization)
	if err != nil {
		return nil, api.Invalid("authorization", "a signed authorization of the zero address on one chain", err.Error())
	}
	on := caip.EVM(w.Authorization.ChainID)
	ch, err := r.Network.ChainOf(on)
	if err != nil {
		return nil, api.Invalid("authorization.chainId", "a chain of this network", on.String())
	}
	account := common.HexToAddress(w.Account)
	if by, err := auth.Authority(); err != nil || by != account {
		return nil, api.Invalid("authorization", "the signature of "+account.Hex()+" over this authorization",
			"a signature that is not")
	}
	// one after the other: of two at the same time the second one finds no delegation
	r.undelegating.Lock()
	defer r.undelegating.Unlock()
	// An operation of the account may come between the look and the chain and use the nonce up. Then nothing has ended,
	// and the second look tells what is true now.
	for range 2 {
		sent, ended, err := r.endOn(ctx, ch, account, auth)
		if errors.Is(err, chain.ErrNotAccepted) || err == nil && !ended {
			continue
		}
		if err != nil {
			return nil, err
		}
		var out api.UndelegateResponse
		if sent != (common.Hash{}) {
			out.Transaction = &api.OperationRef{Hash: sent.Hex(), Chain: on.String(),
				ExplorerURL: r.ExplorerBase() + "/explorer/" + on.String() + "/tx/" + sent.Hex()}
		}
		return api.Encode(out)
	}
	return nil, api.NewError(api.ErrSimulationFailed,
		"The chain took the authorization each time without effect; read the account's nonce and sign again")
}

// endOn sends an authorization, unless the account is not delegated, and reports whether it is so afterwards.
func (r *Relay) endOn(ctx context.Context, ch chain.Chain, account common.Address,
	auth op.SignedAuthorization) (sent common.Hash, ended bool, err error) {
	now := uint64(r.Clock().Unix())
	if needed, err := r.ends(ctx, ch, account, auth, now); err != nil || !needed {
		return sent, err == nil, err
	}
	tx := chain.Tx{From: r.Operator, To: account, Gas: undelegateGas,
		Authorizations: []op.SignedAuthorization{auth}}
	sent, err = r.send(ctx, ch, account, outbox.EVMStep{
		ID: fmt.Sprintf("undelegate %x%x", auth.R, auth.S), Time: now, Txs: []chain.Tx{tx}, Check: chain.AllSucceed,
	})
	if errors.Is(err, context.DeadlineExceeded) && sent != (common.Hash{}) {
		return sent, true, nil // it is on its way: what is at the account tells when it has arrived
	}
	if err != nil {
		return sent, false, err
	}
	st, err := ch.State(ctx, now)
	if err != nil {
		return sent, false, err
	}
	defer st.Close()
	return sent, codeAt(st, account).Code == api.CodeNone, st.Err()
}

// ends says in plain words what the chain would skip, and reports whether there is a delegation to end.
func (r *Relay) ends(ctx context.Context, ch chain.Chain, account common.Address, auth op.SignedAuthorization,
	now uint64) (needed bool, err error) {
	st, err := ch.State(ctx, now)
	if err != nil {
		return false, err
	}
	defer st.Close()
	switch is := codeAt(st, account); {
	case st.Err() != nil:
		return false, st.Err()
	case is.Code == api.CodeNone:
		return false, nil
	case is.Code == api.CodeContract:
		return false, api.Invalid("account", "an EOA with a delegation", "a contract at "+account.Hex())
	case is.Nonce != strconv.FormatUint(auth.Nonce, 10):
		return false, api.Invalid("authorization.nonce", "the account's nonce on "+caip.EVM(ch.ID()).String()+", "+
			is.Nonce, strconv.FormatUint(auth.Nonce, 10))
	}
	return true, nil
}
