package replay

import (
	"fmt"

	"coffer/api"
	"coffer/api/caip"
)

// account checks that an account of a recording has one of the interface's kinds and addresses that can be shown.
func account(a api.Account) error {
	switch a.Type {
	case api.AccountSolana:
		if _, err := caip.ParseAccount(caip.SolanaMainnet().String() + ":" + a.AccountAddress); err != nil {
			return fmt.Errorf("a Solana account: %w", err)
		}
		return nil
	case api.AccountRoleBased, api.AccountKernelV31, api.AccountKernelV33:
	default:
		return fmt.Errorf("the account type %q is not known", a.Type)
	}
	if a.DeploymentType != "" && a.DeploymentType != api.DeploymentERC4337 &&
		a.DeploymentType != api.DeploymentEIP7702 {
		return fmt.Errorf("the deployment type %q is not known", a.DeploymentType)
	}
	if _, err := caip.ParseAddress(a.AccountAddress); err != nil {
		return fmt.Errorf("an account: %w", err)
	}
	for _, s := range []string{a.SignerAddress, a.SessionAddress, a.AdminAddress} {
		if s == "" {
			continue
		}
		if _, err := caip.ParseAddress(s); err != nil {
			return fmt.Errorf("a key's address: %w", err)
		}
	}
	return nil
}
