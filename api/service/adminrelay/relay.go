// Package adminrelay puts on chain what the admin of a role-based account signed: rotating the session key, announcing
// or cancelling an exit, and, after an exit's delay, the admin's own operations; and the end of a delegation, which the
// EOA signed. It also tells the roles of an account and what is at an address. Anybody else could submit the same; the
// operator does it so that the signer needs no coins.
//
// Promise: nothing is believed that came with a request. The account object, the admin's nonce and signature and the
// operation are checked against the chain before a transaction is made. A message is one step of the outbox with one
// transaction, or two when the account has to be deployed first: all of it happens or nothing. On own nodes those are
// two steps, one after the other, and an answer does not wait for longer than a block takes. It goes out only if every
// transaction, and the operation in it, would succeed. One message of an account wins; a second one with its nonce is
// told which nonce is next.
//
// Errors are *api.Error: a validation error that names member, expectation and what was found, or SimulationFailed
// (422) when the entry point refuses an operation or its calls fail. Anything else is a fault of the service. Nonces
// are decimal strings, times Unix seconds. Sources: assets/contracts/RoleBasedECDSAValidator.sol, protocol §5.3.
package adminrelay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/api/service/deployment"
	"coffer/api/service/outbox"
	"coffer/api/service/quote/entrypoint"
	"coffer/api/service/quote/smartaccount"
	"coffer/api/service/signers"
)

// Deps is what a Relay stands on. Fund gives an account its test funds before its first message: deployed, it would no
// longer be new (protocol §5.4). ExplorerBase is the URL in front of /explorer/{chain}/tx/{hash}. Fund and Log may be
// nil.
type Deps struct {
	Network      *deployment.Network
	Operator     signers.EVM
	Fund         func(context.Context, []api.Account) error
	Sponsor      Sponsor
	Clock        func() time.Time
	ExplorerBase func() string
	Log          *slog.Logger
	Codec        *entrypoint.Codec // shared with other use cases; nil makes one
}

// Sponsor bounds what the operator pays for an account on own nodes. It refuses with an *api.Error, or returns what is
// committed with the transaction. Nil bounds nothing.
type Sponsor func(ctx context.Context, account common.Address, what string) (outbox.Change, error)

// Relay answers GET /account/code, GET /account/roles, POST /account/relay and POST /account/undelegate. It is safe for
// concurrent use.
type Relay struct {
	Deps
	undelegating sync.Mutex // from looking at an account until its delegation has ended
}

// New makes a Relay.
func New(d Deps) *Relay {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	d.Codec = cmp.Or(d.Codec, entrypoint.New(d.Network.Pins.EntryPoint, d.Network.Pins.Escrow))
	return &Relay{Deps: d}
}

// Roles reads the roles of a role-based account on one chain. An address without code may still become one, so the
// answer then says that it is not deployed; an address with other code is a validation error.
func (r *Relay) Roles(ctx context.Context, on caip.Chain, at common.Address) (out api.RolesResponse, err error) {
	if err := ctx.Err(); err != nil {
		return out, err
	}
	ch, err := r.Network.ChainOf(on)
	if err != nil {
		return out, api.Invalid("account", "an account on an EVM chain of this network", on.String())
	}
	st, err := ch.State(ctx, uint64(r.Clock().Unix()))
	if err != nil {
		return out, err
	}
	defer st.Close()
	pins := r.Network.Pins
	roles, err := smartaccount.ReadRoles(st, pins, at)
	if err != nil {
		return out, err
	}
	if !roles.Deployed && len(st.Code(at)) > 0 {
		return out, api.Invalid("account", "a role-based account of this network", at.Hex())
	}
	nonce, err := r.Network.AccountNonceAt(st, at,
		op.Nonce{Validator: pins.RoleBasedValidator, Key: op.LanePrepared}.Key192())
	if err != nil {
		return out, err
	}
	out = api.RolesResponse{AdminNonce: "0", OperationNonce: nonce.String()}
	if roles.Deployed {
		out.Deployed, out.AdminNonce, out.ExitAvailableAt = true, roles.AdminNonce.String(), roles.ExitAvailableAt
		out.SessionAddress, out.AdminAddress, out.CoSigner = roles.Session.Hex(), roles.Admin.Hex(),
			roles.CoSigner.Hex()
	}
	return out, st.Err()
}

