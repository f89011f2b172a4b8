package quote

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op/solmsg"
	"coffer/api/service/quote/smartaccount"
	"coffer/api/service/quotestore"
)

// payer are the accounts of a request: an EVM account, a Solana account, or both.
type payer struct {
	wire      []api.Account // as answers carry them
	evm       smartaccount.Account
	hasEVM    bool
	solana    solmsg.Key
	hasSolana bool
	place     string // path of the EVM account in the request
}

// form is the version of a request, with where its accounts are and how it is answered, and who makes it.
type form struct {
	v1     bool
	prefix string // of the place of the accounts, "" or "from."
	by     quotestore.Reader
}

// rename is a path of a v3 request without prefix, as it reads in this form.
func (f form) rename(path string) string {
	if f.v1 {
		path = strings.Replace(path, "accounts[0]", "account", 1)
	}
	return f.prefix + path
}

// relocate gives the failures of a validation error the paths of the request's form; other errors stay as they are.
func (f form) relocate(err error) error {
	var e *api.Error
	if !errors.As(err, &e) || e.Name != api.ErrValidation || len(e.Details) == 0 {
		return err
	}
	moved := slices.Clone(e.Details)
	for i := range moved {
		moved[i].Path = f.rename(moved[i].Path)
	}
	return api.NewValidationError(moved)
}

// open reads the accounts of a request. Every account that this network does not serve is a validation failure, and so
// is one of the service.
func (q *Quoter) open(f form, accounts []api.Account) (p payer, err error) {
	pins := q.Network.Pins
	p.wire = accounts
	if p.evm, p.hasEVM, err = smartaccount.EVM(pins, accounts); err != nil {
		return p, f.relocate(err)
	}
	if p.solana, p.hasSolana, err = smartaccount.Solana(accounts); err != nil {
		return p, f.relocate(err)
	}
	for i, a := range accounts {
		if a.IsEVM() {
			p.place = f.rename("accounts[" + strconv.Itoa(i) + "]")
		}
	}
	return p, q.checkPayer(p, f)
}

// fundNew gives test funds to accounts that never had any, and returns the time afterwards: what is quoted lives from
// then on, as accounts may have to queue for their funds.
func (q *Quoter) fundNew(ctx context.Context, accounts []api.Account) (now time.Time, err error) {
	if q.Fund != nil {
		err = q.Fund(ctx, accounts)
	}
	return q.Clock(), err
}

// needEVM is the refusal of a request whose calls nobody could make.
func (p payer) needEVM(f form) error {
	if p.hasEVM {
		return nil
	}
	return api.Invalid(f.rename("accounts"), "an EVM account", "none")
}

// refused turns what an account says about its state into the answer: an *smartaccount.Unserved becomes a validation
// failure at the account's place.
func (p payer) refused(err error) error {
	var unserved *smartaccount.Unserved
	if errors.As(err, &unserved) {
		return api.NewValidationError([]api.Failure{unserved.Failure(p.place)})
	}
	return err
}

// owner is the EVM account's address, zero without one.
func (p payer) owner() common.Address { return p.evm.Address }

// solanaOwner is the Solana account's address, "" without one.
func (p payer) solanaOwner() string {
	if !p.hasSolana {
		return ""
	}
	return p.solana.String()
}

// on is the account that holds assets of a chain; false when there is none.
func (p payer) on(c caip.Chain) (caip.Account, bool) {
	if id, evm := c.EVMID(); evm {
		return caip.EVMAccount(id, p.evm.Address), p.hasEVM
	}
	return caip.SolanaAccount(p.solana), p.hasSolana && c.IsSolana()
}
