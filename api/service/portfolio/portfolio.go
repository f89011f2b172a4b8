// Package portfolio answers what an account is and has: predicted addresses, the lists of chains and assets, balances
// over all chains, and the test funds that an address gets when it is first named.
//
// Promise: a balance is read at the head of its chain, never cached; amounts are scaled to the aggregate's decimals
// before they are added; fiat values are micro-USD with six decimals, and an unknown price is null, never zero. Every
// asked id and every entity of it is listed, zero included, in the order asked (protocol §7).
//
// Units: base units as decimal strings, USD as JSON numbers. Errors are *api.Error for what the sender can mend, plain
// errors for what only the operator can. Sources: docs/interface.md#decisions, protocol §5.4 and §7.
package portfolio

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op/solmsg"
	"coffer/api/service/deployment"
	"coffer/api/service/quote/smartaccount"
)

// Faucet gives test funds to an account that is named, if it deserves them (protocol §5.4).
type Faucet interface {
	Consider(context.Context, common.Address) error
	ConsiderSolana(context.Context, solmsg.Key) error
}

// Prices is the price source; *price.Table is one. Prices are micro-USD per whole unit, false means unknown.
type Prices interface {
	Price(id caip.AggregateID, at time.Time) (*big.Int, bool)
}

// Deps are what the use cases need. A nil Faucet pays no test funds.
type Deps struct {
	Network *deployment.Network
	Prices  Prices
	Faucet  Faucet
	Clock   func() time.Time
}

// Portfolio holds the use cases. It is safe for concurrent use.
type Portfolio struct{ Deps }

// New makes the use cases.
func New(d Deps) *Portfolio {
	if d.Faucet == nil {
		d.Faucet = none{}
	}
	return &Portfolio{d}
}

// none is the faucet of a network without test funds.
type none struct{}

func (none) Consider(context.Context, common.Address) error { return nil }

func (none) ConsiderSolana(context.Context, solmsg.Key) error { return nil }

// PredictAddress answers POST /account/predict-address for a document that passed api.Rules.Predict: the address that
// the account will have on every chain, with this installation's co-signer for a role-based one (protocol §8.4). Keys
// that no other request would accept are refused here, too: what is sent to such an address is stuck. The address gets
// test funds.
func (p *Portfolio) PredictAddress(ctx context.Context, doc *api.Document) (out api.PredictResponse, err error) {
	if err := api.NewValidationError(api.Rules{Catalog: p.Network.Catalog}.Predict(doc)); err != nil {
		return out, err
	}
	var req api.PredictRequest
	if err := doc.Decode(&req); err != nil {
		return out, err
	}
	predicted, err := smartaccount.Predict(p.Network.Pins, api.Account{
		Type: req.Type, SignerAddress: req.SignerAddress, SessionAddress: req.SessionAddress,
		AdminAddress: req.AdminAddress,
	})
	var unserved *smartaccount.Unserved
	if errors.As(err, &unserved) {
		return out, api.NewValidationError([]api.Failure{unserved.Failure("")})
	}
	if err != nil {
		return out, err
	}
	if err := p.Faucet.Consider(ctx, predicted); err != nil {
		return out, err
	}
	return api.PredictResponse{PredictedAddress: predicted.Hex()}, nil
}

// Chains answers GET /chains/supported-list: the EVM chains in ascending order of their ids.
func (p *Portfolio) Chains() []api.SupportedChain {
	out := []api.SupportedChain{}
	for _, c := range p.Network.Catalog.Chains() {
		out = append(out, api.SupportedChain{
			Chain: api.ChainRef{Chain: c.Chain.String(), Namespace: c.Chain.Namespace, Reference: c.Chain.Reference},
		})
	}
	return out
}

// Assets answers GET /assets/list: every aggregated asset with its entities, those on Solana among them (protocol §7).
// ERC-20 references are in EIP-55 form.
func (p *Portfolio) Assets() []api.AggregatedAsset {
	out := []api.AggregatedAsset{}
	for _, a := range p.Network.Catalog.Aggregates() {
		item := api.AggregatedAsset{
			AggregatedAssetID: a.ID.String(), Symbol: a.Symbol, Name: a.Name, Decimals: a.Decimals,
			AggregatedEntities: []api.AggregatedEntity{},
		}
		for _, e := range a.Entities {
			item.AggregatedEntities = append(item.AggregatedEntities, api.AggregatedEntity{
				AssetType: e.Asset.Display(), Decimals: e.Decimals, Name: e.Name, Symbol: e.Symbol,
			})
		}
		out = append(out, item)
	}
	return out
}

// FundAccounts gives test funds to the accounts that a request names, each by its account address and never by its
// signer (protocol §5.4).
func (p *Portfolio) FundAccounts(ctx context.Context, accounts []api.Account) error {
	for _, a := range accounts {
		if !a.IsEVM() {
			owner, err := solmsg.ParseKey(a.AccountAddress)
			if err != nil {
				return fmt.Errorf("account address: %w", err)
			}
			if err := p.Faucet.ConsiderSolana(ctx, owner); err != nil {
				return err
			}
			continue
		}
		at, err := caip.ParseAddress(a.AccountAddress)
		if err != nil {
			return fmt.Errorf("account address: %w", err)
		}
		if err := p.Faucet.Consider(ctx, at); err != nil {
			return err
		}
	}
	return nil
}