// Relay answers POST /account/relay.
func (r *Relay) Relay(ctx context.Context, doc *api.Document) (*api.Document, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rules := api.Rules{Catalog: r.Network.Catalog, Now: r.Clock()}
	if err := api.NewValidationError(rules.Relay(doc)); err != nil {
		return nil, err
	}
	var w api.RelayRequest
	if err := doc.Decode(&w); err != nil {
		return nil, err
	}
	q, err := r.read(w)
	if err != nil {
		return nil, err
	}
	if r.Fund != nil {
		if err := r.Fund(ctx, []api.Account{w.Account}); err != nil {
			return nil, err
		}
	}
	// Another message or settlement may come between the look and the chain. Then nothing has changed, and the second
	// look tells what is true now.
	for range 2 {
		hash, err := r.attempt(ctx, q)
		if errors.Is(err, errMade) {
			hash, err = r.attempt(ctx, q)
		}
		if errors.Is(err, chain.ErrNotAccepted) {
			r.Log.Info("a relayed message was overtaken and is checked again", "account", q.account.Address.Hex(),
				"error", err)
			continue
		}
		if err != nil {
			return nil, err
		}
		return api.Encode(api.RelayResponse{OperationRef: api.OperationRef{
			Hash: hash.Hex(), Chain: q.chain.String(), ExplorerURL: r.ExplorerBase() + "/explorer/" + q.chain.String() +
				"/tx/" + hash.Hex(),
		}})
	}
	return nil, api.NewError(api.ErrSimulationFailed,
		"The chain refused the message each time it was tried; read the account's roles and sign again")
}

// request is a relay request whose form is right.
type request struct {
	account   smartaccount.Account
	chain     caip.Chain
	on        chain.Chain
	action    string
	message   op.AdminMessage // all actions but operate
	signature []byte
	userOp    op.UserOp // operate
}

// attempt looks at the chain, checks the request against it and sends what it asks for, all with one time.
func (r *Relay) attempt(ctx context.Context, q request) (common.Hash, error) {
	now := uint64(r.Clock().Unix())
	txs, accept, err := r.plan(ctx, q, now)
	if err != nil {
		return common.Hash{}, err
	}
	on := q.account.Address
	if len(txs) > 1 && r.Network.OnOwnNodes() { // a step there is one transaction
		_, err := r.send(ctx, q.on, on, outbox.EVMStep{ID: "deploy " + on.Hex(), Time: now, Txs: txs[:1],
			Check: chain.AllSucceed})
		if errors.Is(err, context.DeadlineExceeded) {
			err = api.NewError(api.ErrNoRoute, "The account is being made on %s first, which takes longer than usual: "+
				"send the same message again in a minute", q.chain)
		}
		if err == nil {
			err = errMade
		}
		return common.Hash{}, err
	}
	hash, err := r.send(ctx, q.on, on, outbox.EVMStep{
		ID:   fmt.Sprintf("relay %x%x", q.signature, q.userOp.Signature),
		Time: now, Txs: txs, Check: accept,
	})
	if errors.Is(err, context.DeadlineExceeded) && hash != (common.Hash{}) {
		err = nil // it is on its way: the account's roles tell when it has arrived
	}
	return hash, err
}

// errMade says that the account was made, and the message is still to be sent.
var errMade = fmt.Errorf("%w: the account was made", chain.ErrNotAccepted)

// within is how long an answer waits for a block.
const within = 20 * time.Second

// send has the operator's transactions put into a block, for an account that it still pays for.
func (r *Relay) send(ctx context.Context, on chain.Chain, account common.Address,
	s outbox.EVMStep) (common.Hash, error) {
	if r.Sponsor != nil {
		pays, err := r.Sponsor(ctx, account, s.ID)
		if err != nil {
			return common.Hash{}, err
		}
		s.Sent = pays
	}
	if r.Network.OnOwnNodes() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, within)
		defer cancel()
	}
	hash, err := outbox.DoSoon(ctx, r.Network.Outbox.EVM(on.ID()), s, on)
	if errors.Is(err, context.DeadlineExceeded) && hash == (common.Hash{}) {
		err = api.NewError(api.ErrNoRoute, "The operator cannot send on %s at this moment: %v", caip.EVM(on.ID()), err)
	}
	return hash, err
}

