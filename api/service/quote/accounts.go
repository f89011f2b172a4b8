package quote

import (
	"errors"
	"fmt"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/service/quote/account"
)

// openAccount finds the EVM account among the accounts of a request. Every account that this network does not serve is a validation failure.
func openAccount(pins network.Pins, accounts []api.Account) (account.Account, error) {
	var evm account.Account
	var failures []api.Failure
	for i, w := range accounts {
		a, err := account.Open(pins, w)
		var unserved *account.Unserved
		switch {
		case errors.As(err, &unserved):
			failures = append(failures, api.Failure{Path: fmt.Sprintf("accounts[%d].%s", i, unserved.Path), Expected: unserved.Want, Got: unserved.Got})
		case err != nil:
			failures = append(failures, api.Failure{Path: fmt.Sprintf("accounts[%d].accountAddress", i), Expected: "a 0x address", Got: w.AccountAddress})
		default:
			evm = a
		}
	}
	return evm, api.NewValidationError(failures)
}
