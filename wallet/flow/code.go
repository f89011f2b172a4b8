package flow

import (
	"context"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
)

// codeTimeout bounds the question for code, which holds a review up; maxCode is how many addresses the service takes in
// one.
const (
	codeTimeout = 5 * time.Second
	maxCode     = 50
)

// code asks the service whether there is code where the calls go (TH-V7). What it does not answer, or not as it was
// asked, is left out: it is not known.
func (o *Operation) code(ctx context.Context) map[common.Address]bool {
	called := o.f.d.Policy.Called(o.in)
	if len(called) == 0 {
		return nil
	}
	asked, accounts := map[string]common.Address{}, []string(nil)
	for _, a := range called[:min(len(called), maxCode)] {
		account := caip.EVMAccount(o.in.ChainID(), a).String()
		asked[account], accounts = a, append(accounts, account)
	}
	ctx, cancel := context.WithTimeout(ctx, codeTimeout)
	defer cancel()
	answer, err := o.f.d.Client.Code(ctx, accounts...)
	if err != nil {
		return nil
	}
	has := map[common.Address]bool{}
	for _, x := range answer.Accounts {
		a, ok := asked[x.Account]
		there := x.Code == api.CodeContract || x.Code == api.CodeDelegated
		if ok && (there || x.Code == api.CodeNone) {
			before, again := has[a]
			has[a] = there && (before || !again)
		}
	}
	return has
}