// plan checks the request in a view of the chain, which it closes, and returns the transactions of the block and who
// judges their receipts.
func (r *Relay) plan(ctx context.Context, q request, now uint64) (txs []chain.Tx, accept func([]chain.Receipt) error,
	err error) {
	st, err := q.on.State(ctx, now)
	if err != nil {
		return nil, nil, err
	}
	defer st.Close()
	roles, deployed, err := r.roles(q, st)
	if err != nil {
		return nil, nil, err
	}
	if q.action == api.AdminOperate {
		tx, err := r.operation(q, st, roles, now)
		return []chain.Tx{tx}, r.ran, err
	}
	if err := checkMessage(q, roles, op.RoleBasedDomain(q.on.ID(), r.Network.Pins.RoleBasedValidator)); err != nil {
		return nil, nil, err
	}
	if !deployed {
		factory, data, _ := q.account.Deployment()
		txs = append(txs, chain.Tx{From: r.Operator, To: factory, Data: data, Gas: deployGas})
	}
	data, err := q.message.Call(q.signature)
	if err != nil {
		return nil, nil, err
	}
	return append(txs, chain.Tx{From: r.Operator, To: r.Network.Pins.RoleBasedValidator,
		Data: data, Gas: messageGas}), chain.AllSucceed, nil
}

// Gas limits of the operator's transactions; both are several times what they need.
const (
	deployGas  = 2_000_000
	messageGas = 500_000
)

// roles are the account's roles now, or those that deploying it will give.
func (r *Relay) roles(q request, st chain.State) (roles smartaccount.Roles, deployed bool, err error) {
	pins := r.Network.Pins
	if roles, err = smartaccount.ReadRoles(st, pins, q.account.Address); err != nil || roles.Deployed {
		return roles, true, err
	}
	if len(st.Code(q.account.Address)) > 0 {
		return roles, false, api.Invalid("account.accountAddress", "a role-based account of this network",
			q.account.Address.Hex())
	}
	if _, _, needed := q.account.Deployment(); !needed {
		return roles, false, api.Invalid("account.accountAddress",
			"the account of these keys, as it is not deployed on "+q.chain.String()+" yet", q.account.Address.Hex())
	}
	w := q.account.Wire()
	return smartaccount.Roles{
		Session: common.HexToAddress(w.SessionAddress), Admin: common.HexToAddress(w.AdminAddress),
		CoSigner: pins.CoSigner, AdminNonce: new(big.Int),
	}, false, st.Err()
}

// checkMessage says in plain words what the contract would refuse.
func checkMessage(q request, roles smartaccount.Roles, d op.Domain) error {
	m := q.message
	if m.Nonce.Cmp(roles.AdminNonce) != 0 {
		return api.Invalid("nonce", "the account's next admin nonce on "+q.chain.String()+", "+
			roles.AdminNonce.String(),
			m.Nonce.String())
	}
	digest, err := m.Digest(d)
	if err != nil {
		return err
	}
	if by, err := op.Recover(digest, q.signature); err != nil || by != roles.Admin {
		return api.Invalid("signature", "the signature of the account's admin, "+roles.Admin.Hex()+
			", over this message",
			"a signature that is not")
	}
	switch {
	case m.Action == api.AdminAnnounceExit && roles.ExitAvailableAt != 0:
		return api.Invalid("action", "an account whose exit is not announced yet",
			"an exit announced, open from "+moment(roles.ExitAvailableAt))
	case m.Action == api.AdminRotateSession && (m.NewSession == roles.Admin || m.NewSession == roles.CoSigner):
		return api.Invalid("newSession", "a key that is neither the account's admin nor its co-signer",
			m.NewSession.Hex())
	}
	return nil
}

// moment writes Unix seconds for a person.
func moment(at uint64) string { return time.Unix(int64(at), 0).UTC().Format(time.RFC3339) }
